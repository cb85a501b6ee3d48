"""The server's commands: `loadwatch server` and `loadwatch up`; those of users and tokens are in `access_commands`."""

import asyncio
import errno
import gc
import os
import re
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, cast

import click
import structlog
import urllib3
import uvicorn
import uvloop
from loadwatch_formats.terminal import echo

from loadwatch_backend.access.credentials import new_secret
from loadwatch_backend.access.modes import AccessSettingsError, access_of, check_settings
from loadwatch_backend.access.principal import LOCAL, Access, Role, Scope
from loadwatch_backend.access.schemas import TokenIn
from loadwatch_backend.access.sign_in.sign_in import setup_link
from loadwatch_backend.access.tokens import TokenFile, TokenFileError, TokenService
from loadwatch_backend.app.application import create_app
from loadwatch_backend.app.commands.access import data_option
from loadwatch_backend.app.services import Services
from loadwatch_backend.core.addresses import ListenAddress, parse_cidrs
from loadwatch_backend.core.clock import process_clock, system_clock
from loadwatch_backend.core.data_directory import DataDirectoryError, open_data_directory
from loadwatch_backend.core.database.relational import RelationalError, default_url, open_relational
from loadwatch_backend.core.database.set_aside import FILES, set_aside
from loadwatch_backend.core.http_protocol import CONNECTIONS, MOST_CONNECTIONS, BoundedHttpProtocol
from loadwatch_backend.core.logs import configure_logs
from loadwatch_backend.core.processes import (
    CONTROL_VARIABLE,
    AgentKeeper,
    AgentState,
    Child,
    StopRequest,
    first_ending,
    start_child,
    stop_child,
    take_agent_control,
    wait_for_ending,
)
from loadwatch_backend.core.services import find_service
from loadwatch_backend.core.settings import Settings, SettingsError, load_settings, unknown_variables
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.series.store.embedded.lock import acquire_lock
from loadwatch_backend.series.store.errors import EngineSettingsError


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


READY_SECONDS = 180.0
"""A first start takes seconds; on a host that is busy with a load test it may take a minute and more."""
EXIT_OTHER_AGENT = 4
"""Of `loadwatch agent` where another agent of this host sends to the server already."""
GRACEFUL_SECONDS = 3
KEEP_ALIVE_SECONDS = 75
"""A load balancer keeps idle connections for 60 s (AWS', nginx's); where we close one first, its next request fails."""
WRITE_PATH = "/prometheus/api/v1/write"
CONFIG_NAME = "loadwatch.yml"
"""Of the data directory: the agent's file where `loadwatch up` was given none."""
SETUP_VARIABLE = "LOADWATCH_UP_SETUP"
"""In which `loadwatch up` tells its server the secret of the first administrator's link, to show the link itself."""

logger = structlog.get_logger(__name__)


class StartError(click.ClickException):
    """The start was refused; the message says why and what to do."""


listen_option = click.option("--listen", metavar="HOST:PORT", help="Instead of LOADWATCH_LISTEN.")


@click.command()
@listen_option
@data_option
@click.option(
    "--set-aside",
    "damaged",
    type=click.Choice(FILES),
    help="Rename a damaged file of the data directory, delete nothing, and end. The start says when this helps.",
)
def server(listen: str | None, data: Path | None, damaged: str | None) -> None:
    """Take samples, answer questions and serve the page. Settings: docs/reference/settings.md."""
    settings = _settings(listen, data)
    if damaged is not None:
        _set_aside(settings.data, damaged)
        return
    configure_logs(settings.log_format)
    for sentence in unknown_variables(os.environ):
        logger.warning("unknown setting", reason=sentence)
    check_access(settings)
    _bound_connections(settings)
    with bind(settings.listen) as bound:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(_serve_and_exit(settings, bound))
        except (DataDirectoryError, EngineSettingsError, RelationalError, AccessSettingsError, SettingsError) as error:
            raise StartError(str(error)) from error
        except OSError as error:
            if error.filename is None:
                raise
            raise StartError(f"cannot write {error.filename}: {error.strerror}.") from error


@click.command()
@listen_option
@data_option
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
    settings = _settings(listen, data)
    check_access(settings)
    address = _with_port(settings.listen)
    environment = {**os.environ, "LOADWATCH_LISTEN": str(address), "LOADWATCH_DATA": str(settings.data)}
    setup_secret = None
    if access_of(settings) is not Access.OPEN:
        agent_token_file = agent_token_file or _make_agent_token(settings)
        setup_secret = environment[SETUP_VARIABLE] = new_secret()
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
        raise StartError(f"{reason}; its own message stands above. Everything else was stopped.")
    echo("Loadwatch has stopped.", err=True)


# The server -----------------------------------------------------------------------------------------------------------


def _set_aside(directory: Path, name: str) -> None:
    try:
        lock = acquire_lock(directory)
        try:
            renamed = set_aside(directory, name, system_clock())
        finally:
            os.close(lock)
    except DataDirectoryError as error:
        raise StartError(str(error)) from error
    for path in renamed:
        echo(f"renamed: {path}")
    echo("Start the server again. Keep these files until you know that nothing of them is missed.")


def _bound_connections(settings: Settings) -> None:
    """Allow as many open files as the system does, and no more connections than there is room for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    try:
        proxies = parse_cidrs(settings.proxy_networks, "LOADWATCH_PROXY_NETWORKS")
    except ValueError as error:
        raise StartError(str(error)) from error
    CONNECTIONS.bound(MOST_CONNECTIONS * 2 if soft == resource.RLIM_INFINITY else soft, proxies)


def _settings(listen: str | None, data: Path | None) -> Settings:
    overrides: dict[str, Any] = {"listen": listen, "data": data}
    try:
        return load_settings(**{name: value for name, value in overrides.items() if value is not None})
    except SettingsError as error:
        raise StartError(str(error)) from error


def check_access(settings: Settings) -> None:
    """Refuse what contradicts itself, and an address that others can reach while nobody has to sign in.

    Raises:
        StartError: says how to configure access.
    """
    try:
        access = access_of(settings)
        check_settings(settings)
    except AccessSettingsError as error:
        raise StartError(str(error)) from error
    if settings.token_file is None or access is Access.OPEN:
        return
    file = TokenFile(settings.token_file)
    try:
        if not file.records() and access is Access.TOKEN:
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
    """Ends open streams and queries before it waits for requests to finish, and leaves signals to `serve`.

    uvicorn would raise the signal again once it has stopped, which is before the store is closed.
    """

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()

    def stop(self) -> None:
        """End as soon as requests under way have; may be called from any thread."""
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    async def main_loop(self) -> None:
        """See uvicorn, which looks ten times a second whether it is to stop; the protocol renews the header Date."""
        self._loop = asyncio.get_running_loop()
        if not self.should_exit:
            await self._wake.wait()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn, which ends only connections that it knows; one just accepted is known a few turns later."""
        for server in self.servers:
            server.close()
        for _ in range(3):
            await asyncio.sleep(0)
        self._end_streams()
        await super().shutdown(sockets)


async def serve(settings: Settings, bound: socket.socket) -> None:
    """Serve on a bound socket until SIGINT or SIGTERM. The store closes after the last request.

    The lifespan is entered here and not by uvicorn, so that what goes wrong at the start is an error and not a log.
    """
    app = create_app(
        settings,
        process_clock(),
        setup_secret=os.environ.get(SETUP_VARIABLE),
        agent_control=take_agent_control(os.environ),
    )
    config = uvicorn.Config(
        app,
        # Who may speak for others is a setting of ours; uvicorn would believe whatever runs on this machine.
        proxy_headers=False,
        lifespan="off",
        http=BoundedHttpProtocol,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    running = Server(config, lambda: find_service(app, Services).end_streams())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, running.stop)
    # All that is loaded stays: looking for garbage in it once takes as long as opening the store. Python would
    # look after each 700 new objects, which takes half of the time that an answer of a million samples is read in.
    gc.freeze()
    gc.set_threshold(20_000)
    try:
        async with app.router.lifespan_context(app):
            host, port = bound.getsockname()[:2]
            url = ListenAddress(host=host, port=port).url
            logger.info("listening", url=url, version=VERSION, data=str(settings.data.resolve()))
            if (secret := find_service(app, Services).setup_secret) is not None:
                link = setup_link(settings.external_url or url, secret)
                logger.warning(
                    "no administrator yet: make the first administrator by this link within 24 hours", link=link
                )
            await running.serve([bound])
    finally:
        # Otherwise DuckDB's binding reports all that it made as leaked at the end of the process.
        gc.unfreeze()
    logger.info("stopped")


async def _serve_and_exit(settings: Settings, bound: socket.socket) -> NoReturn:
    """Serve, then end the process: a thread that still computes for nobody would hold the exit.

    All that is to be kept is closed by then.
    """
    await serve(settings, bound)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


# Server and agent together --------------------------------------------------------------------------------------------


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


def _make_agent_token(settings: Settings) -> Path:
    """A file with a new token of our own agent, which may write samples and nothing else; the one before is revoked.

    Raises:
        StartError: the database cannot be used.
    """
    try:
        open_data_directory(settings.data)
        relational = open_relational(settings.relational_url or default_url(settings.data))
    except RelationalError as error:
        raise StartError(str(error)) from error
    name = "up-" + re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:60]
    try:
        tokens = TokenService(relational, system_clock)
        tokens.revoke_by_name(name)
        given = TokenIn(name=name, scopes=[Scope.SAMPLES_WRITE])
        made = tokens.create(given, LOCAL.name, Role.AGENT)
    finally:
        relational.close()
    path = settings.data / "agent.token"
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(made.token + "\n")
    return path


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
