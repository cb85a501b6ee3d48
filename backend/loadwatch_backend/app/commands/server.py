"""The command `loadwatch server`; see `up` for the one that starts an agent too."""

import asyncio
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import click
import structlog
import uvicorn
import uvloop
from loadwatch_formats.terminal import echo

from loadwatch_backend.access.credentials import setup_link
from loadwatch_backend.access.modes import AccessSettingsError
from loadwatch_backend.app.application import create_app
from loadwatch_backend.app.commands import start
from loadwatch_backend.app.services import Services
from loadwatch_backend.core.addresses import ListenAddress, parse_cidrs
from loadwatch_backend.core.clock import process_clock, system_clock
from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.core.database.relational import RelationalError
from loadwatch_backend.core.database.set_aside import FILES, set_aside
from loadwatch_backend.core.http_protocol import CONNECTIONS, MOST_CONNECTIONS, BoundedHttpProtocol
from loadwatch_backend.core.logs import configure_logs
from loadwatch_backend.core.processes import take_agent_control
from loadwatch_backend.core.services import find_service
from loadwatch_backend.core.settings import Settings, SettingsError, unknown_variables
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.series.store.embedded.lock import acquire_lock
from loadwatch_backend.series.store.errors import EngineSettingsError

GRACEFUL_SECONDS = 3
KEEP_ALIVE_SECONDS = 75
"""A load balancer keeps idle connections for 60 s (AWS', nginx's); where we close one first, its next request fails."""
logger = structlog.get_logger(__name__)


@click.command()
@start.listen_option
@start.data_option
@click.option(
    "--set-aside",
    "damaged",
    type=click.Choice(FILES),
    help="Rename a damaged file of the data directory, delete nothing, and end. The start says when this helps.",
)
def server(listen: str | None, data: Path | None, damaged: str | None) -> None:
    """Take samples, answer questions and serve the page. Settings: docs/reference/settings.md."""
    settings = start.settings_of(listen=listen, data=data)
    if damaged is not None:
        _set_aside(settings.data, damaged)
        return
    configure_logs(settings.log_format)
    for sentence in unknown_variables(os.environ):
        logger.warning("unknown setting", reason=sentence)
    start.check_access(settings)
    _bound_connections(settings)
    with start.bind(settings.listen) as bound:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(_serve_and_exit(settings, bound))
        except (DataDirectoryError, EngineSettingsError, RelationalError, AccessSettingsError, SettingsError) as error:
            raise start.StartError(str(error)) from error
        except OSError as error:
            if error.filename is None:
                raise
            raise start.StartError(f"cannot write {error.filename}: {error.strerror}.") from error


def _set_aside(directory: Path, name: str) -> None:
    try:
        lock = acquire_lock(directory)
        try:
            renamed = set_aside(directory, name, system_clock())
        finally:
            os.close(lock)
    except DataDirectoryError as error:
        raise start.StartError(str(error)) from error
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
        raise start.StartError(str(error)) from error
    CONNECTIONS.bound(MOST_CONNECTIONS * 2 if soft == resource.RLIM_INFINITY else soft, proxies)


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
        setup_secret=os.environ.get(start.SETUP_VARIABLE),
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
