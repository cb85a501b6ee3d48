"""One HTTP request of a notification: checked address, no redirects, bounded answer, connections kept."""

import base64
import http.client
import select
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from loadwatch_backend.notify.senders.http_config import TlsConfig
from loadwatch_backend.notify.senders.networks import ForbiddenAddressError
from loadwatch_backend.notify.senders.sockets import (
    BoundedSocket,
    BoundedTlsSocket,
    Budget,
    Dialer,
    describe_error,
    describe_file_error,
    tls_context,
    wrap_tls,
)

MOST_BODY = 64 * 1024
"""Of an answer's body, read; then the connection is closed."""
IDLE_SECONDS = 30.0
IDLE_PER_HOST = 4


class BadAddressError(ValueError):
    """The URL is none that can be sent to; the text never holds it, for it may hold a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What to post."""

    url: str
    body: bytes
    headers: Mapping[str, str]
    tls: TlsConfig = field(default_factory=TlsConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """How it went: a status with the head of the body, or an error. `forbidden`: an address that is not allowed."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    error: str = ""
    address: str = ""
    forbidden: bool = False
    unusable: bool = False
    """The request itself cannot be sent, now or later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAddress:
    """Where a URL leads."""

    scheme: str
    host: str
    port: int
    target: str
    user: str
    """`user:password` of the URL, decoded; empty without."""

    @property
    def host_header(self) -> str:
        """The value of `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.scheme == "https" else 80) else f"{host}:{self.port}"


def parse_address(url: str) -> HttpAddress:
    """Read an HTTP URL.

    Raises:
        BadAddressError: it is none.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna" if not (parts.hostname or "").isascii() else "ascii").decode()
    except ValueError as error:
        raise BadAddressError("the URL cannot be read") from error
    if parts.scheme not in ("http", "https") or not host:
        raise BadAddressError("the URL is not one of http:// or https:// with a host")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not target.isascii() or any(ord(character) <= 32 or ord(character) == 127 for character in target + host):
        raise BadAddressError("the URL holds characters that must be percent-encoded")
    user = ""
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return HttpAddress(
        scheme=parts.scheme, host=host, port=port or (443 if parts.scheme == "https" else 80), target=target, user=user
    )


@dataclass(slots=True, kw_only=True)
class _Kept:
    connection: http.client.HTTPConnection
    socket: BoundedSocket | BoundedTlsSocket
    address: str
    since: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    scheme: str
    host: str
    port: int
    tls: TlsConfig


class _StaleError(Exception):
    """A kept connection was closed by the other side before it answered anything: try on a new one."""


class Transport:
    """Posts, and keeps connections for the next post. Safe to use from any thread."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self._lock = threading.Lock()
        self._kept: dict[_Key, list[_Kept]] = {}
        self._contexts: dict[TlsConfig, ssl.SSLContext] = {}

    @property
    def dialer(self) -> Dialer:
        """What opens its connections."""
        return self._dialer

    def context(self, tls: TlsConfig) -> ssl.SSLContext:
        """The TLS context, made once: reading all authorities takes some 20 ms.

        Raises:
            OSError: a file of the configuration cannot be read.
        """
        with self._lock:
            found = self._contexts.get(tls)
            if found is None:
                found = self._contexts[tls] = tls_context(tls)
            return found

    def post(self, request: HttpRequest, seconds: float) -> HttpAnswer:
        """Send one request and read its answer, all within the time; never raises for what the other side does."""
        try:
            place = parse_address(request.url)
        except BadAddressError as error:
            return HttpAnswer(error=str(error), unusable=True)
        budget = Budget.of(seconds)
        key = _Key(scheme=place.scheme, host=place.host, port=place.port, tls=request.tls)
        kept = self._take(key)
        if kept is not None:
            try:
                return self._exchange(kept, key, place, request, budget, fresh=False)
            except _StaleError:
                budget = Budget(ends=budget.ends)
        return self._fresh(key, place, request, budget)

    def close(self) -> None:
        """Close what is kept."""
        with self._lock:
            kept = [one for many in self._kept.values() for one in many]
            self._kept.clear()
        for one in kept:
            one.connection.close()

    # Connections ------------------------------------------------------------------------------------------------------

    def _take(self, key: _Key) -> _Kept | None:
        old: list[_Kept] = []
        found: _Kept | None = None
        with self._lock:
            waiting = self._kept.get(key, [])
            while waiting and found is None:
                one = waiting.pop()
                if time.monotonic() - one.since < IDLE_SECONDS and not _is_readable(one.connection):
                    found = one
                else:
                    old.append(one)
        for one in old:
            one.connection.close()
        return found

    def _keep(self, key: _Key, kept: _Kept) -> None:
        kept.since = time.monotonic()
        with self._lock:
            waiting = self._kept.setdefault(key, [])
            waiting.append(kept)
            old = [waiting.pop(0)] if len(waiting) > IDLE_PER_HOST else []
        for one in old:
            one.connection.close()

    def _fresh(self, key: _Key, place: HttpAddress, request: HttpRequest, budget: Budget) -> HttpAnswer:
        address = ""
        try:
            context = self.context(request.tls)
        except OSError as error:
            return HttpAnswer(error=f"tls_config: {describe_file_error(error)}", unusable=True)
        try:
            raw, address = self._dialer.dial(place.host, place.port, budget)
            bounded: BoundedSocket | BoundedTlsSocket = raw
            if place.scheme == "https":
                bounded = wrap_tls(context, raw, request.tls.server_name or place.host, budget)
        except ForbiddenAddressError as error:
            return HttpAnswer(error=describe_error(error), forbidden=True)
        except (OSError, UnicodeError) as error:
            return HttpAnswer(error=describe_error(error), address=address)
        connection = http.client.HTTPConnection(place.host, place.port)
        connection.sock = bounded
        kept = _Kept(connection=connection, socket=bounded, address=address)
        return self._exchange(kept, key, place, request, budget, fresh=True)

    def _exchange(
        self, kept: _Kept, key: _Key, place: HttpAddress, request: HttpRequest, budget: Budget, *, fresh: bool
    ) -> HttpAnswer:
        connection = kept.connection
        kept.socket.budget = budget
        try:
            _send(connection, place, request)
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            if not fresh and isinstance(error, ConnectionError):
                raise _StaleError from error
            return HttpAnswer(error=_describe(error), address=kept.address)
        headers = {name.lower(): value for name, value in answer.getheaders()}
        body, problem = b"", ""
        try:
            body = answer.read(MOST_BODY)
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = _describe(error)
        if answer.isclosed() and not answer.will_close and not problem:
            self._keep(key, kept)
        else:
            connection.close()
        return HttpAnswer(status=answer.status, headers=headers, body=body, error=problem, address=kept.address)


def _send(connection: http.client.HTTPConnection, place: HttpAddress, request: HttpRequest) -> None:
    connection.putrequest("POST", place.target, skip_host=True, skip_accept_encoding=True)
    headers = {"Host": place.host_header, "Content-Length": str(len(request.body)), **request.headers}
    if place.user and "Authorization" not in headers:
        headers["Authorization"] = "Basic " + base64.b64encode(place.user.encode()).decode()
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders(request.body)


def _is_readable(connection: http.client.HTTPConnection) -> bool:
    """Whether something came on a connection that is idle: its end, most likely."""
    poll = select.poll()
    try:
        poll.register(connection.sock, select.POLLIN)
    except (OSError, ValueError):
        return True
    return bool(poll.poll(0))


def _describe(error: BaseException) -> str:
    if isinstance(error, http.client.RemoteDisconnected | http.client.IncompleteRead):
        return "the connection was closed before the answer was whole"
    if isinstance(error, http.client.HTTPException):
        return f"the answer is not HTTP: {type(error).__name__} {str(error)[:200]}".rstrip()
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return "a header of the request holds characters that headers may not"
    return describe_error(error)
