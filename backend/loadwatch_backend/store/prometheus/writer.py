"""The one thread that takes samples in: it makes requests of what waits, queues them on disk once, tells everybody."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import cramjam
import numpy as np
import structlog

from loadwatch_backend.store.embedded.block import F64, I64, U32
from loadwatch_backend.store.embedded.series_index import SeriesIndex
from loadwatch_backend.store.errors import StoreWriteError
from loadwatch_backend.store.prometheus.durable_queue import DurableQueue
from loadwatch_backend.store.prometheus.known_metadata import KnownMetadata
from loadwatch_backend.store.prometheus.news import Announcement
from loadwatch_backend.store.prometheus.recent import Recent
from loadwatch_backend.store.prometheus.settings import RemoteSettings
from loadwatch_backend.store.prometheus.wire import encode_labels, encode_metadata, encode_series
from loadwatch_backend.store.write_queue import Listeners, Work, WriteQueue, columns_of, newest_sent

log = structlog.get_logger(__name__)

_COMMIT_SAMPLES = 200_000
_CACHED_HEADS = 200_000
REQUEST_BYTES = 4 << 20
"""Of a request before it is compressed."""


class QueueWriter:
    """The thread that empties its queue onto the disk."""

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
        self._disk = queue
        self._recent = recent
        self._known_metadata = metadata
        self._announcement = announcement
        self._clock = clock
        self.queue = WriteQueue(settings.queue_samples, _COMMIT_SAMPLES, self._behind)
        self.listeners = Listeners()
        self._heads: dict[int, bytes] = {}
        self.heard_ms: int | None = None
        self._hearing = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="store-writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def close(self) -> None:
        """Write what waits, then stop."""
        self.queue.close()
        self._thread.join()

    def _behind(self) -> str | None:
        settings, queue = self._settings, self._disk
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
        while (work := self.queue.take()) is not None:
            self._write(work)

    def _write(self, work: Work) -> None:
        try:
            series, timestamps, values = columns_of(work.taken)
            series = self._index.revive(series)
            self._index.take_pending()  # Which series are new is of no interest here.
            if work.metadata:
                self._known_metadata.keep(work.metadata)
            sent_ms = newest_sent(work.taken)
            besides = encode_metadata(work.metadata) + self._announced(sent_ms)
            bodies = self._bodies(series, timestamps, values, besides)
            last = self._disk.append(bodies) if bodies else self._disk.last
        except Exception as error:
            log.error("samples could not be queued", error=str(error), requests=len(work.taken))
            reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
            self.queue.fail(work, StoreWriteError(f"the samples could not be written to disk: {reason}"))
            return
        self._recent.add(last, series, timestamps, values)
        self.queue.finish(work, len(series))
        if sent_ms is not None:
            self.heard(sent_ms)
        if len(series):
            self.listeners.touched(lambda: self._index.metrics(series))

    def _announced(self, sent_ms: int | None) -> bytes:
        if self._announcement is None or sent_ms is None:
            return b""
        return self._announcement.encoded(max(sent_ms, self.heard_ms or 0), self._clock())

    def heard(self, newest_ms: int) -> None:
        """Samples up to this time are there: tell who waits for them."""
        with self._hearing:
            heard_ms = self.heard_ms = newest_ms if self.heard_ms is None else max(self.heard_ms, newest_ms)
        self.listeners.committed(heard_ms, self._clock())

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
