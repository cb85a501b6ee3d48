"""What other servers on the same engine took in: their newest sample, which they write beside their samples.

So a page that is open here shows samples that came in there, and rules hear of them. What reaches the engine past
Loadwatch is heard of by the series `up`.
"""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import orjson
import structlog

from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.store.port import Matcher, MatchOperator
from loadwatch_backend.store.prometheus.connection import Connection
from loadwatch_backend.store.prometheus.reading import RawReader
from loadwatch_backend.store.prometheus.wire import encode_labels, encode_series

log = structlog.get_logger(__name__)

INSTANCE = "instance"
NEWEST = "loadwatch_newest_sample_timestamp_seconds"
_INTERVAL_SECONDS = 1.0
_SPAN_MS = 60_000
_LAST_SAID = f"max(last_over_time({NEWEST}[15d]))"
_PAST_US = "max(timestamp(up))"
_MOST_BYTES = 1 << 20
_EACH = 5
"""Every so many looks past us too."""


class Announcement:
    """The series in which a server says what its newest sample is, at most once a second."""

    def __init__(self, instance: str) -> None:
        self._head = encode_labels({"__name__": NEWEST, "job": "loadwatch", INSTANCE: instance})
        self._said_ms = 0

    def encoded(self, newest_ms: int, now_ms: int) -> bytes:
        """A series of a request; nothing where it was said a moment ago."""
        if abs(now_ms - self._said_ms) < 1000:
            return b""
        self._said_ms = now_ms
        return encode_series([self._head], [1], np.array([now_ms], np.int64), np.array([newest_ms / 1000]))[0]


class NewsWatch:
    """A thread that asks the engine each second."""

    def __init__(
        self,
        connection: Connection,
        reader: RawReader,
        instance: str,
        clock: Callable[[], int],
        known: Callable[[], int | None],
        heard: Callable[[int], None],
        metrics: Callable[[], frozenset[str]],
        touched: Callable[[Callable[[], frozenset[str]]], None],
    ) -> None:
        """`heard` is told of a newer sample than is `known`, `touched` the names of all `metrics` it may be of."""
        self._connection = connection
        self._reader = reader
        self._others = [
            Matcher("__name__", MatchOperator.EQUAL, NEWEST),
            Matcher(INSTANCE, MatchOperator.NOT_EQUAL, instance),
        ]
        self._clock = clock
        self._known = known
        self._heard = heard
        self._metrics = metrics
        self._touched = touched
        self._announced_ms = 0
        self._looks = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-news", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(_INTERVAL_SECONDS if self._looks else 0):
            try:
                self.look()
            except ProblemError as error:
                log.debug("the engine was not asked for news", reason=error.detail)
            self._looks += 1

    def look(self) -> None:
        """Ask once; raises EngineAwayError and its like."""
        announced_ms = self._announced()
        past_ms = self._past_us() if self._looks % _EACH == 0 else 0
        if announced_ms > self._announced_ms or past_ms > (self._known() or 0):
            self._announced_ms = max(announced_ms, self._announced_ms)
            self._heard(max(announced_ms, past_ms))
            self._touched(self._metrics)

    def _announced(self) -> int:
        now_ms = self._clock()
        found = [
            float(part.values.max())
            for groups in self._reader.read([self._others], now_ms - _SPAN_MS, now_ms + _SPAN_MS, None)
            for part in groups[0]
            if len(part.values)
        ]
        return int(max(found, default=0.0) * 1000 + 0.5)

    def _past_us(self) -> int:
        return max(self._number(_PAST_US), self._number(_LAST_SAID) if not self._looks else 0)

    def _number(self, query: str) -> int:
        """Milliseconds of the one value of a query that gives seconds."""
        body = self._connection.get("/api/v1/query", [("query", query)], _MOST_BYTES)
        try:
            document: Any = orjson.loads(body)
            return max((int(float(one["value"][1]) * 1000 + 0.5) for one in document["data"]["result"]), default=0)
        except (ValueError, KeyError, TypeError, IndexError, OverflowError):
            return 0
