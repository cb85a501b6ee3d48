"""Series, labels and metadata of the engine, by its HTTP API."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

import orjson
import structlog

from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.store.errors import EngineAwayError
from loadwatch_backend.store.port import Labels, Matcher, MetricMetadata
from loadwatch_backend.store.prometheus.connection import Connection
from loadwatch_backend.store.prometheus.known_metadata import metadata_of
from loadwatch_backend.store.prometheus.selectors import selector_text

log = structlog.get_logger(__name__)

_METADATA_SECONDS = 60.0
_LATEST_MS = 4_102_444_800_000
"""2100: a time of which no engine thinks that it is none."""


class EngineLists:
    """Safe to use from any thread."""

    def __init__(self, connection: Connection, most_bytes: int) -> None:
        self._connection = connection
        self._most_bytes = most_bytes
        self._metadata: Mapping[str, MetricMetadata] = {}
        self._metadata_until = 0.0

    def series(self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Labels]:
        """Label sets in the order of their labels; raises EngineAwayError and QueryLimitError."""
        found = self._list("/api/v1/series", _pairs(wanted, start_ms, end_ms))
        if not all(isinstance(one, dict) for one in found):
            raise EngineAwayError("the engine's list of series cannot be read")
        rows = cast("list[dict[Any, Any]]", found)
        return sorted(({str(k): str(v) for k, v in row.items()} for row in rows), key=lambda one: sorted(one.items()))

    def label_names(self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """Names of labels; raises as `series`."""
        return [str(name) for name in self._list("/api/v1/labels", _pairs(wanted, start_ms, end_ms))]

    def label_values(self, name: str, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """Values of a label; raises as `series`."""
        path = f"/api/v1/label/{quote(name, safe='')}/values"
        return [str(value) for value in self._list(path, _pairs(wanted, start_ms, end_ms))]

    def metadata(self) -> Mapping[str, MetricMetadata]:
        """What the engine knows of metrics, as of a minute ago at most; what it knew when it does not answer."""
        now = time.monotonic()
        if now >= self._metadata_until:
            self._metadata_until = now + _METADATA_SECONDS
            try:
                body = self._connection.get("/api/v1/metadata", [], self._most_bytes)
                self._metadata = metadata_of(_data(body) or {})
            except (ProblemError, ValueError) as error:
                log.debug("the engine's metadata cannot be read", reason=str(error))
        return self._metadata

    def _list(self, path: str, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        found = _data(self._connection.get(path, pairs, self._most_bytes))
        if found is None:
            return []
        if not isinstance(found, list):
            raise EngineAwayError(f"the engine's answer to {path} cannot be read")
        return cast("list[Any]", found)


def _data(body: bytes) -> Any:
    try:
        document: Any = orjson.loads(body)
        if document["status"] != "success":
            raise EngineAwayError(f"the engine answered with an error: {str(document.get('error'))[:500]}")
        return document["data"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise EngineAwayError(f"the engine's answer cannot be read: {body[:200]!r}") from error


def _pairs(wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[tuple[str, str]]:
    span = [("start", f"{max(start_ms, 0) / 1000:.3f}"), ("end", f"{min(end_ms, _LATEST_MS) / 1000:.3f}")]
    return [("match[]", selector_text(one)) for one in wanted] + span
