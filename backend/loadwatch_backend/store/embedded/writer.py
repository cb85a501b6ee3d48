"""The one thread that writes: it takes all waiting samples, commits them once, then tells every waiting sender."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb
import numpy as np
import structlog

from loadwatch_backend.store.embedded.block import F64, I64, U32
from loadwatch_backend.store.embedded.database import Database
from loadwatch_backend.store.embedded.head import Head
from loadwatch_backend.store.embedded.series_index import SeriesIndex
from loadwatch_backend.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.store.errors import DataDirectoryError, StoreBusyError, StoreClosedError, StoreWriteError
from loadwatch_backend.store.port import Batch, CommitListener, MetricMetadata, TouchListener

log = structlog.get_logger(__name__)

_NEED_REOPENING = (duckdb.FatalException, duckdb.InternalException, duckdb.ConnectionException, DataDirectoryError)
"""After these DuckDB refuses every statement until the file is opened again."""


@dataclass(slots=True)
class WriterCounts:
    """What the writer has done since the start; read by /metrics."""

    samples: int = 0
    commits: int = 0
    failed_commits: int = 0
    busy: int = 0


class Writer:
    """Queue and thread; `append` and `run` may be called from any thread."""

    def __init__(
        self,
        settings: EmbeddedSettings,
        database: Database,
        index: SeriesIndex,
        head: Head,
        clock: Callable[[], int],
        span_ms: tuple[int | None, int | None],
    ) -> None:
        self._settings = settings
        self._database = database
        self._index = index
        self._head = head
        self._clock = clock
        self._wake = threading.Condition()
        self._waiting: deque[tuple[Batch, Future[None]]] = deque()
        self._jobs: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._metadata: dict[str, MetricMetadata] = {}
        self._listeners: list[CommitListener] = []
        self._touch_listeners: list[TouchListener] = []
        self._closing = False
        self._broken = False
        self.queued_samples = 0
        self.counts = WriterCounts()
        self.oldest_ms, self.newest_ms = span_ms
        self.heard_ms = self.newest_ms
        """Time of the newest sample that was sent to the server; after a start, of any."""
        self._thread = threading.Thread(target=self._loop, name="store-writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def close(self) -> None:
        """Write what is queued, then stop."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def on_commit(self, listener: CommitListener) -> Callable[[], None]:
        """Call back after each commit, from the writer's thread: be quick. Returns a function that ends it."""
        self._listeners = [*self._listeners, listener]

        def stop() -> None:
            self._listeners = [kept for kept in self._listeners if kept is not listener]

        return stop

    def on_touch(self, listener: TouchListener) -> Callable[[], None]:
        """As `on_commit`, for those who want to know which metrics got samples."""
        self._touch_listeners = [*self._touch_listeners, listener]

        def stop() -> None:
            self._touch_listeners = [kept for kept in self._touch_listeners if kept is not listener]

        return stop

    def append(self, batch: Batch) -> "Future[None]":
        """Queue samples; the future is done once they are on disk.

        Raises:
            StoreBusyError: more samples are waiting than the queue may hold.
            StoreClosedError: the store is shutting down.
        """
        future: Future[None] = Future()
        count = len(batch.timestamps)
        with self._wake:
            if self._closing:
                raise StoreClosedError("the server is stopping; send these samples again later")
            if self.queued_samples + count > self._settings.queue_samples and self.queued_samples:
                self.counts.busy += 1
                raise StoreBusyError(
                    f"{self.queued_samples} samples are waiting for the disk, and at most"
                    f" {self._settings.queue_samples} may (LOADWATCH_STORE_QUEUE_SAMPLES); send these again later"
                )
            self._waiting.append((batch, future))
            self.queued_samples += count
            self._wake.notify()
        return future

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """Write the metadata with the next commit."""
        with self._wake:
            self._metadata.update(metadata)
            self._wake.notify()

    def run(self, job: Callable[[], Any]) -> "Future[Any]":
        """Run a job in the writer's thread, between two commits."""
        future: Future[Any] = Future()
        with self._wake:
            if self._closing:
                raise StoreClosedError("the server is stopping")
            self._jobs.append((job, future))
            self._wake.notify()
        return future

    def _loop(self) -> None:
        while True:
            with self._wake:
                while not (self._waiting or self._jobs or self._metadata or self._closing):
                    self._wake.wait()
                if self._closing and not self._waiting and not self._metadata:
                    break
                taken = self._take()
                metadata, self._metadata = self._metadata, {}
                jobs, self._jobs = self._jobs, deque()
            if taken or metadata:
                self._write(taken, metadata)
            for job, future in jobs:
                self._settle(job, future)
        for _job, future in self._jobs:
            future.set_exception(StoreClosedError("the server is stopping"))

    def _mend(self) -> None:
        if self._broken:
            self._database.reopen()
            self._broken = False

    def _settle(self, job: Callable[[], Any], future: "Future[Any]") -> None:
        try:
            self._mend()
            future.set_result(job())
        except BaseException as error:
            self._broken = self._broken or _is_broken_by(error)
            future.set_exception(error)

    def _take(self) -> list[tuple[Batch, "Future[None]"]]:
        taken: list[tuple[Batch, Future[None]]] = []
        count = 0
        while self._waiting and (not taken or count + len(self._waiting[0][0].series) <= self._settings.commit_samples):
            taken.append(self._waiting.popleft())
            count += len(taken[-1][0].series)
        self.queued_samples -= count
        return taken

    def _write(self, taken: list[tuple[Batch, "Future[None]"]], metadata: dict[str, MetricMetadata]) -> None:
        new_series: list[tuple[int, tuple[str, ...]]] = []
        try:
            self._mend()
            series, timestamps, values = _columns([batch for batch, _ in taken])
            series = self._index.revive(series)
            new_series = self._index.take_pending()
            self._database.commit(series, timestamps, values, new_series, metadata)
        except Exception as error:
            self._fail(taken, metadata, new_series, error)
            return
        self._remember(series, timestamps, values)
        sent = [int(batch.timestamps.max()) for batch, _ in taken if not batch.own and len(batch.timestamps)]
        self.heard_ms = max((*sent, *(() if self.heard_ms is None else (self.heard_ms,))), default=None)
        self.counts.commits += 1
        self.counts.samples += len(series)
        for _, future in taken:
            future.set_result(None)
        if sent and self.heard_ms is not None:
            committed_ms, heard_ms = self._clock(), self.heard_ms
            self._tell([partial(listener, heard_ms, committed_ms) for listener in self._listeners])
        if self._touch_listeners and len(series):
            metrics = self._index.metrics(series)
            self._tell([partial(listener, metrics) for listener in self._touch_listeners])

    def _tell(self, calls: Sequence[Callable[[], None]]) -> None:
        for call in calls:
            try:
                call()
            except Exception:
                log.exception("a listener to commits failed")

    def _fail(
        self,
        taken: list[tuple[Batch, "Future[None]"]],
        metadata: dict[str, MetricMetadata],
        new_series: list[tuple[int, tuple[str, ...]]],
        error: Exception,
    ) -> None:
        """Nothing of the commit is on disk: keep what is not the senders' and tell them."""
        self._index.give_back(new_series)
        with self._wake:
            self._metadata = {**metadata, **self._metadata} if taken else self._metadata
        self._broken = _is_broken_by(error)
        self.counts.failed_commits += 1
        log.error("commit failed", error=str(error), requests=len(taken))
        # The whole text has paths of this machine; it is in the log.
        reason = str(error).rsplit(": ", 1)[-1]
        for _, future in taken:
            future.set_exception(StoreWriteError(f"the samples could not be written to disk: {reason}"))

    def _remember(self, series: U32, timestamps: I64, values: F64) -> None:
        if not len(series):
            return
        try:
            self._head.add(series, timestamps, values)
        except MemoryError:
            # The samples are on disk: from here on the disk answers for them, and the head begins anew.
            self._head.start(int(timestamps.max()) + 1)
            log.exception("no memory for the newest samples")
        oldest, newest = int(timestamps.min()), int(timestamps.max())
        self.oldest_ms = oldest if self.oldest_ms is None else min(self.oldest_ms, oldest)
        self.newest_ms = newest if self.newest_ms is None else max(self.newest_ms, newest)


def _columns(batches: list[Batch]) -> tuple[U32, I64, F64]:
    if len(batches) == 1:
        batch = batches[0]
        return (
            np.ascontiguousarray(batch.series, np.uint32),
            np.ascontiguousarray(batch.timestamps, np.int64),
            np.ascontiguousarray(batch.values, np.float64),
        )
    return (
        np.concatenate([batch.series for batch in batches] or [np.empty(0, np.uint32)]),
        np.concatenate([batch.timestamps for batch in batches] or [np.empty(0, np.int64)]),
        np.concatenate([batch.values for batch in batches] or [np.empty(0, np.float64)]),
    )


def _is_broken_by(error: BaseException) -> bool:
    return isinstance(error, _NEED_REOPENING) or "invalidated" in str(error)
