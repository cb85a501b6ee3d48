"""The one thread that takes samples in: it makes requests of what waits, queues them on disk once, tells everybody."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import cast

import cramjam
import numpy as np
import structlog

from loadwatch_backend.store.embedded.block import F64, I64, U32
from loadwatch_backend.store.embedded.series_index import Ids, SeriesIndex
from loadwatch_backend.store.errors import StoreBusyError, StoreClosedError, StoreWriteError
from loadwatch_backend.store.port import Batch, CommitListener, MetricMetadata, TouchListener
from loadwatch_backend.store.prometheus.durable_queue import DurableQueue
from loadwatch_backend.store.prometheus.known_metadata import KnownMetadata
from loadwatch_backend.store.prometheus.news import Announcement
from loadwatch_backend.store.prometheus.recent import Recent
from loadwatch_backend.store.prometheus.settings import RemoteSettings
from loadwatch_backend.store.prometheus.wire import encode_labels, encode_metadata, encode_series

log = structlog.get_logger(__name__)

_COMMIT_SAMPLES = 200_000
_CACHED_HEADS = 200_000
REQUEST_BYTES = 4 << 20
"""Of a request before it is compressed."""
_Taken = list[tuple[Batch, "Future[None]"]]


class WriterCounts:
    """What was done since the start; read by /metrics."""

    def __init__(self) -> None:
        self.samples = 0
        self.commits = 0
        self.failed_commits = 0
        self.busy = 0


class QueueWriter:
    """`append` may be called from any thread."""

    def __init__(
        self,
        settings: RemoteSettings,
        index: SeriesIndex,
        queue: DurableQueue,
        recent: Recent,
        metadata: KnownMetadata,
        announcement: Announcement | None,
        clock: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._index = index
        self._queue = queue
        self._recent = recent
        self._known_metadata = metadata
        self._announcement = announcement
        self._clock = clock
        self._wake = threading.Condition()
        self._waiting: deque[tuple[Batch, Future[None]]] = deque()
        self._metadata: dict[str, MetricMetadata] = {}
        self._heads: dict[int, bytes] = {}
        self._listeners: list[CommitListener] = []
        self._touch_listeners: list[TouchListener] = []
        self._closing = False
        self.queued_samples = 0
        self.counts = WriterCounts()
        self.heard_ms: int | None = None
        self._hearing = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="store-writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def close(self) -> None:
        """Write what waits, then stop."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def on_commit(self, listener: CommitListener) -> Callable[[], None]:
        """See `Watcher.on_commit`."""
        self._listeners = [*self._listeners, listener]

        def stop() -> None:
            self._listeners = [kept for kept in self._listeners if kept is not listener]

        return stop

    def on_touch(self, listener: TouchListener) -> Callable[[], None]:
        """See `Watcher.on_touch`."""
        self._touch_listeners = [*self._touch_listeners, listener]

        def stop() -> None:
            self._touch_listeners = [kept for kept in self._touch_listeners if kept is not listener]

        return stop

    def append(self, batch: Batch) -> "Future[None]":
        """See `Writer.append`."""
        future: Future[None] = Future()
        count = len(batch.timestamps)
        with self._wake:
            if self._closing:
                raise StoreClosedError("the server is stopping; send these samples again later")
            if (reason := self._full(count)) is not None:
                self.counts.busy += 1
                raise StoreBusyError(f"{reason}; send these again later")
            self._waiting.append((batch, future))
            self.queued_samples += count
            self._wake.notify()
        return future

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """Keep it, and send it to the engine with the next samples."""
        with self._wake:
            self._metadata.update(metadata)
            self._wake.notify()

    def _full(self, count: int) -> str | None:
        settings, queue = self._settings, self._queue
        if self.queued_samples + count > settings.queue_samples and self.queued_samples:
            return (
                f"{self.queued_samples} samples are waiting for the disk, and at most {settings.queue_samples} may"
                " (LOADWATCH_STORE_QUEUE_SAMPLES)"
            )
        if queue.nbytes >= settings.queue_bytes:
            return (
                f"the engine of the samples does not keep up: {queue.nbytes} bytes wait for it on disk, and at most"
                f" {settings.queue_bytes} may (LOADWATCH_STORE_ENGINE_QUEUE_BYTES)"
            )
        oldest_ms = queue.oldest_ms
        if oldest_ms is not None and self._clock() - oldest_ms >= settings.queue_ms:
            return (
                "the engine of the samples does not keep up: the oldest samples on disk have waited for"
                f" {(self._clock() - oldest_ms) / 3_600_000:.1f} h (LOADWATCH_STORE_ENGINE_QUEUE_HOURS)"
            )
        return None

    def _loop(self) -> None:
        while True:
            with self._wake:
                while not (self._waiting or self._metadata or self._closing):
                    self._wake.wait()
                if self._closing and not self._waiting and not self._metadata:
                    return
                taken = self._take()
                metadata, self._metadata = self._metadata, {}
            self._write(taken, metadata)

    def _take(self) -> _Taken:
        taken: _Taken = []
        count = 0
        while self._waiting and (not taken or count + len(self._waiting[0][0].series) <= _COMMIT_SAMPLES):
            taken.append(self._waiting.popleft())
            count += len(taken[-1][0].series)
        self.queued_samples -= count
        return taken

    def _write(self, taken: _Taken, metadata: dict[str, MetricMetadata]) -> None:
        try:
            series, timestamps, values = _columns([batch for batch, _ in taken])
            series = self._index.revive(series)
            self._index.take_pending()  # Which series are new is of no interest here.
            if metadata:
                self._known_metadata.keep(metadata)
            sent = [int(batch.timestamps.max()) for batch, _ in taken if not batch.own and len(batch.timestamps)]
            bodies = self._bodies(series, timestamps, values, encode_metadata(metadata) + self._announced(sent))
            last = self._queue.append(bodies) if bodies else self._queue.last
        except Exception as error:
            self._fail(taken, metadata, error)
            return
        self._recent.add(last, series, timestamps, values)
        self.counts.commits += 1
        self.counts.samples += len(series)
        for _, future in taken:
            future.set_result(None)
        if sent:
            self.heard(max(sent))
        if len(series):
            self.touched(self._index.metrics(series))

    def _announced(self, sent: Sequence[int]) -> bytes:
        if self._announcement is None or not sent:
            return b""
        return self._announcement.encoded(max((*sent, self.heard_ms or 0)), self._clock())

    def heard(self, newest_ms: int) -> None:
        """Samples up to this time are there: tell who waits for them."""
        with self._hearing:
            heard_ms = self.heard_ms = newest_ms if self.heard_ms is None else max(self.heard_ms, newest_ms)
        now_ms = self._clock()
        _tell([partial(listener, heard_ms, now_ms) for listener in self._listeners])

    def touched(self, metrics: frozenset[str]) -> None:
        """These metrics have new samples: tell who waits for them."""
        _tell([partial(listener, metrics) for listener in self._touch_listeners])

    def _fail(self, taken: _Taken, metadata: dict[str, MetricMetadata], error: Exception) -> None:
        with self._wake:
            self._metadata = {**metadata, **self._metadata} if taken else self._metadata
        self.counts.failed_commits += 1
        log.error("samples could not be queued", error=str(error), requests=len(taken))
        reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
        for _, future in taken:
            future.set_exception(StoreWriteError(f"the samples could not be written to disk: {reason}"))

    def _bodies(self, series: U32, timestamps: I64, values: F64, besides: bytes) -> list[tuple[bytes, int]]:
        """Requests with their number of samples, series by series in rising time; of repeated ones the last."""
        order = np.lexsort((np.arange(len(series)), timestamps, series))
        series, timestamps, values = series[order], timestamps[order], values[order]
        last = np.ones(len(series), np.bool_)
        last[:-1] = (series[1:] != series[:-1]) | (timestamps[1:] != timestamps[:-1])
        series, timestamps, values = series[last], timestamps[last], values[last]
        bodies: list[tuple[bytes, int]] = []
        most = self._settings.request_samples
        for first in range(0, len(series), most):
            part = slice(first, first + most)
            ids, counts = _runs(series[part])
            parts = encode_series(self._heads_of(ids), counts, timestamps[part], values[part])
            for group in _by_bytes(parts):
                message = b"".join(parts[group]) + (b"" if bodies else besides)
                bodies.append((compressed(message), sum(counts[group])))
        if besides and not bodies:
            bodies.append((compressed(besides), 0))
        return bodies

    def _heads_of(self, ids: list[int]) -> list[bytes]:
        heads = self._heads
        unknown = [series_id for series_id in ids if series_id not in heads]
        if unknown:
            if len(heads) + len(unknown) > _CACHED_HEADS:
                heads.clear()
                unknown = ids
            for series_id, labels in zip(unknown, self._index.labels(unknown), strict=True):
                heads[series_id] = encode_labels(labels)
        return [heads[series_id] for series_id in ids]


def compressed(message: bytes) -> bytes:
    """The message as a snappy block."""
    return bytes(cramjam.snappy.compress_raw(message))


def plain(body: bytes) -> bytes:
    """The message of a snappy block that we wrote."""
    return bytes(cast("bytes", cramjam.snappy.decompress_raw(body)))


def plain_size(body: bytes) -> int:
    """Bytes of the message in a snappy block that we wrote."""
    return int(cramjam.snappy.decompress_raw_len(body)) if body else 0


def _by_bytes(parts: Sequence[bytes]) -> Iterator[slice]:
    """Which neighbours make a request each that no engine finds too large."""
    first = size = 0
    for place, part in enumerate(parts):
        if size + len(part) > REQUEST_BYTES and place > first:
            yield slice(first, place)
            first, size = place, 0
        size += len(part)
    yield slice(first, len(parts))


def _runs(series: U32) -> tuple[list[int], list[int]]:
    """Each id and how many rows it has, of rows in the order of ids."""
    begins = np.flatnonzero(np.append(True, series[1:] != series[:-1]))
    ids: list[int] = series[begins].tolist()
    counts: list[int] = np.diff(np.append(begins, len(series))).tolist()
    return ids, counts


def _columns(batches: Sequence[Batch]) -> tuple[Ids, I64, F64]:
    return (
        np.concatenate([np.empty(0, np.uint32), *(batch.series for batch in batches)]),
        np.concatenate([np.empty(0, np.int64), *(batch.timestamps for batch in batches)]),
        np.concatenate([np.empty(0, np.float64), *(batch.values for batch in batches)]),
    )


def _tell(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        try:
            call()
        except Exception:
            log.exception("a listener to commits failed")
