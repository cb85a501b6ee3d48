"""One connection to a Redis or Valkey server, kept. The agent's only importer of redis-py.

A question without an answer stays asked, and the next reading waits on for it: a server that is held by a long command
never has more than one of ours before it, and what it says first when it is free again is read at once.

redis-py is imported when the first connection is made, so that the base install can check a configuration without it.
"""

import socket
import ssl
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from loadwatch_formats.deadline import AnswerTooLongError, Deadline, DeadlineSocket, shut_down, tls_socket_class
from loadwatch_formats.own_traffic import NAME

from loadwatch_collectors.collector import address_of
from loadwatch_collectors.errors import CollectorError, ConfigError, PrivilegeError
from loadwatch_collectors.settings import Seconds, option, read_secret
from loadwatch_collectors.transport.http_page import tls_context
from loadwatch_collectors.transport.kept import KeptConnection

Command = tuple[str, ...]
DEFAULT_PORT = 6379
_MOST_BYTES = 4 * 1024 * 1024
_AT_ONCE_SECONDS = 0.005
_BUSY_SECONDS = 0.2


class NoAnswerError(CollectorError):
    """The server is there and has not answered yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisLogin:
    is_database: ClassVar = True
    url: str = option(
        help="Address of the server, redis:// or with TLS rediss://; a user stands before the host.",
        metavar="redis://127.0.0.1:6379",
    )
    password_file: str | None = option(help="File with the password.", default=None)
    password_env: str | None = option(help="Environment variable with the password.", default=None)
    ca_file: str | None = option(help="PEM file with the certificates to trust instead of the system's.", default=None)
    deadline: Seconds = option(
        help="Time that one reading may take, at most nine tenths of the interval; the next one waits on.", default=4.0
    )

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("redis", "rediss") or not parts.hostname:
            raise ValueError("url must be an address such as redis://127.0.0.1:6379, or rediss:// for TLS")
        _ = parts.port  # raises ValueError when it is no port
        if parts.password is not None or parts.query:
            raise ValueError("url holds no password and no options; give password_file or password_env")
        if self.ca_file is not None and parts.scheme != "rediss":
            raise ValueError("ca_file belongs to a rediss:// url")
        if self.deadline <= 0:
            raise ValueError("deadline must be above 0")

    @property
    def address(self) -> str:
        parts = urlsplit(self.url)
        return address_of(parts.hostname or "", parts.port or DEFAULT_PORT)


class RedisSession(KeptConnection):
    def __init__(self, login: RedisLogin) -> None:
        """Read the secrets; nothing is dialled yet.

        Raises:
            ConfigError: the password or the certificates cannot be read, or redis-py is not installed.
        """
        if find_spec("redis") is None:
            raise ConfigError('reading Redis needs redis-py, which is not installed: pip install "loadwatch[redis]"')
        parts = urlsplit(login.url)
        self._login, self._host, self._port = login, parts.hostname or "", parts.port or DEFAULT_PORT
        self.where = f"Redis at {self._host}:{self._port}"
        super().__init__(f"{self.where}: the session was closed")
        self.user = unquote(parts.username or "")
        """Empty for the default user."""
        password = read_secret(what=f"the password of {self.where}", file=login.password_file, env=login.password_env)
        who = [self.user] if self.user else []
        self._greeting: list[Command] = [("AUTH", *who, password or "")] if who or password else []
        self._greeting.append(("CLIENT", "SETNAME", NAME))
        self.answered = Counter[str]()
        """Commands that the server ran for this session, as INFO commandstats names them."""
        self.waited = 0.0
        """Seconds from the last question to its answer, or since the server said that it is busy first."""
        self._deadline = Deadline()
        self._tls: ssl.SSLContext | None = None
        if parts.scheme == "rediss":
            self._tls = tls_context(login.ca_file, insecure=False)
            self._tls.sslsocket_class = tls_socket_class(self._deadline)
        self._connection: Any = None
        self._socket: socket.socket | None = None
        self._asked: list[Command] = []
        self._answers: list[Any] = []
        self._since = 0.0
        self._greeted = False

    def ask(self, commands: Sequence[Command], seconds: float) -> Mapping[Command, Any]:
        """Answers of commands in one exchange, of the question still open if there is one; an error is an answer, too.

        Raises:
            NoAnswerError: nothing came within `seconds`; call again to wait on.
            CollectorError: the server is away or refuses.
        """
        with self._use():
            return self._ask(commands, time.monotonic() + seconds)

    def _ask(self, commands: Sequence[Command], until: float) -> Mapping[Command, Any]:
        import redis

        kept = self._connection is not None
        while True:
            began, resumed = time.monotonic(), bool(self._asked)
            try:
                if not resumed:
                    self._send(commands)
                self._deadline.extend(max(until - time.monotonic(), 0.001))
                answers = self._receive()
            except redis.TimeoutError as error:
                reached = self._socket is not None
                if not self._asked:
                    self._end()
                if not reached:
                    raise CollectorError(f"{self.where}: no connection in {self._login.deadline:g} s") from error
                raise self._no_answer() from error
            except (redis.RedisError, OSError, ValueError, RecursionError) as error:
                self._end()
                if not kept or self._closed.is_set() or isinstance(error, redis.AuthenticationError):
                    raise self._describe(error) from error
                kept = False  # the server was started anew, for example: that deserves one new dial
                continue
            if any(_is_busy(answer) for answer in answers.values()):
                # What Redis answers beside a script that runs for long: it is held as before.
                if time.monotonic() + _BUSY_SECONDS >= until or self._closed.wait(_BUSY_SECONDS):
                    self._closed.wait(max(until - time.monotonic(), 0))
                    raise self._no_answer()
                continue
            self.waited, self._since = time.monotonic() - self._since, 0.0
            if not resumed or time.monotonic() - began > _AT_ONCE_SECONDS:
                return answers
            # Else it came while nobody waited, and may be old.

    def _send(self, commands: Sequence[Command]) -> None:
        self._answers, self._since = [], self._since or time.monotonic()
        self._deadline.start(self._login.deadline, _MOST_BYTES)
        if self._connection is None:
            self._connection = self._connect()
        asked = [*([] if self._greeted else self._greeting), *commands]
        self._connection.send_packed_command(self._connection.pack_commands(asked), check_health=False)
        self._asked = asked

    def _receive(self) -> Mapping[Command, Any]:
        import redis

        while len(self._answers) < len(self._asked):
            command = self._asked[len(self._answers)]
            try:
                answer = self._connection.read_response(disconnect_on_error=False)
            except (redis.ResponseError, redis.BusyLoadingError) as refused:
                answer = refused
            else:
                self.answered["|".join(command[:1] if command[0] in ("AUTH", "INFO") else command[:2]).lower()] += 1
            self._answers.append(answer)
        answers = dict(zip(self._asked, self._answers, strict=True))
        self._asked, self._greeted = [], not any(_is_busy(answers.get(one)) for one in self._greeting)
        return answers

    def _connect(self) -> Any:
        import redis

        session = self

        class Bounded(redis.Connection):
            """Obeys the session's deadline and bound of bytes, over TLS too."""

            def _connect(self) -> socket.socket:
                # redis-py has no types for it.
                plain: Any = super()._connect()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
                session._socket = plain = DeadlineSocket.adopt(plain, session._deadline)
                if session._tls is not None:
                    session._socket = session._tls.wrap_socket(plain, server_hostname=session._host)
                return session._socket

        seconds = self._login.deadline
        made: Any = Bounded(host=self._host, port=self._port, socket_timeout=seconds, protocol=2, driver_info=None)
        made.connect()
        return made

    def _wake(self) -> None:
        self._deadline.cancel()
        shut_down(self._socket)

    def _end(self) -> None:
        connection, self._connection, self._socket = self._connection, None, None
        self._greeted, self._asked, self._since = False, [], 0.0
        if connection is not None:
            connection.disconnect()

    def _no_answer(self) -> NoAnswerError:
        return NoAnswerError(
            f"{self.where} has not answered yet: it runs one command at a time, and a long one (a script, KEYS) holds "
            "it; the question waits"
        )

    def _describe(self, error: Exception) -> CollectorError:
        import redis

        cause = error.__cause__ or error.__context__
        given = self._login.password_file or self._login.password_env or "password_file or password_env"
        text = " ".join(str(next((one for one in self._answers if isinstance(one, Exception)), error)).split())[:300]
        if isinstance(error, redis.AuthenticationError):
            who = self.user or "the default user"
            return PrivilegeError(
                f"{self.where} refused {who}: {text}: check the user in url and the password in {given}"
            )
        if isinstance(cause, ssl.SSLError):
            text = f"TLS failed: {cause}; ca_file names the certificates to trust"
        elif isinstance(cause, AnswerTooLongError) or not isinstance(error, redis.RedisError):
            text = f"Redis gives no such answer ({cause or error}); is this its port?"
        return CollectorError(f"{self.where}: {text}")


def _is_busy(answer: object) -> bool:
    return isinstance(answer, Exception) and str(answer).startswith("BUSY ")
