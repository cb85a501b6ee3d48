"""A real PostgreSQL server for tests: its own folder and port, ended by its pid."""

import atexit
import functools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.ports import free_port

_START_SECONDS = 120.0


@dataclass
class PostgreSQL:
    """A server that runs; `app` owns all and needs no password from the loopback."""

    folder: Path
    port: int
    options: tuple[str, ...] = ()
    process: "subprocess.Popen[bytes] | None" = None

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://app:pass@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str) -> None:
        with self.connect() as connection:
            connection.execute(statement.encode())

    def connect(self, user: str = "app", database: str = "postgres") -> "psycopg.Connection[Any]":
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user=user, password="pass", dbname=database, autocommit=True
        )

    def make(self, database: str) -> str:
        """A new, empty database; its URL."""
        self.run(f"CREATE DATABASE {database}")
        return self.url(database)

    def start(self) -> None:
        # Nothing here has to outlive the machine: without fsync a test takes a third of the time.
        options = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=50", *self.options]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                as_other(
                    _program("postgres"),
                    f"-D{self.folder / 'data'}",
                    f"-p{self.port}",
                    "-h127.0.0.1",
                    "-k",
                    "",
                    *(part for option in options for part in ("-c", option)),
                ),
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        give_up = time.monotonic() + _START_SECONDS
        while time.monotonic() < give_up and self.process.poll() is None:
            try:
                self.connect().close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        self.stop()
        raise AssertionError("postgres did not start:\n" + (self.folder / "log").read_text(errors="replace")[-3000:])

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None


@functools.cache
def running_postgresql() -> PostgreSQL:
    """The server of this process of tests; make a database of one's own in it."""
    server = _installed()
    atexit.register(server.stop)
    server.start()
    return server


@contextmanager
def own_postgresql(*options: str) -> Generator[PostgreSQL]:
    """A server with settings of its own, such as `shared_preload_libraries=pg_stat_statements`."""
    server = _installed(*options)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@contextmanager
def own_replica(of: PostgreSQL) -> Generator[PostgreSQL]:
    """A replica that streams from a server that runs."""
    folder = _folder()
    copy = as_other(
        _program("pg_basebackup"), f"-D{folder / 'data'}", "-h127.0.0.1", f"-p{of.port}", "-Uapp", "-R", "-cfast"
    )
    subprocess.run(copy, check=True, capture_output=True, timeout=300, cwd=folder)
    server = PostgreSQL(folder=folder, port=free_port())
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _installed(*options: str) -> PostgreSQL:
    folder = _folder()
    data = folder / "data"
    done = subprocess.run(
        as_other(
            _program("initdb"), f"-D{data}", "-Uapp", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"
        ),
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
    )
    assert done.returncode == 0, f"initdb failed:\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return PostgreSQL(folder=folder, port=free_port(), options=options)


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="lw-pg-"))
    folder.chmod(0o755)
    data = folder / "data"
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(data, _other().pw_uid, _other().pw_gid)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _program(name: str) -> str:
    """Debian keeps them apart, by version."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    found = shutil.which(name, path=os.pathsep.join([*map(str, reversed(folders)), os.environ.get("PATH", "")]))
    assert found is not None, f"{name} is missing: apt install postgresql"
    return found


def as_other(*command: str) -> list[str]:
    """PostgreSQL and PgBouncer refuse to run as root."""
    if os.geteuid() != 0:
        return list(command)
    other = _other()
    return ["setpriv", f"--reuid={other.pw_uid}", f"--regid={other.pw_gid}", "--clear-groups", *command]


def _other() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")
