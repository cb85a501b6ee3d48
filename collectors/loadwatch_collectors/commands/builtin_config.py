"""The configuration that is used without a file: this host, and Loadwatch's own server if it runs here."""

import json
import os
from pathlib import Path

from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.process.search import ProcessSettings, find_pids

BUILTIN_NAME = "(built-in configuration)"
SERVER_COMMAND = r"^(\S*/)?(python[\d.]* )?(\S*/)?loadwatch server( |$)"
"""The server's command line; `loadwatch up` runs its server as such a process too."""


def make_builtin_config(proc: Path = Path("/proc")) -> str:
    """The text of the built-in loadwatch.yml.

    `loadwatch up` names its server by LOADWATCH_LISTEN: the command line would find a second server of the host, too.
    """
    lines = ["targets:", "  - job: host", "    host: {}", "    sockets: {}"]
    if is_server_running(proc):
        port = os.environ.get("LOADWATCH_LISTEN", "").rpartition(":")[2]
        search = f"port: {port}" if port.isdecimal() and port != "0" else f"command: {json.dumps(SERVER_COMMAND)}"
        lines += ["  - job: loadwatch-server", f"    process: {{{search}}}"]
    return "\n".join(lines) + "\n"


def is_server_running(proc: Path) -> bool:
    """Whether a Loadwatch server runs on this host."""
    try:
        return bool(find_pids(ProcessSettings(command=SERVER_COMMAND, proc=str(proc))))
    except CollectorError:
        return False
