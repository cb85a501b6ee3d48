"""By what Loadwatch's own traffic is known: what it sends to a system is no load of that system's users."""

import re

NAME = "loadwatch"
"""Of its sessions (`program_name` in MySQL, `application_name` in PostgreSQL), and in place of a statement's digest."""
AGENT = f"{NAME}-agent"
"""As `User-Agent` of what the agent asks."""
COMMENT = f"/* {NAME} */"
"""Behind each statement; logs and PostgreSQL keep it, digests of MySQL do not."""
MARKER = f"{NAME}-probe-"
"""Begins the mark of a request that is followed into the database."""

_REQUEST = re.compile(rf"\b{NAME}-(?:agent|connect|probe|timeouts?)\b|\"{NAME}(?:/[^\"]*)?\"")


def without_own_requests(lines: str) -> str:
    """Lines of an access log without those of own requests, known by User-Agent and by the mark in the query."""
    if NAME not in lines:
        return lines
    return "".join(line for line in lines.splitlines(keepends=True) if NAME not in line or not _REQUEST.search(line))
