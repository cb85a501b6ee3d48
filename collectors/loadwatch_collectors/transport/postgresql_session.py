"""One session with a PostgreSQL server, opened early and kept. The agent's only importer of psycopg.

Collectors with the same login may share one: a server that is full has no slot to give away. psycopg is imported when
the first session is made, so that the base install can check a configuration without it.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

from loadwatch_formats.own_traffic import COMMENT, NAME

from loadwatch_collectors.collector import address_of
from loadwatch_collectors.errors import CollectorError, ConfigError, PrivilegeError
from loadwatch_collectors.settings import Seconds, option, read_secret
from loadwatch_collectors.transport.kept import KeptSession

if TYPE_CHECKING:
    import psycopg

Row = tuple[Any, ...]
_T = TypeVar("_T")
_TLS_MODES = {
    "preferred": "prefer",
    "off": "disable",
    "required": "require",
    "verify_ca": "verify-ca",
    "verify_identity": "verify-full",
}
_NO_RIGHT = "42501"
_CANCELLED = "57014"
_SHARE = 0.75
"""Share of the deadline after which a query is cancelled; the rest is for the server's answer."""
Refusal = Literal["slots", "account", "starting"]
REFUSALS: tuple[Refusal, ...] = get_args(Refusal)
_REFUSED: dict[Refusal, re.Pattern[str]] = {
    "slots": re.compile("connection slots are reserved|too many clients|残りの.*予約|クライアント数が多すぎます"),
    "account": re.compile(
        "authentication failed|pg_hba.conf|not permitted to log in|(role|database) .* does not exist|: +not allowed"
    ),
    "starting": re.compile("the database system is"),
}
"""Texts of refused logins: libpq keeps the message alone, in the server's language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLLogin:
    is_database: ClassVar = True
    product: ClassVar[Literal["PostgreSQL", "PgBouncer"]] = "PostgreSQL"
    host: str = option(help="Address of the server, or the folder of its socket.", default="127.0.0.1")
    port: int = option(help="Port of the server.", default=5432)
    user: str = option(help="Role to log in with.")
    password_file: str | None = option(help="File with the password.", default=None)
    password_env: str | None = option(help="Environment variable with the password.", default=None)
    database: str = option(help="Database of the session.", default="postgres")
    tls: str = option(
        help="preferred (encrypted if the server can), off, required, verify_ca (certificate of a trusted authority), "
        "or verify_identity (certificate of this host).",
        default="preferred",
    )
    tls_ca_file: str | None = option(help="PEM file with the certificates to trust.", default=None)
    deadline: Seconds = option(help="Time that one whole reading may take, login included.", default=4.0)

    def __post_init__(self) -> None:
        if self.tls not in _TLS_MODES:
            raise ValueError(f"tls must be one of {', '.join(_TLS_MODES)}, not {self.tls!r}")
        if self.tls.startswith("verify") != (self.tls_ca_file is not None):
            raise ValueError("tls_ca_file belongs to tls: verify_ca and tls: verify_identity, which need it")
        if not 0 < self.port < 65536:
            raise ValueError(f"port must be between 1 and 65535, not {self.port}")
        if self.deadline <= 0:
            raise ValueError("deadline must be above 0")

    @property
    def address(self) -> str:
        return "" if self.host.startswith("/") else address_of(self.host, self.port)


BORROWED_KEYS = (
    *(("host", "port"), ("tls", "tls_ca_file"), ("user", "password_file", "password_env")),
    *(("database",), ("deadline",)),
)
"""Keys of a login that another block of the target lends, by what belongs together."""


class _Line:
    """A connection, and who uses it: one at a time."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.connection: psycopg.Connection[Row] | None = None
        self.opened = 0
        self.users = 0
        self.until = 0.0

    def end(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()


_LINES: dict[PostgreSQLLogin, _Line] = {}
_LINES_LOCK = threading.Lock()


class PostgreSQLSession(KeptSession):
    def __init__(
        self,
        login: PostgreSQLLogin,
        on_connect: Callable[["PostgreSQLSession"], object] | None = None,
        *,
        shared: bool = False,
    ) -> None:
        """Read the password; nothing is dialled yet. `on_connect` is called in each new session, before its first use.

        With `shared` the connection is that of all who log in in the same way; none may change its state.

        Raises:
            ConfigError: the password cannot be read, or psycopg is not installed.
        """
        if find_spec("psycopg") is None:
            raise ConfigError(
                'reading PostgreSQL needs psycopg, which is not installed: pip install "loadwatch[postgresql]"'
            )
        self._login = login
        self.where = f"{login.host}:{login.port}"
        self._server = f"{login.product} at {self.where}"
        super().__init__(f"{self._server}: the session was closed")
        self._password = read_secret(
            what=f"the password of {login.user} at {self.where}", file=login.password_file, env=login.password_env
        )
        self._on_connect = on_connect
        self.refused = dict.fromkeys(REFUSALS, 0)
        self.refusal: Refusal | None = None
        """Why the last `run` found no session; None for another reason, or when it found one."""
        self._key = PostgreSQLLogin(**{one.name: getattr(login, one.name) for one in fields(PostgreSQLLogin)})
        with _LINES_LOCK:
            self._line = _LINES.setdefault(self._key, _Line()) if shared else _Line()
            self._line.users += 1
        self._opened = 0

    def run(self, work: Callable[[], _T]) -> _T:
        """See KeptSession: by turns, where the session is shared."""
        line = self._line
        until = time.monotonic() + self._login.deadline
        self.refusal = None
        if not line.turn.acquire(timeout=self._login.deadline):
            raise CollectorError(f"{self._server}: the session was in use by another collector")
        try:
            line.until = until
            return super().run(work)
        finally:
            line.turn.release()

    def query(self, sql: str, parameters: Sequence[object] = ()) -> Sequence[Row]:
        """The rows of a statement; only within `run`."""
        return self._open.execute(f"{sql} {COMMENT}".encode(), tuple(parameters) or None).fetchall()

    def show(self, what: str) -> list[dict[str, Any]]:
        """What PgBouncer's console, which takes no comment, says to `SHOW`, by names of columns; only within `run`."""
        from psycopg.rows import dict_row

        return self._open.cursor(row_factory=dict_row).execute(f"SHOW {what}".encode()).fetchall()

    def try_query(self, sql: str) -> tuple[Sequence[Row], str]:
        """Return the rows, or no rows and the server's error text; only within `run`."""
        import psycopg

        try:
            return self.query(sql), ""
        except psycopg.Error as error:
            if error.sqlstate is None:
                raise
            return (), str(self._describe(error))

    def execute(self, sql: str) -> None:
        """Run a statement that returns no rows; only within `run`."""
        self._open.execute(f"{sql} {COMMENT}".encode())

    def _wake(self) -> None:
        if self._line.connection is not None:
            with suppress(OSError), socket.socket(fileno=os.dup(self._line.connection.fileno())) as same:
                same.shutdown(socket.SHUT_RDWR)

    @property
    def _open(self) -> "psycopg.Connection[Row]":
        if self._line.connection is None:
            raise CollectorError(self._closed_text)
        return self._line.connection

    @property
    def _errors(self) -> type[Exception]:
        import psycopg

        return psycopg.Error

    @property
    def _is_open(self) -> bool:
        return self._line.connection is not None

    @property
    def _is_late(self) -> bool:
        return time.monotonic() >= self._line.until

    def _end(self) -> None:
        with _LINES_LOCK:
            self._line.users -= 1
            if self._line.users:
                return
            if _LINES.get(self._key) is self._line:
                del _LINES[self._key]
        self._line.end()

    def _attempt(self, work: Callable[[], _T]) -> _T:
        line = self._line
        try:
            if line.connection is None:
                self._connect()
            if self._opened != line.opened:
                if self._on_connect is not None:
                    self._on_connect(self)
                self._opened = line.opened
            return work()
        except CollectorError:
            raise
        except BaseException as error:
            # After an error of the server the session is in order; after anything else it is unknown what comes next.
            if getattr(error, "sqlstate", None) is None or line.connection is None or line.connection.closed:
                line.end()
            raise

    def _connect(self) -> None:
        import psycopg

        line = self._line

        class Bounded(psycopg.Connection[Row]):
            """Cancels what outlasts the deadline, which libpq does not have; gives up where nothing answers."""

            def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
                grace = (1 - _SHARE) * login.deadline
                try:
                    left = max(line.until - grace - time.monotonic(), 0.001)
                    return super().wait(gen, interval, left if timeout is None else min(left, timeout))
                except psycopg.errors._WaitTimeout:  # pyright: ignore[reportPrivateUsage] - what its `wait` is said to raise
                    try:
                        self.cancel_safe(timeout=grace)
                        return super().wait(gen, interval, grace)
                    except psycopg.errors.QueryCanceled:
                        raise
                    except psycopg.Error as error:
                        self.pgconn.finish()
                        raise psycopg.OperationalError("no answer in time") from error

        login = self._login
        # The server ends a statement shortly before we would have to give up the session to get rid of it.
        options = f"-c statement_timeout={int(login.deadline * _SHARE * 1_000)} -c lock_timeout=2000"
        line.connection = Bounded.connect(
            host=login.host,
            port=login.port,
            user=login.user,
            password=self._password,
            dbname=login.database,
            sslmode=_TLS_MODES[login.tls],
            sslrootcert=login.tls_ca_file,
            connect_timeout=max(2, int(login.deadline)),
            application_name=NAME,
            options=options if login.product == "PostgreSQL" else None,  # PgBouncer refuses them
            autocommit=True,
            prepare_threshold=None,
        )
        line.opened += 1

    def _describe(self, error: Exception) -> CollectorError:
        said, code = f"{self._server}: ", getattr(error, "sqlstate", None)
        text = f"{said}{' '.join(str(error).split())[:300]}" + (f" ({code})" if code else "")
        if code is None:
            self.refusal = next((reason for reason in REFUSALS if _REFUSED[reason].search(text)), None)
        if self.refusal is not None:
            self.refused[self.refusal] += 1
        elif self._is_late or code == _CANCELLED:
            return CollectorError(
                f"{said}no complete answer within {self._login.deadline:g} s; the server hangs or is overloaded"
            )
        if self.refusal == "slots":
            return CollectorError(
                f"{text}: every connection is taken. A session that is opened before the load is kept; PostgreSQL 16 "
                f"keeps one with reserved_connections and GRANT pg_use_reserved_connections TO {self._login.user};"
            )
        if self.refusal == "account":
            place = "pg_hba.conf of the server"
            if self._login.product == "PgBouncer":
                place = f"auth_file and `stats_users = {self._login.user}` in pgbouncer.ini"
            return PrivilegeError(f"{text}: check user, password and database here, and {place}")
        if code == _NO_RIGHT:
            return PrivilegeError(text)
        return CollectorError(text)
