"""The server's API over HTTP, as these commands use it."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import quote, urlencode

import urllib3

from loadwatch_collectors.runs.errors import AwayError, RefusedError, UsageError
from loadwatch_collectors.settings import read_secret
from loadwatch_collectors.transport.http_page import check_url, redact_url

TOKEN_VARIABLE = "LOADWATCH_TOKEN"
REQUEST_SECONDS = 30.0
UPLOAD_SECONDS = 600.0
"""Between two pieces of an upload, and for the server's answer to it."""

_CHUNK = 256 * 1024
_TEXT_LIMIT = 500

Query = Mapping[str, str | int | float | Sequence[str] | None]


def read_token(token_file: str | None) -> str | None:
    """The token in the file, else in LOADWATCH_TOKEN, else none."""
    if token_file:
        return read_secret(what="the token", file=token_file, env=None)
    return os.environ.get(TOKEN_VARIABLE) or None


class Client:
    """One server, with the token that it is asked with. Used by several threads."""

    def __init__(self, server: str, token: str | None, *, seconds: float = REQUEST_SECONDS) -> None:
        """Raise UsageError when the address is none."""
        try:
            check_url(server)
        except ValueError as error:
            raise UsageError(f"--server: {error}") from error
        self.server = server.rstrip("/")
        self.shown = redact_url(self.server)
        self.token = token
        self._seconds = seconds
        self._headers = {"User-Agent": "loadwatch", **({"Authorization": f"Bearer {token}"} if token else {})}
        self._pool = urllib3.PoolManager(num_pools=2, maxsize=4, retries=False)

    @property
    def remote_write(self) -> str:
        """Where samples go."""
        return f"{self.server}/prometheus/api/v1/write"

    def page(self, run: str) -> str:
        """The run's page, for people."""
        return f"{self.shown}/runs/{run}"

    def get(self, path: str, query: Query | None = None) -> Any:
        """The document at a path.

        Raises:
            AwayError: no answer, or one that says to try again.
            RefusedError: the server says no.
        """
        return self._json("GET", path, query, None)

    def send(self, method: str, path: str, document: Any = None, *, query: Query | None = None) -> Any:
        """Send a document; errors as `get`."""
        return self._json(method, path, query, document)

    def upload(
        self, path: str, source: BinaryIO, size: int, *, query: Query, kind: str, progress: Callable[[int], None]
    ) -> Any:
        """Send a file as it is read; `progress` is told the bytes sent so far. Errors as `get`."""

        def pieces() -> Iterator[bytes]:
            sent = 0
            while piece := source.read(_CHUNK):
                yield piece
                sent += len(piece)
                progress(sent)

        headers = {"Content-Type": kind, "Content-Length": str(size)}
        response = self._request("POST", path, query, pieces(), headers, seconds=UPLOAD_SECONDS)
        return _document(response.data)

    def download(self, path: str, query: Query | None = None, document: Any = None) -> urllib3.BaseHTTPResponse:
        """The open answer, to be read in pieces with `stream` and then released; by POST with a document.

        Errors as `get`.
        """
        if document is None:
            return self._request("GET", path, query, None, {}, preload=False)
        body = json.dumps(document).encode()
        return self._request("POST", path, query, body, {"Content-Type": "application/json"}, preload=False)

    def _json(self, method: str, path: str, query: Query | None, document: Any) -> Any:
        body = None if document is None else json.dumps(document).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        return _document(self._request(method, path, query, body, headers).data)

    def _request(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: bytes | Iterator[bytes] | None,
        headers: Mapping[str, str],
        *,
        seconds: float | None = None,
        preload: bool = True,
    ) -> urllib3.BaseHTTPResponse:
        wait = urllib3.Timeout(connect=min(self._seconds, 5.0), read=seconds or self._seconds)
        try:
            response = self._pool.request(
                method,
                self.server + path + _query(query),
                body=body,
                headers={**self._headers, **headers},
                timeout=wait,
                redirect=False,
                preload_content=preload,
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise AwayError(f"{self.shown} cannot be reached: {_cause(error)}") from error
        if response.status >= 300:
            raise self._refusal(method, path, response)
        return response

    def _refusal(self, method: str, path: str, response: urllib3.BaseHTTPResponse) -> AwayError | RefusedError:
        problem = _problem(response.data)
        detail = str(problem.get("detail") or f"answered {response.status}")
        fields = problem.get("errors")
        if isinstance(fields, list):
            detail += "".join(f"; {json.dumps(field, ensure_ascii=False)}" for field in cast("list[Any]", fields)[:3])
        text = f"{self.shown}: {detail[:_TEXT_LIMIT]}"
        if response.status in (401, 403) and "token" not in detail.lower():
            text += f" (give --token-file or {TOKEN_VARIABLE})"
        if response.status in (408, 429) or response.status >= 500:
            return AwayError(f"{text} ({method} {path} answered {response.status})")
        return RefusedError(text, status=response.status, code=str(problem.get("code") or ""))


def run_path(run: str, rest: str = "") -> str:
    """The path of a run in the API."""
    return f"/api/runs/{quote(run, safe='')}{rest}"


def import_file(
    client: Client, path: Path, query: Query, progress: Callable[[int], None] = lambda _: None
) -> dict[str, Any]:
    """Send a result file; the import job as the server began it. Errors as `Client.get`, and OSError of the file."""
    with path.open("rb") as source:
        size = os.fstat(source.fileno()).st_size
        return client.upload(
            "/api/imports", source, size, query=query, kind="application/octet-stream", progress=progress
        )


def _query(query: Query | None) -> str:
    given = {key: value for key, value in (query or {}).items() if value is not None and value != ""}
    return "?" + urlencode(given, doseq=True) if given else ""


def _document(body: bytes) -> Any:
    return json.loads(body) if body else None


def _problem(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", document) if isinstance(document, dict) else {}


def _cause(error: BaseException) -> str:
    """The system's own words, from within urllib3's."""
    while error.__cause__ is not None:
        error = error.__cause__
    reason = getattr(error, "reason", None)
    if isinstance(reason, BaseException):
        return _cause(reason)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
