"""HTTP to the engine: bounded in time and bytes, without redirects, with one wording of what goes wrong.

Secrets are never part of an error or a log line.
"""

import base64
import importlib
import ssl
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import orjson
import urllib3
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.core.secret import Secret, SecretError
from loadwatch_backend.series.store.errors import (
    EngineAnswerError,
    EngineAwayError,
    EngineSettingsError,
    PatternError,
    QueryLimitError,
)

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Who we are at the engine, by the settings LOADWATCH_STORE_…; secrets are read again whenever files change."""

    tenant: str = ""
    tenant_header: str = ""
    user: str = ""
    password: Secret | None = None
    token: Secret | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    aws_region: str = ""
    """Requests are signed for Amazon Managed Prometheus of this region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSettings:
    data_directory: Path
    url: str
    """Base URL of the paths of Prometheus for reading: `<url>/api/v1/query`."""
    write_url: str
    instance: str = ""
    """Our name among the servers that share the engine; empty where nobody else is heard of."""
    login: Login = field(default_factory=Login)
    timeout_seconds: float = 30.0
    queue_bytes: int = 1024 * MEBIBYTE
    queue_ms: int = 6 * 3_600_000
    """Age of the oldest sample that waits at which no more are taken."""
    queue_samples: int = 2_000_000
    """Samples that may wait for our own disk."""
    request_samples: int = 10_000
    """Samples, and so series, of one remote-write request."""
    recent_bytes: int = 256 * MEBIBYTE
    series_limit: int = 500_000
    label_bytes: int = 256 << 20
    query_samples: int = 20_000_000
    answer_bytes: int = 256 * MEBIBYTE
    """Limit of the bytes of an answer that is passed through."""
    settle_seconds: float = 360.0
    """How long what was delivered stays in memory too: the engine may need a moment to show it, and most engines never
    show the stale markers, which count for a look-back of five minutes."""


_CONNECT_SECONDS = 5.0
_SPARED_SECONDS = 5.0
_PIECE_BYTES = 1 << 18
_MOST_ERROR_BYTES = 16 * 1024
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_REFUSALS = (401, 403, 407)

Pairs = Sequence[tuple[str, str]]
Signer = Callable[[str, str, Mapping[str, str], bytes], dict[str, str]]
"""All headers of a request of this method, URL, headers and body, signed."""


class Stream(NamedTuple):
    response: BaseHTTPResponse
    most_bytes: int
    deadline: float
    cancellation: Cancellation

    def pieces(self) -> Generator[bytes]:
        """The body, piece by piece.

        Raises:
            QueryLimitError: it has more bytes than it may have.
            EngineAwayError: it ends before its end, or takes too long.
            CancelledError: nobody waits for it any more.
        """
        taken = 0
        try:
            for piece in self.response.stream(_PIECE_BYTES, decode_content=True):
                taken += len(piece)
                self.cancellation.check()
                if taken > self.most_bytes:
                    raise QueryLimitError(
                        f"the engine's answer has more than {self.most_bytes} bytes: ask for fewer series, a shorter"
                        " range or a larger step"
                    )
                if time.monotonic() > self.deadline:
                    raise EngineAwayError("the engine takes too long to answer")
                yield piece
        except HTTPError as error:
            self.cancellation.check()
            raise EngineAwayError(f"the engine's answer was cut off ({type(error).__name__})") from error

    def error(self) -> str:
        """The error of an answer in one line: the one of Prometheus' JSON, or what the body begins with."""
        body = b""
        try:
            body = self.response.read(_MOST_ERROR_BYTES, decode_content=True)
            text = str(orjson.loads(body)["error"])
        except (HTTPError, ValueError, TypeError, LookupError):
            text = body.decode(errors="replace")
        line = " ".join(text.split())
        return line if len(line) <= 500 else line[:500] + "…"

    def whole(self) -> bytes:
        """The body; raises as `pieces`, and what an error of the engine means to one who reads."""
        status = self.response.status
        if status == 200:
            return b"".join(self.pieces())
        reason = self.error()
        if status not in (400, 422):
            raise EngineAwayError(f"the engine answered {status}: {reason}")
        if "regexp" in reason or "regex" in reason:
            raise PatternError(f"the engine does not take a regular expression of the query: {reason}")
        raise EngineAnswerError(status, f"the engine does not take the query: {reason}")


class Connection:
    """Safe to use from any thread."""

    def __init__(self, settings: RemoteSettings) -> None:
        """Raises EngineSettingsError when certificates, keys or AWS' credentials cannot be used."""
        self._settings = settings
        region = settings.login.aws_region
        self._signer = _make_signer(region) if region else None
        is_https = any(urlsplit(url).scheme == "https" for url in (settings.url, settings.write_url))
        self._pool = urllib3.PoolManager(
            num_pools=4,
            maxsize=16,
            retries=False,
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=settings.timeout_seconds),
            ssl_context=_tls_context(settings.login) if is_https else None,
        )
        self._answered = 0.0
        # Who waited for an answer in vain spares the next ones the wait: a hundred rules ask one after another.
        self._vain_until, self._vain_detail = 0.0, ""

    def close(self) -> None:
        self._pool.clear()

    def check(self) -> None:
        """Raises EngineAwayError where no engine answers queries, or it refuses who we are."""
        with self.post("/api/v1/query", [("query", "1")], _MOST_ERROR_BYTES, Cancellation()) as stream:
            stream.whole()

    def write(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str | None, str]:
        """POST a body to where samples go; the answer's status, Retry-After and error in one line.

        Raises:
            EngineAwayError: no answer came.
        """
        with self._open("POST", self._settings.write_url, body, headers, _MOST_ERROR_BYTES, Cancellation()) as stream:
            return stream.response.status, stream.response.headers.get("Retry-After"), stream.error()

    def get(self, path: str, pairs: Pairs, most_bytes: int) -> Any:
        """The data of the answer to a GET of `/api/v1/<path>`; raises as `post` and `Stream.whole`."""
        query = urlencode(pairs)
        url = f"{self._settings.url}/api/v1/{path}{'?' if query else ''}{query}"
        with self._open("GET", url, b"", {}, most_bytes, Cancellation()) as stream:
            body = stream.whole()
        try:
            document: Any = orjson.loads(body)
            if document["status"] != "success":
                raise EngineAwayError(f"the engine answered with an error: {str(document.get('error'))[:500]}")
            return document["data"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise EngineAwayError(f"the engine's answer cannot be read: {body[:200]!r}") from error

    def post(
        self, path: str, pairs: Pairs, most_bytes: int, cancellation: Cancellation
    ) -> AbstractContextManager[Stream]:
        """The answer to a form, with any status.

        Raises:
            EngineAwayError: no answer came, or the engine refuses who we are or sends us elsewhere.
        """
        body = urlencode(pairs).encode()
        return self._open("POST", f"{self._settings.url}{path}", body, _FORM, most_bytes, cancellation)

    @contextmanager
    def _open(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        most_bytes: int,
        cancellation: Cancellation,
    ) -> Generator[Stream]:
        began = time.monotonic()
        reads = url != self._settings.write_url
        if reads and began < self._vain_until:
            raise EngineAwayError(self._vain_detail)
        try:
            known = self._headers(method, url, headers, body)
            response = self._pool.request(
                method, url, body=body or None, headers=known, preload_content=False, redirect=False
            )
        except EngineSettingsError as error:
            raise EngineAwayError(str(error), refused=True) from error
        except HTTPError as error:
            words = next((text for kind, text in _CAUSES if isinstance(error, kind)), type(error).__name__)
            words = f"TLS: {error}" if isinstance(error, urllib3.exceptions.SSLError) else words
            detail = f"the engine at {place_of(url)} does not answer: {words}"
            now = time.monotonic()
            # Others that were answered meanwhile tell that one question was too much, not that nobody answers.
            if reads and self._answered < began:
                self._vain_detail, self._vain_until = detail, now + min(now - began, _SPARED_SECONDS)
            raise EngineAwayError(detail) from error
        self._answered = time.monotonic()
        try:
            with cancellation.interrupting(response.shutdown):
                stream = Stream(response, most_bytes, began + self._settings.timeout_seconds, cancellation)
                if reads and response.status in _REFUSALS:
                    raise EngineAwayError(
                        f"the engine refuses Loadwatch with status {response.status} ({stream.error()}):"
                        " check the LOADWATCH_STORE_ settings of the login and the tenant",
                        refused=True,
                    )
                if reads and 300 <= response.status < 400:
                    raise EngineAwayError(
                        f"the engine answered {response.status}, a redirect, which is not followed", refused=True
                    )
                yield stream
        finally:
            # What was read to its end has given its connection back by itself.
            if not response.closed:
                response.close()

    def _headers(self, method: str, url: str, given: Mapping[str, str], body: bytes) -> dict[str, str]:
        """Raises EngineSettingsError: a secret cannot be read, or AWS knows no credentials."""
        login = self._settings.login
        headers = {"User-Agent": "loadwatch", **given}
        if login.tenant:
            headers[login.tenant_header or "X-Scope-OrgID"] = login.tenant
        if login.user:
            pair = f"{login.user}:{_reveal(login.password)}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        elif login.token is not None:
            headers["Authorization"] = f"Bearer {_reveal(login.token)}"
        return headers if self._signer is None else self._signer(method, url, headers, body)


def place_of(url: str) -> str:
    """Host and port of an address, which is all that an error says of it."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


_CAUSES: Sequence[tuple[type[Exception], str]] = (
    (urllib3.exceptions.ReadTimeoutError, "it takes too long"),
    (urllib3.exceptions.NameResolutionError, "its name cannot be resolved"),
    (urllib3.exceptions.NewConnectionError, "the connection was refused"),
    # The two above are kinds of it.
    (urllib3.exceptions.ConnectTimeoutError, "no connection within 5 s"),
    (urllib3.exceptions.ProtocolError, "the connection broke off"),
)


def _make_signer(region: str) -> Signer:
    """Of requests to Amazon Managed Prometheus; imported only here, because boto3 is an extra.

    Raises:
        EngineSettingsError: boto3 is not installed, or finds no credentials.
    """
    try:
        module: Any = importlib.import_module("loadwatch_backend.series.store.prometheus.sigv4")
    except ModuleNotFoundError as error:
        raise EngineSettingsError(
            "LOADWATCH_STORE_AWS_REGION needs boto3, which is not installed: pip install 'loadwatch[aws]'"
        ) from error
    signer: Signer = module.aws_signer(region)
    return signer


def _reveal(secret: Secret | None) -> str:
    """Read each time: tokens are renewed while servers run."""
    try:
        text = secret.reveal() if secret else ""
    except SecretError as error:
        raise EngineSettingsError(f"our secret at the engine: {error}") from error
    if not text.isprintable():
        raise EngineSettingsError("our secret at the engine must be a text in one line")
    return text


def _tls_context(login: Login) -> ssl.SSLContext:
    """Of all connections.

    Raises:
        EngineSettingsError: a certificate or key cannot be used.
    """
    what = f"{login.ca_file} (LOADWATCH_STORE_CA_FILE) as certificates"
    try:
        context = ssl.create_default_context(cafile=None if login.ca_file is None else str(login.ca_file))
        if login.cert_file is not None:
            what = f"{login.cert_file} (LOADWATCH_STORE_CERT_FILE) with its key"
            context.load_cert_chain(login.cert_file, login.key_file, password="")
    except (OSError, ssl.SSLError) as error:
        raise EngineSettingsError(f"cannot use {what}: {error.strerror or error}") from error
    return context
