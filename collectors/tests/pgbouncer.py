"""A real PgBouncer before a real PostgreSQL, ended by its own process."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from loadwatch_collectors.sources.pgbouncer import PgBouncerCollector, PgBouncerSettings

from collectors.tests.postgresql import PostgreSQL, as_other
from tests.ports import free_port

PASSWORDS = {"app": "pass", "loadwatch": "secret"}
_CONFIGURATION = """
[databases]
shop = host=127.0.0.1 port={server} dbname=postgres pool_size={pool}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = md5
auth_file = {folder}/users.txt
stats_users = loadwatch
max_client_conn = {clients}
"""


@dataclass(frozen=True, slots=True)
class PgBouncer:
    """A pooler of sessions that runs: `app` may use its database `shop`, `loadwatch` its console."""

    folder: Path
    port: int

    def connect(self) -> "psycopg.Connection[Any]":
        return psycopg.connect(host="127.0.0.1", port=self.port, user="app", password=PASSWORDS["app"], dbname="shop")

    def collector(self, user: str = "loadwatch") -> PgBouncerCollector:
        return PgBouncerCollector(PgBouncerSettings(port=self.port, user=user, password_file=str(self.folder / user)))

    @contextmanager
    def crowded(self, clients: int) -> Generator[None]:
        """By clients that ask once: those that get a session keep it, the others wait for one."""
        with ExitStack() as stack:
            for _ in range(clients):
                one = stack.enter_context(closing(self.connect()))
                one.pgconn.send_query(b"SELECT 1")
            yield


@contextmanager
def running_pgbouncer(before: PostgreSQL, *, pool: int = 20, clients: int = 100) -> Generator[PgBouncer]:
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    assert Path(program).exists(), "pgbouncer is not here; scripts/apt-install.sh pgbouncer"
    folder, port = Path(tempfile.mkdtemp(prefix="lw-pgbouncer-")), free_port()
    folder.chmod(0o755)
    configuration = _CONFIGURATION.format(server=before.port, pool=pool, port=port, folder=folder, clients=clients)
    (folder / "pgbouncer.ini").write_text(configuration)
    (folder / "users.txt").write_text("".join(f'"{user}" "{word}"\n' for user, word in PASSWORDS.items()))
    for user, word in PASSWORDS.items():
        (folder / user).write_text(word)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(as_other(program, f"{folder}/pgbouncer.ini"), stderr=log, cwd=folder)
    server = PgBouncer(folder, port)
    try:
        for _ in range(400):
            try:
                server.connect().close()
                break
            except psycopg.OperationalError:
                time.sleep(0.05)
        else:
            raise AssertionError((folder / "log").read_text())
        yield server
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(folder)
