"""Servers beside the demo, for pages that it does not show: one that asks to sign in, one whose agent will stop."""

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import urllib3

from examples.rig.processes import ManagedProcess, free_port, wait_until

LOADWATCH = Path(sys.executable).with_name("loadwatch")
START_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Addresses.

    Attributes:
        setup: the one-time link of a server without users; its other pages ask to sign in.
        quiet: a server with samples of one agent.
        agent: that agent's process id: without it nothing comes any more.
    """

    setup: str
    quiet: str
    agent: int


@contextmanager
def servers_beside(folder: Path) -> Generator[Beside]:
    """Both servers, until the end of the block."""
    guarded, quiet = (f"127.0.0.1:{free_port()}" for _ in range(2))
    config = folder / "loadwatch.yml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"server: {{url: 'http://{quiet}'}}\ntargets:\n  - job: host\n    host: {{}}\n", encoding="utf-8")
    with (
        _server(guarded, folder / "guarded", {"LOADWATCH_ACCESS": "users"}) as first,
        _server(quiet, folder / "quiet", {}) as second,
    ):
        for address, server in ((guarded, first), (quiet, second)):
            _wait_for(f"http://{address}/-/ready", server)
        found = re.search(r"/setup#[\w-]+", first.log.read_text("utf-8"))
        assert found is not None, first.last_lines()
        command = [LOADWATCH, "agent", "--config", config]
        environment = {"LOADWATCH_DATA": str(folder / "agent")}
        with ManagedProcess("agent", command, log=folder / "agent.log", environment=environment) as agent:
            status = f"http://{quiet}/api/status"
            wait_until(status, lambda: _newest(status) is not None, seconds=START_SECONDS, process=agent)
            yield Beside(setup=f"http://{guarded}{found[0]}", quiet=f"http://{quiet}", agent=agent.pid)


def _server(address: str, data: Path, environment: dict[str, str]) -> ManagedProcess:
    told = {**environment, "LOADWATCH_DATA": str(data), "LOADWATCH_LISTEN": address, "LOADWATCH_DEFAULT_RULES": "false"}
    return ManagedProcess("server", [LOADWATCH, "server"], log=data.with_suffix(".log"), environment=told)


def _wait_for(url: str, server: ManagedProcess) -> None:
    def ready() -> bool:
        try:
            return urllib3.request("GET", url, retries=False).status == 200
        except urllib3.exceptions.HTTPError:
            return False

    wait_until(url, ready, seconds=START_SECONDS, process=server)


def _newest(status: str) -> int | None:
    return urllib3.request("GET", status).json()["newest_sample_ms"]
