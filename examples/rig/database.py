"""A MariaDB of one's own: a fresh data directory, a free port, one user for each of its clients."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pymysql

from examples.rig.processes import ManagedProcess, RigError, free_port, wait_until

SCHEMA = "hits"
APP_USER = "app"
MONITOR_USER = "loadwatch"
BI_USER = "bi_tool"
JOB_USER = "night_job"

_CREATE_SCHEMA = f"CREATE DATABASE {SCHEMA}"
_CREATE_USERS = (
    f"CREATE USER '{APP_USER}'@'127.0.0.1' IDENTIFIED BY %s",
    f"CREATE USER '{MONITOR_USER}'@'127.0.0.1' IDENTIFIED BY %s WITH MAX_USER_CONNECTIONS 5",
    f"CREATE USER '{BI_USER}'@'127.0.0.1' IDENTIFIED BY %s",
    f"CREATE USER '{JOB_USER}'@'127.0.0.1' IDENTIFIED BY %s",
)
_GRANTS = (
    f"GRANT ALL ON {SCHEMA}.* TO '{APP_USER}'@'127.0.0.1'",
    f"GRANT SELECT ON {SCHEMA}.* TO '{BI_USER}'@'127.0.0.1'",
    f"GRANT ALL ON {SCHEMA}.* TO '{JOB_USER}'@'127.0.0.1'",
    f"GRANT SELECT ON {SCHEMA}.* TO '{MONITOR_USER}'@'127.0.0.1'",
    f"GRANT SELECT ON performance_schema.* TO '{MONITOR_USER}'@'127.0.0.1'",
    f"GRANT PROCESS, SLAVE MONITOR ON *.* TO '{MONITOR_USER}'@'127.0.0.1'",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Where the database listens, and its users' passwords."""

    port: int
    process: ManagedProcess
    passwords: dict[str, str]

    def connect(self, user: str) -> "pymysql.connections.Connection[pymysql.cursors.Cursor]":
        """A connection of that user to the schema."""
        return pymysql.connect(
            host="127.0.0.1", port=self.port, user=user, password=self.passwords[user], database=SCHEMA, autocommit=True
        )

    @property
    def app_dsn(self) -> str:
        """The measuring server's data source name."""
        return f"{APP_USER}:{self.passwords[APP_USER]}@tcp(127.0.0.1:{self.port})/{SCHEMA}"


def find_mariadb() -> tuple[str, str]:
    """The paths of mariadbd and mariadb-install-db.

    Raises:
        RigError: the server is not installed.
    """
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    server = shutil.which("mariadbd", path=path) or shutil.which("mysqld", path=path)
    installer = shutil.which("mariadb-install-db", path=path)
    if server is None or installer is None:
        raise RigError(
            "MariaDB is not installed: `make demo` installs Debian's mariadb-server as root or with sudo; "
            "elsewhere install it by hand, so that mariadbd and mariadb-install-db are in PATH"
        )
    return server, installer


def install_database(folder: Path) -> Path:
    """A fresh data directory in `folder`, unless it is there; `template` of `running_database` takes a copy of it.

    Raises:
        RigError: MariaDB is not installed, or its installer failed.
    """
    _, installer = find_mariadb()
    data = folder / "mariadb"
    if data.exists():
        return data
    done = subprocess.run(
        [
            installer,
            "--no-defaults",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
            f"--datadir={data}",
            f"--tmpdir={_temporary(folder)}",
            "--innodb-use-native-aio=0",  # The host's slots for it may be used up.
            *_as_root(),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        shutil.rmtree(data, ignore_errors=True)  # Or the next start would take it for whole.
        raise RigError(f"mariadb-install-db failed:\n{done.stdout}{done.stderr}")
    return data


def _as_root() -> list[str]:
    # mariadbd refuses to run as root unless it is told so.
    return ["--user=root"] if os.geteuid() == 0 else []


def _temporary(folder: Path) -> Path:
    # Each server that starts removes all temporary tables from its temporary folder, also those of others that run.
    temporary = folder / "mariadb-tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return temporary


@contextmanager
def running_database(
    folder: Path,
    *,
    max_connections: int,
    options: Sequence[str] = (),
    template: Path | None = None,
    port: int | None = None,
) -> Generator[Database]:
    """A MariaDB with its data in `folder`, until the block ends; `options` are mariadbd's and come last."""
    server, _ = find_mariadb()
    if template is not None:
        shutil.copytree(template, folder / "mariadb")
    data, log = install_database(folder), folder / "mariadb.log"
    port = port or free_port()
    # The path of a socket has at most 107 bytes, which a data directory deep in a tree goes beyond.
    command = [
        server,
        "--no-defaults",
        f"--datadir={data}",
        f"--tmpdir={_temporary(folder)}",
        "--socket=socket",
        f"--pid-file={data / 'pid'}",
        "--bind-address=127.0.0.1",
        f"--port={port}",
        "--skip-name-resolve",
        f"--max-connections={max_connections}",
        "--performance-schema=ON",
        "--innodb-buffer-pool-size=64M",
        *_as_root(),
        *options,
    ]
    with ManagedProcess("MariaDB", command, log=log) as process:
        wait_until("MariaDB", lambda: _answers(port), seconds=60, process=process)
        passwords = {user: secrets.token_urlsafe(18) for user in (APP_USER, MONITOR_USER, BI_USER, JOB_USER)}
        _prepare(port, passwords)
        yield Database(port=port, process=process, passwords=passwords)


def _answers(port: int) -> bool:
    try:
        pymysql.connect(host="127.0.0.1", port=port, user="root").close()
    except pymysql.err.OperationalError:
        return False
    return True


def _prepare(port: int, passwords: dict[str, str]) -> None:
    """Make the schema and the users, and close the account without a password that the installer leaves."""
    with pymysql.connect(host="127.0.0.1", port=port, user="root") as connection, connection.cursor() as cursor:
        cursor.execute(_CREATE_SCHEMA)
        for statement, password in zip(_CREATE_USERS, passwords.values(), strict=True):
            cursor.execute(statement, (password,))
        for statement in _GRANTS:
            cursor.execute(statement)
        for host in ("localhost", "127.0.0.1", "::1"):
            cursor.execute("ALTER USER IF EXISTS 'root'@%s ACCOUNT LOCK", (host,))
