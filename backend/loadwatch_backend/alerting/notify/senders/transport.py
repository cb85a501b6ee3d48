"""One HTTP request of a notification: checked address, no redirects, bounded answer, connections kept."""

import base64
import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from urllib.parse import unquote, urlsplit

from loadwatch_formats.deadline import Deadline, DeadlineSocket
from urllib3 import BaseHTTPResponse
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError
from urllib3.util import SKIP_HEADER

from loadwatch_backend.alerting.notify.senders.sockets import (
    Dialer,
    ForbiddenAddressError,
    TlsConfig,
    describe_error,
    describe_file_error,
    tls_context,
    wrap_tls,
)

MOST_BYTES = 256 * 1024
"""What one answer may hold with its headers, on the wire: far more than is read, far less than fills the memory."""
MOST_BODY = 64 * 1024
"""How much of an answer's body is read; a connection whose answer is longer is closed."""
IDLE_SECONDS = 30.0
IDLE_PER_HOST = 4


class BadAddressError(ValueError):
    """The URL is none that can be sent to; the text never holds it, for it may hold a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    url: str
    body: bytes
    headers: Mapping[str, str]
    tls: TlsConfig = field(default_factory=TlsConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """A status with the head of the body, or an error; `forbidden` if the address is not allowed."""

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
    scheme: str
    host: str
    port: int
    target: str
    user: str
    """`user:password` of the URL, decoded; empty without."""

    @property
    def host_header(self) -> str:
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


class _Connection(HTTPConnection):
    """A connection to an address that was checked; its exchanges end by `deadline`. `address` is empty before."""

    def __init__(self, place: HttpAddress, dialer: Dialer, context: ssl.SSLContext, tls: TlsConfig) -> None:
        super().__init__(place.host, place.port)
        self.deadline = Deadline()
        self.address = ""
        self.idle_since = 0.0
        self._place = place
        self._dialer = dialer
        self._context = context if place.scheme == "https" else None
        self._server_name = tls.server_name or place.host

    def _new_conn(self) -> DeadlineSocket:
        plain, self.address = self._dialer.dial(self._place.host, self._place.port, self.deadline)
        return plain if self._context is None else wrap_tls(self._context, plain, self._server_name, self.deadline)


class Transport:
    """Posts, and keeps connections for the next post. Safe to use from any thread."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self._lock = threading.Lock()
        self._idle: defaultdict[tuple[str, str, int, TlsConfig], list[_Connection]] = defaultdict(list)
        self._contexts: dict[TlsConfig, ssl.SSLContext] = {}

    @property
    def dialer(self) -> Dialer:
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
        ends = time.monotonic() + seconds
        try:
            place = parse_address(request.url)
        except BadAddressError as error:
            return HttpAnswer(error=str(error), unusable=True)
        try:
            context = self.context(request.tls)
        except OSError as error:
            return HttpAnswer(error=f"tls_config: {describe_file_error(error)}", unusable=True)
        key = (place.scheme, place.host, place.port, request.tls)
        while True:
            kept = self._take(key)
            connection = kept or _Connection(place, self._dialer, context, request.tls)
            connection.deadline.start(ends - time.monotonic(), MOST_BYTES)
            try:
                response = _send(connection, place, request)
            except (OSError, HTTPException, ValueError, ForbiddenAddressError) as error:
                connection.close()
                if kept is not None and isinstance(error, ConnectionError):
                    continue  # The other side closed a kept connection before it answered anything.
                forbidden = isinstance(error, ForbiddenAddressError)
                return HttpAnswer(error=_describe(error), address=connection.address, forbidden=forbidden)
            return self._read(key, connection, response)

    def close(self) -> None:
        with self._lock:
            idle = [one for many in self._idle.values() for one in many]
            self._idle.clear()
        for one in idle:
            one.close()

    def _take(self, key: tuple[str, str, int, TlsConfig]) -> _Connection | None:
        while True:
            with self._lock:
                if not self._idle[key]:
                    return None
                found = self._idle[key].pop()
            if time.monotonic() - found.idle_since < IDLE_SECONDS and found.is_connected:
                return found
            found.close()

    def _read(
        self, key: tuple[str, str, int, TlsConfig], connection: _Connection, response: BaseHTTPResponse
    ) -> HttpAnswer:
        body, problem = b"", ""
        try:
            body = response.read(MOST_BODY + 1)
        except (HTTPError, OSError, ValueError) as error:
            problem = _describe(error.__cause__ or error)
        with self._lock:
            # Where the answer goes on, or its end is that of the connection, nothing else can be sent.
            keep = len(body) <= MOST_BODY and not problem and connection.is_connected
            keep = keep and len(self._idle[key]) < IDLE_PER_HOST
            if keep:
                connection.idle_since = time.monotonic()
                self._idle[key].append(connection)
        if not keep:
            connection.close()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return HttpAnswer(
            status=response.status, headers=headers, body=body[:MOST_BODY], error=problem, address=connection.address
        )


def _send(connection: _Connection, place: HttpAddress, request: HttpRequest) -> BaseHTTPResponse:
    headers = {"Host": place.host_header, "Accept-Encoding": SKIP_HEADER, **request.headers}
    if place.user and "Authorization" not in headers:
        headers["Authorization"] = "Basic " + base64.b64encode(place.user.encode()).decode()
    connection.request(
        "POST",
        place.target,
        body=request.body,
        headers=headers,
        preload_content=False,
        decode_content=False,
        enforce_content_length=False,
    )
    return connection.getresponse()


def _describe(error: BaseException) -> str:
    if isinstance(error, RemoteDisconnected | IncompleteRead):
        return "the connection was closed before the answer was whole"
    if isinstance(error, HTTPException):
        return f"the answer is not HTTP: {type(error).__name__} {str(error)[:200]}".rstrip()
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return "a header of the request holds characters that headers may not"
    return describe_error(error)
