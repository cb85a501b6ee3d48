"""The configuration that is used without a file: this host, and Loadwatch's own server if it runs here."""

import json
from pathlib import Path

from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.procfs import read_bytes

BUILTIN_NAME = "(built-in configuration)"
_SERVER_MARKS = (b"loadwatch\0server", b"loadwatch\0up", b"loadwatch_backend")


def make_builtin_config(proc: Path = Path("/proc")) -> str:
    """The text of the built-in loadwatch.yml."""
    lines = ["targets:", "  - job: host", "    host: {}", "    sockets: {}"]
    pid = find_server(proc)
    if pid is not None:
        lines += ["  - job: loadwatch-server", f"    process: {{pid: {json.dumps(pid)}}}"]
    return "\n".join(lines) + "\n"


def find_server(proc: Path) -> int | None:
    """The process of a Loadwatch server on this host, if there is one."""
    for folder in sorted(proc.glob("[0-9]*")):
        try:
            command = read_bytes(folder / "cmdline")
        except CollectorError:
            continue
        if any(mark in command for mark in _SERVER_MARKS):
            return int(folder.name)
    return None
