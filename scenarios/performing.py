"""Does what `actions.py` says, each action in a thread of its own at its time."""

import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pymysql

from examples.rig.application import running_application
from examples.rig.database import BI_USER, JOB_USER, SCHEMA, Database
from examples.rig.processes import ManagedProcess, RigError
from scenarios.actions import (
    Action,
    AskNowAndThen,
    Backup,
    BurnCpu,
    Deadlocks,
    Freeze,
    HeavyStatements,
    HoldConnections,
    HoldSockets,
    Kill,
    LockRows,
    PauseAgent,
    Restart,
)
from scenarios.case import App

RETRY_SECONDS = 0.5
_SMALL_QUESTION = "SELECT COUNT(*) FROM (SELECT id FROM hits ORDER BY id DESC LIMIT 100) AS newest"
_HEAVY = "SELECT BENCHMARK(3000000, SHA2('report', 512))"
_LOCK = "SELECT COUNT(*) FROM hits WHERE id > 0 FOR UPDATE"
_TOUCH = "UPDATE hits SET value = 'x' WHERE id = %s"


class Instance:
    """An instance of the measuring server, which may end and start again."""

    def __init__(self, app: App, *, number: int, folder: Path, port: int, database: Database) -> None:
        """Nothing is started yet."""
        self.name = f"app-{number + 1}"
        self.port = port
        self.loaded = app.loaded
        self.probe = app.probe
        self._app, self._folder, self._database = app, folder, database
        self._starts = 0
        # A child is sent SIGTERM when the thread that began it ends (see `ManagedProcess`): this one stays.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix=self.name)
        self._running: Any = None
        self._process: ManagedProcess | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._starter.shutdown()

    def start(self, flags: tuple[str, ...] | None = None) -> None:
        """Start it, with its own flags or others; returns when it answers."""
        self._starter.submit(self._start, flags).result()

    def _start(self, flags: tuple[str, ...] | None) -> None:
        self._starts += 1
        self._running = running_application(
            self._folder,
            name=f"{self.name}-{self._starts}",
            flags=flags or self._app.flags,
            port=self.port,
            database=self._database,
            environment=self._app.environment,
        )
        self._process = self._running.__enter__()

    def stop(self) -> None:
        """Ask it to end and wait; it stores what it holds first."""
        running, self._running = self._running, None
        if running is not None:
            running.__exit__(None, None, None)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self._process is not None:
            self._process.signal(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What actions act on."""

    folder: Path
    database: Database
    instances: Sequence[Instance]
    agent: ManagedProcess


class Performance:
    """Performs actions from `__enter__` to `__exit__`; times count from `load_at`, in `time.monotonic` seconds."""

    def __init__(self, actions: Sequence[Action], scene: Scene, *, load_at: float) -> None:
        """Nothing happens yet."""
        self._scene, self._load_at = scene, load_at
        self._over = threading.Event()
        self._failures: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(action,), name=type(action).__name__) for action in actions
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def check(self) -> None:
        """Raise what an action failed with.

        Raises:
            RigError: the case did not happen as it should have.
        """
        if self._failures:
            raise RigError(f"an action failed: {self._failures[0]!r}") from self._failures[0]

    def _run(self, action: Action) -> None:
        try:
            if self._over.wait(max(self._load_at + action.at - time.monotonic(), 0)):
                return
            _PERFORMERS[type(action)](action, self._scene, self._wait)
        except BaseException as error:
            self._failures.append(error)

    def _wait(self, seconds: float) -> bool:
        """Whether the case is over before `seconds` have passed."""
        return self._over.wait(seconds)


Wait = Callable[[float], bool]


def _kill(action: Kill, scene: Scene, _wait: Wait) -> None:
    scene.instances[action.app].signal(signal.SIGKILL)


def _restart(action: Restart, scene: Scene, wait: Wait) -> None:
    instance = scene.instances[action.app]
    instance.stop()
    wait(action.pause)
    instance.start(action.flags)


def _freeze(action: Freeze, scene: Scene, wait: Wait) -> None:
    instance = scene.instances[action.app]
    instance.signal(signal.SIGSTOP)
    wait(action.seconds)
    instance.signal(signal.SIGCONT)


def _pause_agent(action: PauseAgent, scene: Scene, wait: Wait) -> None:
    scene.agent.signal(signal.SIGSTOP)
    wait(action.seconds)
    scene.agent.signal(signal.SIGCONT)


def _burn(action: BurnCpu, scene: Scene, wait: Wait) -> None:
    command = [sys.executable, "-c", "while True: pass"]
    burners = [ManagedProcess("burner", command, log=scene.folder / "burner.log") for _ in range(action.processes)]
    wait(action.seconds)
    for burner in burners:
        burner.stop()


def _hold(action: HoldConnections, scene: Scene, wait: Wait) -> None:
    _clients(action.connections, lambda: _ask(scene, wait, action.seconds, "DO 0", every=action.seconds))


def _ask_now_and_then(action: AskNowAndThen, scene: Scene, wait: Wait) -> None:
    _clients(action.connections, lambda: _ask(scene, wait, action.seconds, _SMALL_QUESTION, every=1.0))


def _hold_sockets(action: HoldSockets, scene: Scene, wait: Wait) -> None:
    with ExitStack() as stack:
        for _ in range(action.connections):
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", scene.instances[action.app].port))
        wait(action.seconds)


def _heavy(action: HeavyStatements, scene: Scene, wait: Wait) -> None:
    _clients(action.connections, lambda: _ask(scene, wait, action.seconds, _HEAVY, every=0.0))


def _clients(number: int, work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _ask(scene: Scene, wait: Wait, seconds: float, statement: str, *, every: float) -> None:
    """Ask on one connection for so long; who is refused tries again, as clients do."""
    until = time.monotonic() + seconds
    over = False
    while not over and time.monotonic() < until:
        try:
            with scene.database.connect(BI_USER) as connection, connection.cursor() as cursor:
                while not over and time.monotonic() < until:
                    cursor.execute(statement)
                    cursor.fetchall()
                    over = wait(min(every, max(until - time.monotonic(), 0)))
        except pymysql.MySQLError:
            over = wait(RETRY_SECONDS)


def _lock_rows(action: LockRows, scene: Scene, wait: Wait) -> None:
    with scene.database.connect(JOB_USER) as connection, connection.cursor() as cursor:
        connection.begin()
        cursor.execute(_LOCK)
        wait(action.seconds)
        connection.rollback()


def _deadlocks(action: Deadlocks, scene: Scene, wait: Wait) -> None:
    until = time.monotonic() + action.seconds

    def change(first: int, second: int) -> None:
        over = False
        while not over and time.monotonic() < until:
            with scene.database.connect(JOB_USER) as connection, connection.cursor() as cursor:
                try:
                    connection.begin()
                    cursor.execute(_TOUCH, (first,))
                    over = wait(0.05)
                    cursor.execute(_TOUCH, (second,))
                    connection.commit()
                except pymysql.OperationalError:
                    connection.rollback()

    other = threading.Thread(target=change, args=(2, 1))
    other.start()
    change(1, 2)
    other.join()


def _backup(_action: Backup, scene: Scene, wait: Wait) -> None:
    tool = shutil.which("mariadb-dump") or shutil.which("mysqldump")
    if tool is None:
        raise RigError("mariadb-dump is missing: it comes with MariaDB's client")
    database = scene.database
    command = [
        tool,
        "--no-defaults",
        "--protocol=tcp",
        "--host=127.0.0.1",
        f"--port={database.port}",
        f"--user={JOB_USER}",
        "--single-transaction",
        "--skip-lock-tables",
        "--no-tablespaces",
        f"--result-file={scene.folder / 'backup.sql'}",
        SCHEMA,
    ]
    environment = {"MYSQL_PWD": database.passwords[JOB_USER], "PATH": os.environ.get("PATH", "")}
    with ManagedProcess("backup", command, log=scene.folder / "backup.log", environment=environment) as dump:
        while not dump.ended() and not wait(0.1):
            pass
        if dump.status() not in (0, None):
            raise RigError(f"the backup ended with status {dump.status()}\n{dump.last_lines()}")


_PERFORMERS: dict[type[Any], Callable[[Any, Scene, Wait], None]] = {
    Kill: _kill,
    Restart: _restart,
    Freeze: _freeze,
    PauseAgent: _pause_agent,
    BurnCpu: _burn,
    HoldConnections: _hold,
    AskNowAndThen: _ask_now_and_then,
    HoldSockets: _hold_sockets,
    HeavyStatements: _heavy,
    LockRows: _lock_rows,
    Deadlocks: _deadlocks,
    Backup: _backup,
}
