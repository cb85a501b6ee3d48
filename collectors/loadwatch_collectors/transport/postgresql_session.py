"""One session with a PostgreSQL server, opened early and kept. The agent's only importer of psycopg.

psycopg is imported when the first session is made, so that the base install can check a configuration without it.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from loadwatch_formats.own_traffic import COMMENT, NAME

from loadwatch_collectors.collector import address_of
from loadwatch_collectors.errors import CollectorError, ConfigError, PrivilegeError
from loadwatch_collectors.settings import Seconds, option, read_secret

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
_BUSY = "53300"
_NO_RIGHT = "42501"
_DENIED = ("28000", "28P01")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLLogin:
    """How to log in to a PostgreSQL server."""

    is_database: ClassVar = True
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
        """Check what types cannot say."""
        check_postgresql_login(self)

    @property
    def address(self) -> str:
        """Of the server; empty for the folder of a socket."""
        return "" if self.host.startswith("/") else address_of(self.host, self.port)


def check_postgresql_login(login: PostgreSQLLogin) -> None:
    """Raise ValueError for settings that contradict each other."""
    if login.tls not in _TLS_MODES:
        raise ValueError(f"tls must be one of {', '.join(_TLS_MODES)}, not {login.tls!r}")
    if login.tls.startswith("verify") != (login.tls_ca_file is not None):
        raise ValueError("tls_ca_file belongs to tls: verify_ca and tls: verify_identity, which need it")
    if not 0 < login.port < 65536:
        raise ValueError(f"port must be between 1 and 65535, not {login.port}")
    if login.deadline <= 0:
        raise ValueError("deadline must be above 0")


class PostgreSQLSession:
    """A kept session. Used by one thread at a time, except `close`."""

    def __init__(
        self, login: PostgreSQLLogin, on_connect: Callable[["PostgreSQLSession"], object] | None = None
    ) -> None:
        """Read the password; nothing is dialled yet. `on_connect` is called in each new session, before its first use.

        Raises:
            ConfigError: the password cannot be read, or psycopg is not installed.
        """
        if find_spec("psycopg") is None:
            raise ConfigError(
                'reading PostgreSQL needs psycopg, which is not installed: pip install "loadwatch[postgresql]"'
            )
        self._login = login
        self.where = f"{login.host}:{login.port}"
        self._password = read_secret(
            what=f"the password of {login.user} at {self.where}", file=login.password_file, env=login.password_env
        )
        self._on_connect = on_connect
        self._connection: psycopg.Connection[Row] | None = None
        self._until = 0.0
        self._lock = threading.Lock()
        self._running = self._closed = False

    def run(self, work: Callable[[], _T]) -> _T:
        """Call `work`, which may `query` as often as it likes within one deadline; connects first if need be.

        A session that turns out to be dead (the server was restarted) is opened anew once.

        Raises:
            CollectorError: no connection, no answer in time, or an error of the server.
        """
        import psycopg

        with self._lock:
            if self._closed:
                raise CollectorError(f"PostgreSQL at {self.where}: the session was closed")
            self._running = True
        self._until = time.monotonic() + self._login.deadline
        kept = self._connection is not None
        try:
            try:
                return self._attempt(work)
            except psycopg.Error as error:
                if not kept or self._connection is not None or self._is_late:
                    raise self._describe(error) from error
            try:
                return self._attempt(work)
            except psycopg.Error as error:
                raise self._describe(error) from error
        finally:
            with self._lock:
                self._running = False
                if self._closed:
                    self._end()

    def query(self, sql: str, parameters: Sequence[object] = ()) -> Sequence[Row]:
        """The rows of a statement; only within `run`."""
        if self._connection is None:
            raise CollectorError(f"PostgreSQL at {self.where}: the session was closed")
        return self._connection.execute(f"{sql} {COMMENT}".encode(), tuple(parameters) or None).fetchall()

    def execute(self, sql: str) -> None:
        """Run a statement that returns no rows; only within `run`."""
        if self._connection is None:
            raise CollectorError(f"PostgreSQL at {self.where}: the session was closed")
        self._connection.execute(f"{sql} {COMMENT}".encode())

    def close(self) -> None:
        """End the session for good; a `run` under way in another thread ends with an error."""
        with self._lock:
            self._closed = True
            if not self._running:
                self._end()
            elif self._connection is not None:
                # Only the thread that runs may take the connection apart; this wakes it.
                with suppress(OSError), socket.socket(fileno=os.dup(self._connection.fileno())) as same:
                    same.shutdown(socket.SHUT_RDWR)

    @property
    def _is_late(self) -> bool:
        return time.monotonic() >= self._until

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _attempt(self, work: Callable[[], _T]) -> _T:
        try:
            if self._connection is None:
                self._connect()
            return work()
        except BaseException as error:
            # After an error of the server the session is in order; after anything else it is unknown what comes next.
            if getattr(error, "sqlstate", None) is None or self._connection is None or self._connection.closed:
                self._end()
            raise

    def _connect(self) -> None:
        import psycopg

        session = self

        class Bounded(psycopg.Connection[Row]):
            """Gives up when an exchange outlasts the session's deadline: libpq has none of its own."""

            def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
                """See psycopg."""
                left = max(session._until - time.monotonic(), 0.001)
                try:
                    return super().wait(gen, interval, left if timeout is None else min(left, timeout))
                except psycopg.errors._WaitTimeout as error:  # pyright: ignore[reportPrivateUsage] - what its `wait` is said to raise
                    self.pgconn.finish()
                    raise psycopg.OperationalError("no answer in time") from error

        login = self._login
        self._connection = Bounded.connect(
            host=login.host,
            port=login.port,
            user=login.user,
            password=self._password,
            dbname=login.database,
            sslmode=_TLS_MODES[login.tls],
            sslrootcert=login.tls_ca_file,
            connect_timeout=max(2, int(login.deadline)),
            application_name=NAME,
            # The server ends a statement shortly before we would have to give up the session to get rid of it.
            options=f"-c statement_timeout={int(login.deadline * 750)} -c lock_timeout=2000",
            autocommit=True,
            prepare_threshold=None,
        )
        if self._on_connect is not None:
            self._on_connect(self)

    def _describe(self, error: "psycopg.Error") -> CollectorError:
        said, code = f"PostgreSQL at {self.where}: ", error.sqlstate
        if self._is_late:
            return CollectorError(
                f"{said}no complete answer within {self._login.deadline:g} s; the server hangs or is overloaded"
            )
        text = f"{said}{' '.join(str(error).split())[:300]}" + (f" ({code})" if code else "")
        if code == _BUSY:
            return CollectorError(
                f"{text}: every connection is taken. A session that is opened before the load is kept"
            )
        if code == _NO_RIGHT or code in _DENIED or "authentication failed" in text:
            return PrivilegeError(text)
        return CollectorError(text)
