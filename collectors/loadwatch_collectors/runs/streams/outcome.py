"""Sorts a request's end into one outcome by its status and the tool's error text."""

import re

_KINDS: tuple[tuple[str, "re.Pattern[str]"], ...] = (
    ("dns", re.compile(r"no such host|unknownhost|name or service not known|name resolution|getaddrinfo|dns", re.I)),
    ("refused", re.compile(r"connection refused|connectexception.*refused|actively refused", re.I)),
    ("timeout", re.compile(r"deadline exceeded|time[d ]*-?out|timeout", re.I)),
    (
        "reset",
        re.compile(r"connection reset|reset by peer|broken pipe|\bEOF\b|prematurely closed|remotedisconnected", re.I),
    ),
)
_STATUS = re.compile(r"(?:found|actually|status(?: code)?:?) (\d{3})\b", re.I)


def outcome_of_status(status: int) -> str:
    """`ok` for 1xx to 3xx, `http_4xx`, `http_5xx`, otherwise `other`."""
    if 100 <= status < 400:
        return "ok"
    if 400 <= status < 500:
        return "http_4xx"
    if 500 <= status < 600:
        return "http_5xx"
    return "other"


def outcome_of_error(text: str) -> str:
    """How a request ended that got no answer, by the tool's words."""
    for outcome, pattern in _KINDS:
        if pattern.search(text):
            return outcome
    return "other"


def outcome_of_message(text: str) -> str:
    """As `outcome_of_error`, for tools that tell an answer's status only in a message such as `found 503`."""
    found = _STATUS.search(text)
    if found:
        outcome = outcome_of_status(int(found[1]))
        return "assertion" if outcome in ("ok", "other") else outcome
    return outcome_of_error(text)
