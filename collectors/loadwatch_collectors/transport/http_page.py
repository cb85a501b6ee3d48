"""One page of one HTTP server, read again and again over a connection that stays open.

Keeping the connection is not only cheaper: when a target has run out of file descriptors, who dials anew is refused,
and who is already connected still sees everything.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import urllib3
from loadwatch_formats.deadline import Deadline, DeadlineSocket, shut_down, tls_socket_class
from loadwatch_formats.own_traffic import AGENT
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from loadwatch_collectors.collector import address_of
from loadwatch_collectors.errors import CollectorError, ConfigError, PrivilegeError
from loadwatch_collectors.settings import Bytes, Seconds, option, read_secret
from loadwatch_collectors.transport.kept import KeptConnection

_CHUNK = 65536
_EXCERPT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """How to reach a page: what every source that reads one over HTTP lets you set."""

    url: str = option(help="Address of the page, http:// or https://.", metavar="http://127.0.0.1:8080/")
    headers: dict[str, str] = option(help="Further request headers.", default_factory=dict)
    bearer_token_file: str | None = option(help="File with a bearer token to send.", default=None)
    bearer_token_env: str | None = option(help="Environment variable with a bearer token to send.", default=None)
    ca_file: str | None = option(help="PEM file with the certificates to trust instead of the system's.", default=None)
    insecure_tls: bool = option(help="Accept any certificate.", default=False)
    deadline: Seconds = option(help="Time that one whole request may take.", default=4.0)
    max_body: Bytes = option(help="Largest body that is read, after decompression.", default=16 * 1024 * 1024)

    def __post_init__(self) -> None:
        check_url(self.url)
        if self.deadline <= 0:
            raise ValueError("deadline must be above 0")
        if self.max_body <= 0:
            raise ValueError("max_body must be above 0")

    @property
    def address(self) -> str:
        parts = urlsplit(self.url)
        default = 443 if parts.scheme == "https" else 80
        return address_of(parts.hostname, parts.port or default) if parts.hostname else ""


def check_url(url: str) -> None:
    """Raise ValueError unless `url` is an absolute http or https address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not an address such as http://127.0.0.1:8080/")
    _ = parts.port  # raises ValueError when it is no port


class Page(NamedTuple):
    """A page as read: `body` is decompressed, `content_type` is in lower case."""

    url: str
    status: int
    content_type: str
    body: bytes

    def excerpt(self) -> str:
        text = self.body[:_EXCERPT].decode("utf-8", "replace")
        return repr(text) + ("…" if len(self.body) > _EXCERPT else "")


class HttpPage(KeptConnection):
    def __init__(self, settings: HttpSettings, deadline: float | None = None, *, held: bool = False) -> None:
        """Read the secrets and prepare the connection; nothing is dialled yet.

        `deadline` (seconds for one request) stands in the place of the settings' own. `held`: an empty line, which a
        server passes over (RFC 9112, 2.2), follows each request. To nginx the connection then is one whose next request
        is being read, which it does not close where it is short of connections.

        Raises:
            ConfigError: the token or the certificates cannot be read.
        """
        self.url = redact_url(settings.url)
        super().__init__(f"GET {self.url}: the connection was closed")
        self._settings = settings
        self._seconds = settings.deadline if deadline is None else deadline
        self._target = request_target(settings.url)
        self._deadline = Deadline()
        self._connection = _connection(settings, self._deadline, held=held)
        self._headers = {"User-Agent": AGENT, "Accept-Encoding": "gzip", **_credentials(settings)}

    def get(self, *, accept: str, target: str | None = None) -> Page:
        """Fetch the page, or `target` (path and query) of the same server.

        Raises:
            CollectorError: no answer in time, a body that is too large, or a status other than 2xx.
        """
        with self._use():
            self._deadline.start(self._seconds)
            try:
                page = self._exchange(target or self._target, {**self._headers, "Accept": accept})
            except BaseException as error:
                # What is left of this answer must not be taken for the next one.
                self._connection.close()
                if isinstance(error, HTTPError | HTTPException | OSError):
                    raise CollectorError(self._describe(error)) from error
                raise
            self._check_status(page)
            return page

    def _wake(self) -> None:
        self._deadline.cancel()
        shut_down(self._connection.sock)

    def _end(self) -> None:
        self._connection.close()

    def _exchange(self, target: str, headers: Mapping[str, str]) -> Page:
        kept = self._connection.is_connected
        try:
            response = self._ask(target, headers)
        except (ConnectionError, HTTPException):
            if not kept:
                raise
            # The server ended the kept connection, for example because it was started anew: that deserves one new dial.
            self._connection.close()
            response = self._ask(target, headers)
        content_type = response.headers.get("Content-Type", "").lower()
        return Page(url=self.url, status=response.status, content_type=content_type, body=self._read_body(response))

    def _ask(self, target: str, headers: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        if not self._connection.is_connected:
            self._connection.close()
        self._connection.request("GET", target, headers=headers, preload_content=False)
        return self._connection.getresponse()

    def _read_body(self, response: urllib3.BaseHTTPResponse) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while chunk := response.read(_CHUNK):
            size += len(chunk)
            if size > self._settings.max_body:
                raise CollectorError(
                    f"GET {self.url}: the body is larger than {self._settings.max_body} bytes; "
                    "is this the right page? max_body raises the limit"
                )
            chunks.append(chunk)
        return b"".join(chunks)

    def _check_status(self, page: Page) -> None:
        if 200 <= page.status < 300:
            return
        said = f"GET {self.url}: answered {page.status} {page.excerpt()}"
        if page.status in (401, 403):
            raise PrivilegeError(f"{said}; give bearer_token_file or headers that the server accepts")
        if 300 <= page.status < 400:
            raise CollectorError(f"{said}; redirects are not followed, configure the final address")
        raise CollectorError(said)

    def _describe(self, error: BaseException) -> str:
        cause = root_cause(error)
        if isinstance(cause, TimeoutError | urllib3.exceptions.TimeoutError):
            return f"GET {self.url}: no complete answer within {self._seconds:g} s"
        if isinstance(cause, ConnectionRefusedError):
            return f"GET {self.url}: connection refused; is the server running on this port?"
        if isinstance(cause, ssl.SSLError):
            return f"GET {self.url}: TLS failed: {cause}; ca_file names the certificates to trust"
        return f"GET {self.url}: {type(cause).__name__}: {cause}"


def redact_url(url: str) -> str:
    """The address without user, password and query, fit for errors and labels."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}{parts.path}"


def _credentials(settings: HttpSettings) -> dict[str, str]:
    headers = dict(settings.headers)
    parts = urlsplit(settings.url)
    if parts.username:
        headers.update(urllib3.make_headers(basic_auth=f"{parts.username}:{parts.password or ''}"))
    token = read_secret(
        what=f"the bearer token for {redact_url(settings.url)}",
        file=settings.bearer_token_file,
        env=settings.bearer_token_env,
    )
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return headers


def request_target(url: str) -> str:
    """Path and query of an address, as a request has them."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def tls_context(ca_file: str | None, *, insecure: bool) -> ssl.SSLContext:
    """What certificates are trusted.

    Raises:
        ConfigError: they cannot be read.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ConfigError(f"ca_file {ca_file} cannot be read: {error}") from error
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def root_cause(error: BaseException) -> BaseException:
    """The innermost error; urllib3 wraps the system's own up to three times."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


class _Held(HTTPConnection):
    """A connection on which an empty line may follow each request, in one piece with it."""

    held = False

    def send(self, data: Any) -> None:
        super().send(data + b"\r\n" if self.held else data)


class _PlainConnection(_Held):
    """A connection whose every exchange obeys the page's deadline."""

    page_deadline: Deadline

    def connect(self) -> None:
        self.timeout = self.page_deadline.remaining()
        super().connect()
        if self.sock is not None:
            self.sock = DeadlineSocket.adopt(self.sock, self.page_deadline)


class _TLSConnection(_Held, HTTPSConnection):
    """The same over TLS; there the deadline is in the class of the sockets."""

    page_deadline: Deadline

    def connect(self) -> None:
        self.timeout = self.page_deadline.remaining()
        super().connect()


def _connection(settings: HttpSettings, deadline: Deadline, *, held: bool) -> _PlainConnection | _TLSConnection:
    parts = urlsplit(settings.url)
    host = parts.hostname or ""
    if parts.scheme == "http":
        plain = _PlainConnection(host, parts.port)
        plain.page_deadline, plain.held = deadline, held
        return plain
    context = tls_context(settings.ca_file, insecure=settings.insecure_tls)
    context.sslsocket_class = tls_socket_class(deadline)
    secured = _TLSConnection(host, parts.port, ssl_context=context, cert_reqs=context.verify_mode)
    secured.page_deadline, secured.held = deadline, held
    return secured
