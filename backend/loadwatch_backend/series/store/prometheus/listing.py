"""Series, labels and metadata of the engine, by its HTTP API."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import orjson
import structlog

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.store.errors import EngineAwayError
from loadwatch_backend.series.store.port import Labels, Matcher, MetricMetadata
from loadwatch_backend.series.store.prometheus.connection import Connection
from loadwatch_backend.series.store.prometheus.selectors import selector_text

log = structlog.get_logger(__name__)

_METADATA_SECONDS = 60.0
_MOST_BYTES = 256 << 20
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
        rows = self._list("series", wanted, start_ms, end_ms)
        if not all(isinstance(one, dict) for one in rows):
            raise EngineAwayError("the engine's list of series cannot be read")
        return sorted(({str(k): str(v) for k, v in row.items()} for row in rows), key=lambda one: sorted(one.items()))

    def texts(self, path: str, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """Names or values of labels; raises as `series`."""
        return [str(text) for text in self._list(path, wanted, start_ms, end_ms)]

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

    def _list(self, path: str, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Any]:
        pairs = [("match[]", selector_text(one)) for one in wanted]
        pairs += [("start", f"{max(start_ms, 0) / 1000:.3f}"), ("end", f"{min(end_ms, _LATEST_MS) / 1000:.3f}")]
        found = _data(self._connection.get(f"/api/v1/{path}", pairs, self._most_bytes))
        if not isinstance(found, list | None):
            raise EngineAwayError(f"the engine's answer to {path} cannot be read")
        return cast("list[Any]", found or [])


def _data(body: bytes) -> Any:
    try:
        document: Any = orjson.loads(body)
        if document["status"] != "success":
            raise EngineAwayError(f"the engine answered with an error: {str(document.get('error'))[:500]}")
        return document["data"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise EngineAwayError(f"the engine's answer cannot be read: {body[:200]!r}") from error


class KnownMetadata:
    """What senders said of their metrics, in a file of ours: most engines forget what remote write says of them.

    Kept by one thread, read by any.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: Mapping[str, MetricMetadata] = {}
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ValueError("it is too large")
            self.entries = metadata_of(orjson.loads(path.read_bytes()))
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            log.warning("what senders said of their metrics cannot be read; they will say it again", error=str(error))

    def keep(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """Remember more of it, on disk when this returns; raises OSError when the disk refuses."""
        entries = {**self.entries, **metadata}
        document = {
            name: [{"type": entry.type, "help": entry.help, "unit": entry.unit}] for name, entry in entries.items()
        }
        new = self._path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(orjson.dumps(document))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
        self.entries = entries


def metadata_of(document: Any) -> dict[str, MetricMetadata]:
    """Of Prometheus' shape: name to a list of type, help and unit, of which the first counts.

    Raises:
        ValueError: it has another shape.
    """
    try:
        return {
            str(name): MetricMetadata(
                type=str(entries[0].get("type") or "unknown"),
                help=str(entries[0].get("help") or ""),
                unit=str(entries[0].get("unit") or ""),
            )
            for name, entries in document.items()
            if entries
        }
    except (AttributeError, TypeError, KeyError) as error:
        raise ValueError("no metadata") from error
