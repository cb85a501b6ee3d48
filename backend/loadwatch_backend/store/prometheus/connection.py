"""HTTP to the engine: bounded in time and bytes, without redirects, with one wording of what goes wrong."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson
import urllib3
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from loadwatch_backend.kit.cancellation import Cancellation
from loadwatch_backend.store.errors import EngineAwayError, EngineSettingsError, QueryLimitError
from loadwatch_backend.store.prometheus.login import Headers, Signer, tls_context
from loadwatch_backend.store.prometheus.settings import RemoteSettings

_CONNECT_SECONDS = 5.0
_SPARED_SECONDS = 5.0
_PIECE_BYTES = 1 << 18
_MOST_ERROR_BYTES = 16 * 1024
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_REFUSALS = (401, 403, 407)

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class WriteAnswer:
    """Status, headers and the first bytes of what was answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def reason(self) -> str:
        """What the engine says went wrong, in one line."""
        return error_text(self.body)


class Stream:
    """An answer that is being read."""

    def __init__(
        self, response: BaseHTTPResponse, most_bytes: int, deadline: float, cancellation: Cancellation
    ) -> None:
        self.status = response.status
        self.content_type = response.headers.get("Content-Type", "")
        self._response = response
        self._most_bytes = most_bytes
        self._deadline = deadline
        self._cancellation = cancellation

    def pieces(self) -> Generator[bytes]:
        """The body, piece by piece.

        Raises:
            QueryLimitError: it has more bytes than it may have.
            EngineAwayError: it ends before its end, or takes too long.
            CancelledError: nobody waits for it any more.
        """
        taken = 0
        try:
            for piece in self._response.stream(_PIECE_BYTES, decode_content=True):
                taken += len(piece)
                self._cancellation.check()
                if taken > self._most_bytes:
                    raise QueryLimitError(
                        f"the engine's answer has more than {self._most_bytes} bytes: ask for fewer series, a shorter"
                        " range or a larger step"
                    )
                if time.monotonic() > self._deadline:
                    raise EngineAwayError(
                        "the engine took longer to answer than LOADWATCH_STORE_TIMEOUT_SECONDS allows"
                    )
                yield piece
        except HTTPError as error:
            self._cancellation.check()
            raise EngineAwayError(f"the engine's answer was cut off ({type(error).__name__})") from error

    def read_error(self) -> bytes:
        """The first bytes of an error."""
        try:
            return self._response.read(_MOST_ERROR_BYTES, decode_content=True)
        except HTTPError:
            return b""


class Connection:
    """Safe to use from any thread."""

    def __init__(self, settings: RemoteSettings, signer: Signer | None = None) -> None:
        """Raises EngineSettingsError when certificates or keys cannot be used."""
        self._settings = settings
        self._headers = Headers(settings.login, signer)
        self._pool = urllib3.PoolManager(
            num_pools=4,
            maxsize=16,
            retries=False,
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=settings.timeout_seconds),
            ssl_context=tls_context(settings.login) if _is_https(settings) else None,
        )
        self._answered = 0.0
        self._vain = _Vain(until=0.0, detail="")

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def write(self, body: bytes, headers: Mapping[str, str]) -> WriteAnswer:
        """POST a body to where samples go.

        Raises:
            EngineAwayError: no answer came.
        """
        with self._open("POST", self._settings.write_url, body, headers, _MOST_ERROR_BYTES, None) as stream:
            return WriteAnswer(stream.status, dict(stream.headers), stream.body.read_error())

    def get(self, path: str, pairs: Pairs, most_bytes: int, cancellation: Cancellation | None = None) -> bytes:
        """The whole answer to a GET below the reading address; see `ask`."""
        url = f"{self._settings.url}{path}"
        query = urlencode(pairs)
        with self._open("GET", f"{url}?{query}" if query else url, b"", {}, most_bytes, cancellation) as opened:
            return b"".join(_checked(opened.body).pieces())

    @contextmanager
    def post(
        self, path: str, pairs: Pairs, most_bytes: int, cancellation: Cancellation | None = None
    ) -> Generator[Stream]:
        """The answer to a form, with any status.

        Raises:
            EngineAwayError: no answer came, or the engine refuses who we are.
        """
        url = f"{self._settings.url}{path}"
        with self._open("POST", url, urlencode(pairs).encode(), _FORM, most_bytes, cancellation) as opened:
            yield _admitted(opened.body)

    @contextmanager
    def post_bytes(
        self, path: str, body: bytes, headers: Mapping[str, str], most_bytes: int, cancellation: Cancellation | None
    ) -> Generator[Stream]:
        """As `post`, of any body."""
        with self._open("POST", f"{self._settings.url}{path}", body, headers, most_bytes, cancellation) as opened:
            yield _admitted(opened.body)

    @contextmanager
    def _open(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        most_bytes: int,
        cancellation: Cancellation | None,
    ) -> Generator["_Opened"]:
        wanted = cancellation or Cancellation()
        began = time.monotonic()
        deadline = began + self._settings.timeout_seconds
        if began < self._vain.until and url != self._settings.write_url:
            raise EngineAwayError(self._vain.detail)
        try:
            known = self._headers.of(method, url, headers, body)
            response = self._pool.request(
                method, url, body=body or None, headers=known, preload_content=False, redirect=False
            )
        except EngineSettingsError as error:
            raise EngineAwayError(str(error), refused=True) from error
        except HTTPError as error:
            away = EngineAwayError(f"the engine at {place_of(url)} does not answer: {_words(error)}")
            if url != self._settings.write_url:
                self._wait_was_vain(began, away.detail)
            raise away from error
        self._answered = time.monotonic()
        try:
            with wanted.interrupting(response.shutdown):
                yield _Opened(Stream(response, most_bytes, deadline, wanted), response.status, response.headers)
        finally:
            # What was read to its end has given its connection back by itself.
            if not response.closed:
                response.close()

    def _wait_was_vain(self, began: float, detail: str) -> None:
        now = time.monotonic()
        # Others that were answered meanwhile tell that one question was too much, not that nobody answers.
        if self._answered < began:
            self._vain = _Vain(until=now + min(now - began, _SPARED_SECONDS), detail=detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vain:
    """Who waited for an answer in vain spares the next ones the wait: a hundred rules ask one after another."""

    until: float
    detail: str


@dataclass(frozen=True, slots=True)
class _Opened:
    body: Stream
    status: int
    headers: Mapping[str, str]


def _is_https(settings: RemoteSettings) -> bool:
    return any(urlsplit(url).scheme == "https" for url in (settings.url, settings.write_url))


def _admitted(stream: Stream) -> Stream:
    """Raises EngineAwayError where the engine does not know us, or sends us elsewhere."""
    if stream.status in _REFUSALS:
        raise EngineAwayError(refusal(stream.status, error_text(stream.read_error())), refused=True)
    if 300 <= stream.status < 400:
        raise EngineAwayError(f"the engine answered {stream.status}, a redirect, which is not followed", refused=True)
    return stream


def _checked(stream: Stream) -> Stream:
    if _admitted(stream).status != 200:
        raise EngineAwayError(f"the engine answered {stream.status}: {error_text(stream.read_error())}")
    return stream


def refusal(status: int, reason: str) -> str:
    """That the engine does not let us in."""
    return (
        f"the engine refuses Loadwatch with status {status} ({reason}): check the LOADWATCH_STORE_ settings of the"
        " login and the tenant"
    )


def error_text(body: bytes) -> str:
    """The error of an answer in one line: the one of Prometheus' JSON, or what the body begins with."""
    try:
        document: Any = orjson.loads(body)
        text = str(document["error"])
    except (ValueError, TypeError, LookupError):
        text = body.decode(errors="replace")
    line = " ".join(text.split())
    return line if len(line) <= 500 else line[:500] + "…"


def place_of(url: str) -> str:
    """Host and port of an address, which is all that an error says of it."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


_CAUSES: Sequence[tuple[type[Exception], Callable[[Exception], str]]] = (
    (urllib3.exceptions.ReadTimeoutError, lambda _error: "it took longer than LOADWATCH_STORE_TIMEOUT_SECONDS"),
    (urllib3.exceptions.NameResolutionError, lambda _error: "its name cannot be resolved"),
    (urllib3.exceptions.NewConnectionError, lambda _error: "the connection was refused"),
    # The two above are kinds of it.
    (urllib3.exceptions.ConnectTimeoutError, lambda _error: "no connection within 5 s"),
    (urllib3.exceptions.SSLError, lambda error: f"TLS: {error}"),
    (urllib3.exceptions.ProtocolError, lambda _error: "the connection broke off"),
)


def _words(error: HTTPError) -> str:
    return next((words(error) for kind, words in _CAUSES if isinstance(error, kind)), type(error).__name__)
