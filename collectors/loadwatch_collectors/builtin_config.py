"""The configuration that is used without a file: this host, and Loadwatch's own server if it runs here."""

import json
import re
from pathlib import Path

from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.procfs import read_bytes

BUILTIN_NAME = "(built-in configuration)"
_SERVER = re.compile(rb"(?:[^\0]*/)?(?:python[0-9.]*\0(?:[^\0]*/)?)?loadwatch\0(?:server|up)\0")


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
        if _SERVER.match(command):
            return int(folder.name)
    return None
