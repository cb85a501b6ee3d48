"""The command `loadwatch up`: a server and an agent as its children.

It waits for both and does nothing else, so it does not load what a server does: that took 105 MB, and a second of CPU
before the server's own start began.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import click
import urllib3
from loadwatch_formats.terminal import echo

from loadwatch_backend.access.credentials import new_secret, setup_link
from loadwatch_backend.access.modes import access_of
from loadwatch_backend.access.principal import Access
from loadwatch_backend.app.commands import start
from loadwatch_backend.core.addresses import ListenAddress
from loadwatch_backend.core.deferred import Deferred
from loadwatch_backend.core.processes import (
    CONTROL_VARIABLE,
    AgentKeeper,
    AgentState,
    Child,
    StopRequest,
    first_ending,
    start_child,
    stop_child,
    wait_for_ending,
)
from loadwatch_backend.core.settings import Settings
from loadwatch_backend.core.version import VERSION

access_commands = Deferred("loadwatch_backend.app.commands.access")
"""Only a server on which somebody has to sign in gives its agent a token."""

READY_SECONDS = 180.0
"""A first start takes seconds; on a host that is busy with a load test it may take a minute and more."""
EXIT_OTHER_AGENT = 4
"""Of `loadwatch agent` where another agent of this host sends to the server already."""
WRITE_PATH = "/prometheus/api/v1/write"
CONFIG_NAME = "loadwatch.yml"
"""Of the data directory: the agent's file where `loadwatch up` was given none."""


def own_command(*arguments: str) -> list[str]:
    return [sys.executable, sys.argv[0], *arguments]


@dataclass(kw_only=True)
class OwnAgent:
    arguments: Callable[[Path | None], Sequence[str]]
    config: Path
    environment: Mapping[str, str]
    children: list[Child] = field(default_factory=list[Child])

    def start(self) -> None:
        arguments = self.arguments(self.config if self.config.exists() else None)
        self.children.append(start_child("the agent", own_command("agent", *arguments), self.environment))

    def restart(self) -> None:
        """Start it anew, unless another agent of this host has displaced it."""
        if not self._is_running():
            return
        if (remark := stop_child(self.children.pop())) is not None:
            echo(remark, err=True)
        self.start()

    def state(self) -> AgentState:
        return AgentState(command=tuple(own_command()), config=self.config, running=self._is_running())

    def _is_running(self) -> bool:
        return len(self.children) > 1 and self.children[-1].ending() is None


@click.command()
@start.listen_option
@start.data_option
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The agent's loadwatch.yml. Without it: loadwatch.yml of the data directory, which the page Connect begins; "
    "while that is not there, the agent watches this host.",
)
@click.option(
    "--agent-token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File with the agent's token. Without it the agent is given one where the server asks for it.",
)
def up(listen: str | None, data: Path | None, config: Path | None, agent_token_file: Path | None) -> None:
    """Start a server and an agent that watches this host; Ctrl-C stops both."""
    settings = start.settings_of(listen=listen, data=data)
    start.check_access(settings)
    address = _with_port(settings.listen)
    environment = {**os.environ, "LOADWATCH_LISTEN": str(address), "LOADWATCH_DATA": str(settings.data)}
    setup_secret = None
    if access_of(settings) is not Access.OPEN:
        agent_token_file = agent_token_file or access_commands.make_agent_token(settings.data)
        setup_secret = environment[start.SETUP_VARIABLE] = new_secret()
    stop = StopRequest()
    stop.install()
    own = OwnAgent(
        arguments=lambda path: _agent_arguments(settings, address, path, agent_token_file),
        config=(config or settings.data / CONFIG_NAME).resolve(),
        environment=environment,
    )
    keeper = AgentKeeper(own.state, own.restart)
    server_environment = {**environment, CONTROL_VARIABLE: str(keeper.given.fileno())}
    children = own.children
    children.append(start_child("the server", own_command("server"), server_environment, [keeper.given.fileno()]))
    keeper.given.close()
    try:
        reason = wait_ready(address, children, stop)
        if reason is None and not stop.asked:
            own.start()
            echo(_banner(address, settings, setup_secret), err=True)
            reason = wait_for_ending(children, stop, keeper.pause)
            if config is None and children[-1].process.poll() == EXIT_OTHER_AGENT:
                children.pop()
                echo("Loadwatch goes on without an agent of its own: this host has one, named above.", err=True)
                reason = wait_for_ending(children, stop, keeper.pause)
    finally:
        keeper.close()
        for child in reversed(children):
            if (remark := stop_child(child)) is not None:
                echo(remark, err=True)
    if reason is not None:
        raise start.StartError(f"{reason}; its own message stands above. Everything else was stopped.")
    echo("Loadwatch has stopped.", err=True)


def _with_port(address: ListenAddress) -> ListenAddress:
    """The address with a free port in the place of port 0, so that the agent can be told."""
    if address.port:
        return address
    with start.bind(address) as bound:
        return ListenAddress(host=address.host, port=bound.getsockname()[1])


def _agent_arguments(
    settings: Settings, address: ListenAddress, config: Path | None, token_file: Path | None
) -> Sequence[str]:
    arguments = ["--server", address.url + WRITE_PATH, "--spool", str(settings.data / "spool")]
    if config is not None:
        arguments += ["--config", str(config)]
    if token_file is not None:
        arguments += ["--token-file", str(token_file)]
    return arguments


def _is_without_users(address: ListenAddress) -> bool:
    with urllib3.PoolManager(retries=False, timeout=5.0) as http:
        try:
            session: Any = http.request("GET", f"{address.url}/api/session").json()
        except (urllib3.exceptions.HTTPError, ValueError):
            return False
    return isinstance(session, dict) and cast("dict[str, Any]", session).get("setup") is True


def wait_ready(address: ListenAddress, children: Sequence[Child], stop: StopRequest) -> str | None:
    with urllib3.PoolManager(retries=False, timeout=2.0) as http:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and not stop.asked:
            ending = first_ending(children)
            if ending is not None:
                return ending
            try:
                if http.request("GET", f"{address.url}/-/ready").status == 200:
                    return None
            except urllib3.exceptions.HTTPError:
                pass  # not listening yet
            time.sleep(0.1)
    return None if stop.asked else f"the server was not ready within {READY_SECONDS:g} s"


def _banner(address: ListenAddress, settings: Settings, setup_secret: str | None) -> str:
    first = [f"  Loadwatch {VERSION} is up. Open  {address.url}"]
    if setup_secret is not None and _is_without_users(address):
        link = setup_link(settings.external_url or address.url, setup_secret)
        first = [
            f"  Loadwatch {VERSION} is up, and has no administrator yet. Make the first administrator:",
            f"  {link}",
        ]
    return "\n".join(
        [
            "",
            *first,
            "",
            f"  Remote write   {address.url}{WRITE_PATH}",
            f"  Grafana        {address.url}/prometheus  (as a Prometheus data source)",
            f"  Data           {settings.data.resolve()}",
            "  Stop           Ctrl-C",
            "",
        ]
    )
