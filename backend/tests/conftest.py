"""A real server on a free port, in a thread of the test's process, with its own data and a clock that tests set.

And a real MariaDB and a real PostgreSQL for what is kept in tables.
"""

import asyncio
import functools
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn
import uvloop
from fastapi import FastAPI
from loadwatch_backend.app.application import create_app
from loadwatch_backend.app.commands.server import Server
from loadwatch_backend.app.commands.start import bind
from loadwatch_backend.app.services import Services
from loadwatch_backend.core.addresses import ListenAddress
from loadwatch_backend.core.database.relational import default_url, open_relational
from loadwatch_backend.core.http_protocol import BoundedHttpProtocol
from loadwatch_backend.core.services import find_service
from loadwatch_backend.core.settings import Settings
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch

from backend.tests.databases import DATABASES, make_database

NOW_MS = 1_768_550_400_000


@dataclass
class SetClock:
    """A clock that stands until a test moves it."""

    now_ms: int = NOW_MS
    jumped_ms: int = 0
    """How much of that is no time that has passed: the clock was set."""

    def jump(self, ms: int) -> None:
        """Set the clock by so much."""
        self.now_ms += ms
        self.jumped_ms += ms

    def __call__(self) -> int:
        return self.now_ms


@dataclass
class RunningServer:
    """A server that answers, and a client for it."""

    app: FastAPI
    client: httpx.Client
    clock: SetClock
    data: Path
    url: str

    @property
    def services(self) -> Services:
        return find_service(self.app, Services)

    @property
    def store(self) -> EmbeddedStore:
        return find_service(self.app, EmbeddedStore)

    def write(self, *series: tuple[dict[str, str], Sequence[tuple[int, float]]]) -> None:
        """Put samples on disk: label sets with their (time in ms, value) pairs."""
        ids = self.store.resolve([labels for labels, _ in series])
        rows = [(id, time, value) for id, (_, samples) in zip(ids, series, strict=True) for time, value in samples]
        columns = list(zip(*rows, strict=True))
        self.store.append(
            Batch(
                series=np.array(columns[0], np.uint32),
                timestamps=np.array(columns[1], np.int64),
                values=np.array(columns[2], np.float64),
            )
        ).result(timeout=120)


@dataclass
class _Thread:
    started: threading.Event = field(default_factory=threading.Event)
    server: Server | None = None
    error: BaseException | None = None


@functools.cache
def _new_files() -> Mapping[str, bytes]:
    """What a first start makes, by name: it is a good part of a start, and has tests of its own."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        open_relational(default_url(directory)).close()
        Database(EmbeddedSettings(data_directory=directory)).close()
        return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


@contextmanager
def run_server(data: Path, clock: SetClock | None = None, **settings: Any) -> Generator[RunningServer]:
    """Serve until the block ends."""
    clock = clock or SetClock()
    if not data.exists():
        data.mkdir(parents=True, mode=0o700)
        for name, content in _new_files().items():
            (data / name).write_bytes(content)
    # What tests count in the store is what they wrote.
    settings.setdefault("own_metrics_seconds", 0)
    # Tests of rules bring their own, or ask for these: all of them, evaluated at each start, are a third of its work.
    settings.setdefault("default_rules", False)
    # Tests move the clock to let time pass, so it is its own measure of what passed.
    app = create_app(Settings(data=data, **settings), clock, monotonic=lambda: (clock.now_ms - clock.jumped_ms) / 1_000)
    bound = bind(ListenAddress(host="127.0.0.1", port=0))
    thread = _Thread()

    async def serve() -> None:
        config = uvicorn.Config(
            app,
            lifespan="off",
            http=BoundedHttpProtocol,
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_graceful_shutdown=5,
        )
        thread.server = Server(config, lambda: find_service(app, Services).end_streams())
        async with app.router.lifespan_context(app):
            thread.started.set()
            await thread.server.serve([bound])

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
                loop.run(serve())
        except BaseException as error:
            thread.error = error
            thread.started.set()
            raise

    runner = threading.Thread(target=run, name="server")
    runner.start()
    try:
        assert thread.started.wait(120)
        assert thread.error is None
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        # Without TLS, so without reading all authorities that the machine knows.
        with httpx.Client(base_url=url, timeout=120, verify=False) as client:
            yield RunningServer(app=app, client=client, clock=clock, data=data, url=url)
    finally:
        if thread.server is not None:
            thread.server.stop()
        runner.join(120)
        bound.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """A server without login, empty."""
    with run_server(tmp_path / "data") as running:
        yield running


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests of a module that leave it as they like."""
    with run_server(tmp_path_factory.mktemp("shared")) as running:
        yield running


@pytest.fixture
def start_server() -> Callable[..., Any]:
    """Start servers with settings of one's own: `with start_server(folder, token_file=…) as running`."""
    return run_server


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of database in turn: SQLite of the test's own, the others of the module's."""
    kind: str = request.param
    url: str = default_url(tmp_path) if kind == "sqlite" else request.getfixturevalue(f"{kind}_url")
    return url


@pytest.fixture(scope="module")
def mariadb_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database of MariaDB of the module's own."""
    return make_database("mariadb", tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def postgresql_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database of PostgreSQL of the module's own."""
    return make_database("postgresql", tmp_path_factory.getbasetemp())
