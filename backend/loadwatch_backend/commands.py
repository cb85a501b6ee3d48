"""The server's commands: `loadwatch server`, `loadwatch token` and `loadwatch up`."""

import asyncio
import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import structlog
import urllib3
import uvicorn
import uvloop

from loadwatch_backend.access.principal import Role
from loadwatch_backend.access.tokens import TokenFile, TokenFileError
from loadwatch_backend.app import create_app
from loadwatch_backend.kit.addresses import ListenAddress
from loadwatch_backend.kit.children import (
    Child,
    StopRequest,
    first_ending,
    start_child,
    stop_child,
    wait_for_ending,
)
from loadwatch_backend.kit.logs import configure_logs
from loadwatch_backend.kit.settings import Settings, SettingsError, load_settings, unknown_variables
from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.live.hub import LiveHub
from loadwatch_backend.store.errors import DataDirectoryError
from loadwatch_backend.store.relational import RelationalError

READY_SECONDS = 60.0
GRACEFUL_SECONDS = 3
"""Time that requests under way have when the server stops."""
WRITE_PATH = "/prometheus/api/v1/write"

logger = structlog.get_logger(__name__)


class StartError(click.ClickException):
    """The start was refused; the message says why and what to do."""


listen_option = click.option("--listen", metavar="HOST:PORT", help="Instead of LOADWATCH_LISTEN.")
data_option = click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), help="Instead of LOADWATCH_DATA."
)


@click.command()
@listen_option
@data_option
def server(listen: str | None, data: Path | None) -> None:
    """Take samples, answer questions and serve the page. Settings: docs/reference/settings.md."""
    settings = _settings(listen, data)
    configure_logs(settings.log_format)
    for sentence in unknown_variables(os.environ):
        logger.warning("unknown setting", reason=sentence)
    check_access(settings)
    with bind(settings.listen) as bound:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(serve(settings, bound))
        except (DataDirectoryError, RelationalError) as error:
            raise StartError(str(error)) from error


@click.command()
@listen_option
@data_option
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The agent's loadwatch.yml. Without it the agent watches this host.",
)
@click.option(
    "--agent-token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File with the agent's token, where LOADWATCH_TOKEN_FILE is set.",
)
def up(listen: str | None, data: Path | None, config: Path | None, agent_token_file: Path | None) -> None:
    """Start a server and an agent that watches this host; Ctrl-C stops both."""
    settings = _settings(listen, data)
    check_access(settings)
    if settings.token_file is not None and agent_token_file is None and config is None:
        raise StartError(
            "LOADWATCH_TOKEN_FILE is set, so the agent needs a token: write one from "
            "`loadwatch token create --role agent --name local` to a file and give it as --agent-token-file."
        )
    address = _with_port(settings.listen)
    environment = {**os.environ, "LOADWATCH_LISTEN": str(address), "LOADWATCH_DATA": str(settings.data)}
    stop = StopRequest()
    stop.install()
    children = [start_child("the server", _command("server"), environment)]
    try:
        reason = wait_ready(address, children, stop)
        if reason is None and not stop.asked:
            arguments = _agent_arguments(settings, address, config, agent_token_file)
            children.append(start_child("the agent", _command("agent", *arguments), environment))
            click.echo(_banner(address, settings), err=True)
            reason = wait_for_ending(children, stop)
    finally:
        for child in reversed(children):
            if (remark := stop_child(child)) is not None:
                click.echo(remark, err=True)
    if reason is not None:
        raise StartError(f"{reason}; its own message stands above. Everything else was stopped.")
    click.echo("Loadwatch has stopped.", err=True)


@click.group()
def token() -> None:
    """Make, list and revoke the tokens that agents and administrators use."""


token_file_option = click.option(
    "--token-file",
    "token_file",
    envvar="LOADWATCH_TOKEN_FILE",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of tokens; also read from LOADWATCH_TOKEN_FILE.",
)


@token.command("create")
@click.option("--role", type=click.Choice([role.value for role in Role]), required=True)
@click.option("--name", required=True, help="What the token is for; shown in lists, never secret.")
@token_file_option
def create_token(role: str, name: str, token_file: Path) -> None:
    """Make a token and print it, once. A running server takes it from its next request on."""
    try:
        secret = TokenFile(token_file).create(name, Role(role), datetime.now(UTC))
    except TokenFileError as error:
        raise click.ClickException(str(error)) from error
    click.echo(secret)
    click.echo(f"Kept as a hash in {token_file}; this is the only time that the token is shown.", err=True)
    if os.environ.get("LOADWATCH_TOKEN_FILE") is None:
        click.echo(f"The server uses the file when LOADWATCH_TOKEN_FILE={token_file} is set.", err=True)


@token.command("list")
@token_file_option
def list_tokens(token_file: Path) -> None:
    """List names, roles and ages; never the tokens."""
    try:
        records = TokenFile(token_file).records()
    except TokenFileError as error:
        raise click.ClickException(str(error)) from error
    for record in records:
        click.echo(f"{record.name}\t{record.role.value}\t{record.created.isoformat(timespec='seconds')}")


@token.command("revoke")
@click.option("--name", required=True)
@token_file_option
def revoke_token(name: str, token_file: Path) -> None:
    """Forget a token; a running server refuses it, and its sessions, from the next request on."""
    try:
        TokenFile(token_file).revoke(name)
    except TokenFileError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{name} is revoked.", err=True)


# The server -----------------------------------------------------------------------------------------------------------


def _settings(listen: str | None, data: Path | None) -> Settings:
    overrides: dict[str, Any] = {"listen": listen, "data": data}
    try:
        return load_settings(**{name: value for name, value in overrides.items() if value is not None})
    except SettingsError as error:
        raise StartError(str(error)) from error


def check_access(settings: Settings) -> None:
    """Refuse an address that others can reach while nobody has to sign in.

    Raises:
        StartError: says how to configure access.
    """
    if settings.token_file is None:
        if not settings.listen.is_loopback:
            raise StartError(
                f"refusing to listen on {settings.listen} without access control: everyone on the network could read "
                "and change everything. Make a token and name its file:\n"
                "  loadwatch token create --role admin --name me --token-file tokens.json\n"
                "  export LOADWATCH_TOKEN_FILE=tokens.json\n"
                "or listen on this machine only: LOADWATCH_LISTEN=127.0.0.1:8000"
            )
        return
    file = TokenFile(settings.token_file)
    try:
        if not file.records():
            raise StartError(
                f"the token file {file.path} holds no token, so nobody could sign in; make one with "
                f"`loadwatch token create --role admin --name NAME --token-file {file.path}`."
            )
        if not file.is_private():
            logger.warning("others can read the token file", path=str(file.path), remedy=f"chmod 600 {file.path}")
    except TokenFileError as error:
        raise StartError(str(error)) from error


def bind(address: ListenAddress) -> socket.socket:
    """A listening socket.

    Raises:
        StartError: the address is in use, or cannot be used; says what to do.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise StartError(f"cannot listen on {address}: {address.host!r} is no address of this machine.") from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(2048)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"cannot listen on {address}: another process uses the port. "
                f"Stop it (`ss -ltnp 'sport = :{address.port}'` names it), or choose another address, "
                "for example LOADWATCH_LISTEN=127.0.0.1:8001."
            ) from error
        raise StartError(f"cannot listen on {address}: {error.strerror}.") from error
    bound.setblocking(False)
    return bound


class Server(uvicorn.Server):
    """Ends open streams before it waits for requests to finish, and leaves signals to `serve`.

    uvicorn would raise the signal again once it has stopped, which is before the store is closed.
    """

    def __init__(self, config: uvicorn.Config, live: LiveHub) -> None:
        super().__init__(config)
        self._live = live

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """See uvicorn."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        self._live.close()
        await super().shutdown(sockets)


async def serve(settings: Settings, bound: socket.socket) -> None:
    """Serve on a bound socket until SIGINT or SIGTERM. The store closes after the last request.

    The lifespan is entered here and not by uvicorn, so that what goes wrong at the start is an error and not a log.
    """
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        lifespan="off",
        http="httptools",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    running = Server(config, app.state.live)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _stop, running)
    async with app.router.lifespan_context(app):
        host, port = bound.getsockname()[:2]
        url = ListenAddress(host=host, port=port).url
        logger.info("listening", url=url, version=VERSION, data=str(settings.data.resolve()))
        await running.serve([bound])
    logger.info("stopped")


def _stop(running: uvicorn.Server) -> None:
    running.should_exit = True


# Server and agent together --------------------------------------------------------------------------------------------


def _command(*arguments: str) -> list[str]:
    """Ourselves with another command, by the same interpreter."""
    return [sys.executable, sys.argv[0], *arguments]


def _with_port(address: ListenAddress) -> ListenAddress:
    """The address with a free port in the place of port 0, so that the agent can be told."""
    if address.port:
        return address
    with bind(address) as bound:
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


def wait_ready(address: ListenAddress, children: Sequence[Child], stop: StopRequest) -> str | None:
    """Wait until the server takes samples; the reason when it never will."""
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


def _banner(address: ListenAddress, settings: Settings) -> str:
    return "\n".join(
        [
            "",
            f"  Loadwatch {VERSION} is up. Open  {address.url}",
            "",
            f"  Remote write   {address.url}{WRITE_PATH}",
            f"  Grafana        {address.url}/prometheus  (as a Prometheus data source)",
            f"  Data           {settings.data.resolve()}",
            "  Stop           Ctrl-C",
            "",
        ]
    )
