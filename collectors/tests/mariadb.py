"""A real MariaDB server for tests: its own folder, socket and port, ended by its pid."""

import atexit
import functools
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql

from tests.ports import free_port

_START_SECONDS = 120.0


@dataclass
class MariaDB:
    """A server that runs; `root` has no password and may only come through the socket and from the loopback."""

    folder: Path
    port: int
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def socket_path(self) -> str:
        return str(self.folder / "s")

    def start(self) -> None:
        program = shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        assert program is not None, "mariadbd is missing: apt install mariadb-server"
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    program,
                    "--no-defaults",
                    "--user=root",
                    f"--datadir={self.folder / 'data'}",
                    f"--socket={self.socket_path}",
                    f"--port={self.port}",
                    f"--pid-file={self.folder / 'pid'}",
                    f"--tmpdir={self.folder}",
                    "--bind-address=127.0.0.1",
                    "--skip-name-resolve",
                    "--skip-log-bin",
                    "--innodb-buffer-pool-size=16M",
                    "--innodb-log-file-size=4M",
                    "--innodb-flush-log-at-trx-commit=0",
                    "--innodb-use-native-aio=0",
                    *self.options,
                ],
                stdout=log,
                stderr=log,
            )
        self._wait_until_it_answers()

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def connect(self, user: str = "root", password: str = "", database: str | None = None) -> "pymysql.Connection[Any]":
        return pymysql.connect(
            unix_socket=self.socket_path,
            user=user,
            password=password,
            database=database,
            autocommit=True,
            ssl_disabled=True,
        )

    def run(self, *statements: str) -> None:
        """Run statements as root."""
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def _wait_until_it_answers(self) -> None:
        assert self.process is not None
        give_up = time.monotonic() + _START_SECONDS
        while time.monotonic() < give_up:
            if self.process.poll() is not None:
                break
            # A plain socket first: PyMySQL leaves the socket of a failed attempt open.
            with suppress(pymysql.MySQLError, OSError), socket.socket(socket.AF_UNIX) as attempt:
                attempt.connect(self.socket_path)
                attempt.close()
                self.connect().close()
                return
            time.sleep(0.05)
        self.stop()
        raise AssertionError("mariadbd did not start:\n" + (self.folder / "log").read_text(errors="replace")[-3000:])


@functools.cache
def _template() -> Path:
    """An installed data directory, made once for all servers of this process.

    The installer starts a server, and each server that starts removes all temporary tables that it finds in its
    temporary folder, also those of others that run: so each has a folder of its own. Nor does it take the host's
    asynchronous I/O slots, which many servers at once use up. What it says is shown if it fails all the same.
    """
    folder = Path(tempfile.mkdtemp(prefix="lw-db-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    done = subprocess.run(
        [
            "mariadb-install-db",
            "--no-defaults",
            "--user=root",
            f"--datadir={folder / 'data'}",
            f"--tmpdir={folder}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
            "--innodb-log-file-size=4M",
            "--innodb-use-native-aio=0",
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"mariadb-install-db failed:\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return folder / "data"


@contextmanager
def running_mariadb(folder: Path, *options: str) -> Generator[MariaDB]:
    """Install a server into `folder` (its path must be short: sockets allow 107 characters) and run it."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(_template(), folder / "data")
    server = MariaDB(folder=folder, port=free_port(), options=options)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
