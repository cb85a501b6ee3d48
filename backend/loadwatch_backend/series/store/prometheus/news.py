"""What other servers on the same engine took in: their newest sample, which they write beside their samples.

So a page that is open here shows samples that came in there, and rules hear of them. What reaches the engine past
Loadwatch is heard of by the series `up`.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import orjson
import structlog

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.store.prometheus.connection import Connection
from loadwatch_backend.series.store.prometheus.wire import encode_labels, encode_series

log = structlog.get_logger(__name__)

INSTANCE = "instance"
NEWEST = "loadwatch_newest_sample_timestamp_seconds"
_INTERVAL_SECONDS = 1.0
_UP = 'label_replace(max(timestamp(up)), "of", "up", "", "")'
_AT_START = f'label_replace(max({_UP} or max(last_over_time({NEWEST}[15d]))), "of", "up", "", "")'
_NEWS = f"{_UP} or max(max_over_time({NEWEST}{{{INSTANCE}!=%s}}[2m] offset -1m))"
"""What others say, whose clocks may differ from the engine's."""
_MOST_BYTES = 1 << 20


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
        self, connection: Connection, instance: str, known: Callable[[], int | None], heard: Callable[[int], None]
    ) -> None:
        """`heard` is told the time of a newer sample than is `known`, or than another server spoke of before."""
        self._connection = connection
        self._query = _NEWS % orjson.dumps(instance).decode()
        self._known = known
        self._heard = heard
        self._announced_ms = 0
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
        query = _AT_START
        while True:
            try:
                self._ask(query)
            except ProblemError as error:
                log.debug("the engine was not asked for news", reason=error.detail)
            if self._stopping.wait(_INTERVAL_SECONDS):
                return
            query = self._query

    def _ask(self, query: str) -> None:
        # VictoriaMetrics shows the newest half minute to those alone who want nothing out of its cache.
        body = self._connection.get("/api/v1/query", [("query", query), ("nocache", "1")], _MOST_BYTES)
        newest = {"up": 0, "": 0}
        with suppress(ValueError, KeyError, TypeError, IndexError, OverflowError):
            document: Any = orjson.loads(body)
            for one in document["data"]["result"]:
                newest[one["metric"].get("of", "")] = int(float(one["value"][1]) * 1000 + 0.5)
        if newest[""] > self._announced_ms or newest["up"] > (self._known() or 0):
            self._announced_ms = max(newest[""], self._announced_ms)
            self._heard(max(newest.values()))
