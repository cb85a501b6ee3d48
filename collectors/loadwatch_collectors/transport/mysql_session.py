"""One session with a MySQL or MariaDB server, opened early and kept.

When max_connections is reached, only who is already connected still sees anything, so a session is never given up
while it works. Values arrive as text and are not converted: most of them are only passed on.

The server names the way in which a client logs in, so whoever stands in its place may ask for the password itself. Ways
that prove knowledge of it (mysql_native_password, client_ed25519, the first step of caching_sha2_password) go anywhere;
all others only to who has proved to be the server.
"""

import functools
import ipaddress
import re
import socket
import ssl
import struct
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

import pymysql
from loadwatch_formats.deadline import Deadline, DeadlineSocket, shut_down, tls_socket_class
from loadwatch_formats.own_traffic import COMMENT, NAME
from loadwatch_formats.statements.fingerprint import digest_of
from pymysql.constants import CR, ER
from pymysql.err import MySQLError

from loadwatch_collectors.collector import address_of
from loadwatch_collectors.errors import CollectorError, ConfigError, PrivilegeError
from loadwatch_collectors.settings import Seconds, option, read_secret
from loadwatch_collectors.transport.kept import KeptSession

_VERIFIED = ("verify_ca", "verify_identity")
_PROOFS = frozenset({b"mysql_native_password", b"client_ed25519", b"caching_sha2_password", b"sha256_password"})
"""Authentication plugins that never send the password itself; the SHA-2 ones ask `_secure` first."""

_REMEDY = "set tls: verify_identity, and tls_ca_file unless a public authority signed the server's certificate"


def is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host.lower() in ("localhost", "localhost.")


def may_show_password(tls: str, local_socket: bool, *, peer: str, encrypted: bool) -> bool:
    """Whether a SHA-2 account's password may go out itself over a connection to the address `peer`.

    That is how MySQL 8's usual accounts log in for the first time. Encryption without proof is enough on this host, and
    where the user said so by `tls: required`; else whoever stands in between would read it.
    """
    if local_socket:
        return True
    return encrypted and (tls in (*_VERIFIED, "required") or is_loopback(peer))


if TYPE_CHECKING:
    _Base = pymysql.Connection[Any]
else:
    _Base = pymysql.Connection


class GuardedConnection(_Base):
    """A PyMySQL connection that gives its password to nobody who has not proved to be the server."""

    def __init__(self, *, tls: str, unix_socket_path: str, **settings: Any) -> None:
        """`tls` is the mode of the login, all further `settings` PyMySQL's own; nothing is dialled."""
        self._tls_mode = tls
        self._local = bool(unix_socket_path)
        super().__init__(defer_connect=True, **settings)

    @property
    def _secure(self) -> bool:
        """Whether the password may go out itself; PyMySQL looks at it where a SHA-2 account needs that.

        It raises in place of False, after which PyMySQL would encrypt the password with any key that is offered to it.
        """
        untyped: Any = self
        connected = untyped._sock
        encrypted = isinstance(connected, ssl.SSLSocket)
        peer = "" if self._local else str(connected.getpeername()[0])
        if not untyped.password or may_show_password(self._tls_mode, self._local, peer=peer, encrypted=encrypted):
            return True
        if not encrypted:
            raise _refusal(
                "the server asks for the password itself (caching_sha2_password) over a connection that is not "
                f"encrypted; enable TLS on the server, do not set tls: off, and {_REMEDY}"
            )
        raise _refusal(
            "the server asks for the password itself (caching_sha2_password), and nobody has checked its certificate; "
            f"{_REMEDY}; or tls: required, where nobody can stand between agent and server"
        )

    @_secure.setter
    def _secure(self, _value: bool) -> None:
        """PyMySQL's own idea of it, which counts any TLS, is not taken over."""

    def _request_authentication(self) -> None:
        untyped: Any = self
        if untyped._auth_plugin_name == "sha256_password":
            # PyMySQL would send the password with its first packet over any TLS; the server asks again if it needs it.
            untyped._auth_plugin_name = "mysql_native_password"
        base: Any = super()
        base._request_authentication()

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        untyped: Any = self
        proved = self._local or (isinstance(untyped._sock, ssl.SSLSocket) and self._tls_mode in _VERIFIED)
        if plugin_name not in _PROOFS and not proved:
            raise _refusal(
                f"the server asks to log in by the plugin {plugin_name.decode('ascii', 'replace')[:60]!r}, which shows "
                f"the password to whoever asks; {_REMEDY}, or give unix_socket"
            )
        base: Any = super()
        return base._process_auth(plugin_name, auth_packet, handler)


def _refusal(text: str) -> pymysql.OperationalError:
    return pymysql.OperationalError(CR.CR_AUTH_PLUGIN_CANNOT_LOAD, text)


Row = tuple[str | None, ...]
"""A row of a result: text, or None for NULL."""

LIMIT_MARIADB = "SET SESSION max_statement_time = {seconds}, SESSION lock_wait_timeout = 2"
LIMIT_MYSQL = "SET SESSION max_execution_time = {milliseconds}, SESSION lock_wait_timeout = 2"
LIMIT_MYSQL_8 = LIMIT_MYSQL + ", SESSION information_schema_stats_expiry = 0"
"""MySQL 8 shows table sizes that are up to a day old unless it is told otherwise."""

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
_T = TypeVar("_T")
# No decoders: every value stays text.
_ENCODERS: dict[Any, Any] = dict(pymysql.converters.encoders)
_TLS_MODES = ("preferred", "off", "required", "verify_ca", "verify_identity")
_DENIED = frozenset(
    {
        ER.ACCESS_DENIED_ERROR,
        ER.DBACCESS_DENIED_ERROR,
        ER.TABLEACCESS_DENIED_ERROR,
        ER.COLUMNACCESS_DENIED_ERROR,
        ER.SPECIFIC_ACCESS_DENIED_ERROR,
        ER.VIEW_NO_EXPLAIN,
        1698,  # ER_ACCESS_DENIED_NO_PASSWORD_ERROR, which PyMySQL does not list
    }
)
_KILLED = (1927, 4031)
"""The server ended the session: killed on MariaDB, idle for too long on MySQL 8.0.24 and later."""

_SERVER_BUSY = frozenset({ER.CON_COUNT_ERROR, ER.TOO_MANY_USER_CONNECTIONS, ER.USER_LIMIT_REACHED})


SERVER_KEYS = (("host", "port", "unix_socket"), ("tls", "tls_ca_file", "tls_cert_file", "tls_key_file"))
"""Keys of a login that say which server it is, and how it proves itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLLogin:
    is_database: ClassVar = True
    host: str = option(help="Address of the server.", default="127.0.0.1")
    port: int = option(help="Port of the server.", default=3306)
    unix_socket: str = option(help="Path of the server's socket, instead of host and port.", default="")
    user: str = option(help="Account to log in with.")
    password_file: str | None = option(help="File with the password.", default=None)
    password_env: str | None = option(help="Environment variable with the password.", default=None)
    database: str = option(help="Default database of the session.", default="")
    tls: str = option(
        help="preferred (encrypted if the server can), off, required, verify_ca (certificate of a trusted authority), "
        "or verify_identity (certificate of this host).",
        default="preferred",
    )
    tls_ca_file: str | None = option(
        help="PEM file with the certificates to trust instead of the system's.", default=None
    )
    tls_cert_file: str | None = option(help="PEM file with the client's own certificate.", default=None)
    tls_key_file: str | None = option(help="PEM file with the key of the client's own certificate.", default=None)
    deadline: Seconds = option(help="Time that one whole reading may take, login included.", default=4.0)
    iam_auth: bool = option(
        help="Log in to RDS by IAM: a token signed with the agent's AWS credentials is the password. "
        "TLS is then verify_identity, or verify_ca if you say so.",
        default=False,
    )
    iam_region: str | None = option(
        help="Region of the server for iam_auth; that in its name, or the environment's, without it.", default=None
    )

    def __post_init__(self) -> None:
        if self.iam_auth:
            _check_iam(self)
        elif self.iam_region:
            raise ValueError("iam_region has an effect only with iam_auth: true")
        if self.tls not in _TLS_MODES:
            raise ValueError(f"tls must be one of {', '.join(_TLS_MODES)}, not {self.tls!r}")
        if self.tls_ca_file and self.tls_mode not in ("verify_ca", "verify_identity"):
            raise ValueError("tls_ca_file has an effect only with tls: verify_ca or verify_identity")
        if self.tls_cert_file and self.tls == "off":
            raise ValueError("tls_cert_file has no effect with tls: off")
        if not 0 < self.port < 65536:
            raise ValueError(f"port must be between 1 and 65535, not {self.port}")
        if self.deadline <= 0:
            raise ValueError("deadline must be above 0")

    @property
    def address(self) -> str:
        return "" if self.unix_socket else address_of(self.host, self.port)

    @property
    def tls_mode(self) -> str:
        """The mode in force: a token goes only to who has proved to be the server."""
        return "verify_identity" if self.iam_auth and self.tls == "preferred" else self.tls


def _check_iam(login: MySQLLogin) -> None:
    if login.password_file or login.password_env:
        raise ValueError("iam_auth makes the password; leave password_file and password_env out")
    if login.unix_socket or login.tls == "off":
        raise ValueError("iam_auth sends its token only over TLS; leave unix_socket and tls: off out")
    if login.tls == "required":
        raise ValueError(
            "iam_auth shows its token to the server, so tls must be verify_identity (without it) or verify_ca"
        )


class ServerVersion(NamedTuple):
    text: str

    @property
    def is_mariadb(self) -> bool:
        return "mariadb" in self.text.lower()

    @property
    def numbers(self) -> tuple[int, int, int]:
        """The version's three numbers; zeros when the text has none."""
        match = _VERSION.search(self.text.removeprefix("5.5.5-"))  # MariaDB's prefix for old replicas
        return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)


class LoginPassword(Protocol):
    """Makes the password of each login, where that is not a configured one."""

    denied_hint: str
    certificate_hint: str

    def __call__(self) -> str: ...

    def forget(self) -> None:
        """Make another one for the next login: this one was refused."""
        ...


OWN_DIGESTS: set[str] = set()
"""Digests of all statements that this agent has sent: the server's digests keep no comment."""
_SESSIONS: "weakref.WeakSet[MySQLSession]" = weakref.WeakSet()
_digest_of = functools.lru_cache(maxsize=1_024)(digest_of)


class MySQLSession(KeptSession):
    def __init__(
        self,
        login: MySQLLogin,
        on_connect: Callable[["MySQLSession"], object] | None = None,
        password: LoginPassword | None = None,
    ) -> None:
        """Read the password; nothing is dialled yet. `on_connect` is called in each new session, before its first use.

        `password` makes that of each login; one with `iam_auth` needs it.

        Raises:
            ConfigError: the password or the certificates cannot be read.
        """
        self._login = login
        self.where = login.unix_socket or f"{login.host}:{login.port}"
        super().__init__(f"MySQL at {self.where}: the session was closed")
        self._password = read_secret(
            what=f"the password of {login.user} at {self.where}", file=login.password_file, env=login.password_env
        )
        self._made_password = password
        self._deadline = Deadline()
        self._tls = _tls_context(login, self._deadline)
        self._on_connect = on_connect
        self._connection: pymysql.Connection[Any] | None = None
        self.version = ServerVersion(text="")
        self._dialled: socket.socket | None = None
        _SESSIONS.add(self)

    def run(self, work: Callable[[], _T]) -> _T:
        self._deadline.start(self._login.deadline)
        return super().run(work)

    def query(self, sql: str, parameters: Sequence[object] = ()) -> Sequence[Row]:
        """The rows of a statement; only within `run`."""
        with self._executed(sql, parameters) as cursor:
            return cursor.fetchall()

    def query_named(self, sql: str) -> list[dict[str, str | None]]:
        """The rows of a statement by their columns' names in small letters; only within `run`."""
        with self._executed(sql) as cursor:
            names = [str(column[0]).lower() for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run a statement that changes rows; their number. Only within `run`."""
        with self._executed(sql, parameters) as cursor:
            return cursor.rowcount

    def own_ids(self) -> list[int]:
        """Return the connection ids of this agent's sessions with the same server, its own included."""
        connections: list[Any] = [one._connection for one in tuple(_SESSIONS) if one.where == self.where]
        return [int(one.thread_id()) for one in connections if one is not None]

    @contextmanager
    def _executed(self, sql: str, parameters: Sequence[object] = ()) -> Generator[Any]:
        if self._connection is None:
            raise CollectorError(self._closed_text)
        OWN_DIGESTS.add(_digest_of(sql))
        with self._understood(), self._connection.cursor() as cursor:
            cursor.execute(f"{sql} {COMMENT}", tuple(parameters) or None)
            yield cursor

    def quote(self, value: str) -> str:
        return "'" + pymysql.converters.escape_string(value) + "'"

    def _wake(self) -> None:
        self._deadline.cancel()
        shut_down(self._dialled)

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        self._dialled = None
        if connection is not None:
            _drop(connection)

    def _attempt(self, work: Callable[[], _T]) -> _T:
        try:
            if self._connection is None:
                self._connect()
            return work()
        except BaseException as error:
            # After an error of the server the session is in order; after anything else it is unknown what comes next.
            if not isinstance(error, MySQLError) or _is_gone(error):
                self._end()
            raise

    def _connect(self) -> None:
        login = self._login
        connection = GuardedConnection(
            tls=login.tls_mode,
            unix_socket_path=login.unix_socket,
            host=login.host,
            port=login.port,
            user=login.user,
            # As text, PyMySQL would send it in Latin-1; clients in UTF-8 set it.
            password=(self._made_password() if self._made_password is not None else self._password or "").encode(),
            database=login.database or None,
            charset="utf8mb4",
            autocommit=True,
            conv=_ENCODERS,
            ssl=self._tls if login.tls_mode != "preferred" else None,
            ssl_disabled=self._tls is None,
            program_name=NAME,
        )
        if self._tls is not None:
            untyped: Any = connection
            untyped.ctx = self._tls  # also when the server may do without: PyMySQL's own knows no deadline
        try:
            with self._understood():
                connection.connect(self._dial())
            self._dialled = getattr(connection, "_sock", None)  # over TLS it is another one than was dialled
        except BaseException:
            _drop(connection)
            raise
        self._connection = connection
        self.version = ServerVersion(text=str(getattr(connection, "server_version", "")))
        self._limit_statements()
        if self._on_connect is not None:
            self._on_connect(self)

    @contextmanager
    def _understood(self) -> Generator[None]:
        """Turn what PyMySQL raises on malformed packets into a CollectorError."""
        try:
            yield
        except (RuntimeError, ValueError, IndexError, AssertionError, struct.error) as error:
            raise CollectorError(
                f"MySQL at {self.where}: {error or type(error).__name__}; is this a MySQL or MariaDB server?"
            ) from error

    def _limit_statements(self) -> None:
        """Let the server end a statement before the deadline, at which the session would be given up."""
        seconds = self._login.deadline * 0.75
        if self.version.is_mariadb:
            self.execute(LIMIT_MARIADB.format(seconds=f"{seconds:.3f}"))
        elif self.version.numbers >= (5, 7, 8):
            text = LIMIT_MYSQL_8 if self.version.numbers >= (8, 0, 3) else LIMIT_MYSQL
            self.execute(text.format(milliseconds=int(seconds * 1000)))

    def _dial(self) -> DeadlineSocket:
        login = self._login
        try:
            if login.unix_socket:
                plain = _connect_unix(login.unix_socket, self._deadline.remaining())
            else:
                plain = socket.create_connection((login.host, login.port), self._deadline.remaining())
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError as error:
            raise pymysql.OperationalError(CR.CR_CONN_HOST_ERROR, _system_error(error)) from error
        dialled = DeadlineSocket.adopt(plain, self._deadline)
        self._dialled = dialled
        return dialled

    @property
    def _errors(self) -> type[Exception]:
        return MySQLError

    @property
    def _is_open(self) -> bool:
        return self._connection is not None

    @property
    def _is_late(self) -> bool:
        try:
            self._deadline.remaining()
        except TimeoutError:
            return True
        return False

    def _describe(self, error: Exception) -> CollectorError:
        code, text = _code(error), str(error.args[-1]) if error.args else str(error)
        said = f"MySQL at {self.where}: "
        if self._is_late:
            return CollectorError(
                f"{said}no complete answer within {self._login.deadline:g} s; the server hangs or is overloaded"
            )
        if code in _SERVER_BUSY:
            return CollectorError(
                f"{said}{text} ({code}): every connection is taken. A session that is opened before the load is kept; "
                "for the server's one extra connection grant CONNECTION_ADMIN (MariaDB: CONNECTION ADMIN)"
            )
        if code in _DENIED:
            if self._made_password is not None:
                self._made_password.forget()
                return PrivilegeError(f"{said}{text} ({code}). {self._made_password.denied_hint}")
            return PrivilegeError(f"{said}{text} ({code})")
        if self._made_password is not None and "CERTIFICATE_VERIFY_FAILED" in text:
            return CollectorError(f"{said}{text}. {self._made_password.certificate_hint}")
        return CollectorError(f"{said}{text}" + (f" ({code})" if code else ""))


def _connect_unix(path: str, seconds: float) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        made.connect(path)
    except BaseException:
        made.close()
        raise
    return made


def _system_error(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; is the server running on this port?"
    if isinstance(error, FileNotFoundError):
        return "there is no such socket; is the server running?"
    return str(error)


def _drop(connection: "pymysql.Connection[Any]") -> None:
    """Close without COM_QUIT, which a hung server would not take."""
    shut_down(getattr(connection, "_sock", None))
    with suppress(MySQLError, OSError):
        connection.close()


def _code(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _is_gone(error: MySQLError) -> bool:
    """Whether the session is lost; CR_* codes are the client's own, all the others come from the server."""
    return _code(error) < 1000 or 2000 <= _code(error) < 3000 or _code(error) in (ER.SERVER_SHUTDOWN, *_KILLED)


def _tls_context(login: MySQLLogin, deadline: Deadline) -> ssl.SSLContext | None:
    if login.tls_mode == "off" or (login.tls_mode == "preferred" and login.unix_socket):
        return None
    try:
        context = ssl.create_default_context(cafile=login.tls_ca_file)
        if login.tls_cert_file:
            context.load_cert_chain(login.tls_cert_file, login.tls_key_file)
    except OSError as error:
        raise ConfigError(f"the certificates for MySQL at {login.host} cannot be read: {error}") from error
    # MySQL's own generated certificates lack the extensions that strict checking asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.check_hostname = login.tls_mode == "verify_identity"
    if login.tls_mode in ("preferred", "required"):
        context.verify_mode = ssl.CERT_NONE
    context.sslsocket_class = tls_socket_class(deadline)
    return context
