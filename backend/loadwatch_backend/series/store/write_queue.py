"""What waits for the one thread of a store that writes, and who is told once it has; for every engine."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import structlog

from loadwatch_backend.series.store.errors import StoreBusyError, StoreClosedError
from loadwatch_backend.series.store.port import Batch, CommitListener, MetricMetadata, TouchListener

log = structlog.get_logger(__name__)

FAILING_SECONDS = 60.0

Taken = list[tuple[Batch, "Future[None]"]]
Jobs = deque[tuple[Callable[[], Any], "Future[Any]"]]


@dataclass(slots=True)
class WriterCounts:
    samples: int = 0
    commits: int = 0
    failed_commits: int = 0
    busy: int = 0
    failed_at: float | None = None
    """When the last commit failed, by the monotonic clock; None after one that succeeded."""

    @property
    def is_failing(self) -> bool:
        """Whether the last commit failed, a short time ago: later ones may succeed, and somebody has to try."""
        return self.failed_at is not None and time.monotonic() - self.failed_at < FAILING_SECONDS


class Work(NamedTuple):
    taken: Taken
    metadata: dict[str, MetricMetadata]
    jobs: Jobs


@dataclass(slots=True)
class Listeners:
    """Callbacks that the writer's thread runs; they must return quickly."""

    _commits: list[CommitListener] = field(default_factory=list[CommitListener])
    _touches: list[TouchListener] = field(default_factory=list[TouchListener])

    def on_commit(self, listener: CommitListener) -> Callable[[], None]:
        self._commits = [*self._commits, listener]

        def stop() -> None:
            self._commits = [kept for kept in self._commits if kept is not listener]

        return stop

    def on_touch(self, listener: TouchListener) -> Callable[[], None]:
        self._touches = [*self._touches, listener]

        def stop() -> None:
            self._touches = [kept for kept in self._touches if kept is not listener]

        return stop

    def committed(self, newest_ms: int, now_ms: int) -> None:
        _tell([partial(listener, newest_ms, now_ms) for listener in self._commits])

    def touched(self, metrics: Callable[[], frozenset[str]]) -> None:
        """Metrics have new samples; their names are only asked for where somebody listens."""
        if self._touches:
            names = metrics()
            _tell([partial(listener, names) for listener in self._touches])


class WriteQueue:
    """Used from any thread, emptied by one.

    `most_samples` may wait, and `commit_samples` are taken at once; `refuse` says why nothing is taken in at all.
    """

    def __init__(self, most_samples: int, commit_samples: int, refuse: Callable[[], str | None] = lambda: None) -> None:
        self._most_samples = most_samples
        self._commit_samples = commit_samples
        self._refuse = refuse
        self._wake = threading.Condition()
        self._waiting: deque[tuple[Batch, Future[None]]] = deque()
        self._jobs: Jobs = deque()
        self._metadata: dict[str, MetricMetadata] = {}
        self._closing = False
        self.samples = 0
        self.counts = WriterCounts()

    def append(self, batch: Batch) -> "Future[None]":
        """Queue samples; the future is done once they are on disk.

        Raises:
            StoreBusyError: more samples are waiting than may.
            StoreClosedError: the store is shutting down.
        """
        future: Future[None] = Future()
        count = len(batch.timestamps)
        with self._wake:
            if self._closing:
                raise StoreClosedError("the server is stopping; send these samples again later")
            reason = self._refuse()
            if self.samples + count > self._most_samples and self.samples:
                reason = f"{self.samples} samples are waiting for the disk, and at most {self._most_samples} may"
            if reason is not None:
                self.counts.busy += 1
                raise StoreBusyError(f"{reason}; send these again later")
            self._waiting.append((batch, future))
            self.samples += count
            self._wake.notify()
        return future

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
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

    def close(self) -> None:
        """Take in nothing more; what waits is still given out."""
        with self._wake:
            self._closing = True
            self._wake.notify()

    def take(self) -> Work | None:
        """Wait for the next work; None when it is closed and nothing waits."""
        with self._wake:
            while not (self._waiting or self._jobs or self._metadata or self._closing):
                self._wake.wait()
            if self._closing and not self._waiting and not self._metadata:
                for _job, future in self._jobs:
                    future.set_exception(StoreClosedError("the server is stopping"))
                return None
            taken: Taken = []
            count = 0
            while self._waiting and (not taken or count + len(self._waiting[0][0].series) <= self._commit_samples):
                taken.append(self._waiting.popleft())
                count += len(taken[-1][0].series)
            self.samples -= count
            metadata, self._metadata = self._metadata, {}
            jobs, self._jobs = self._jobs, deque()
            return Work(taken, metadata, jobs)

    def fail(self, work: Work, error: Exception) -> None:
        """Tell those who wait that nothing was stored; keep metadata, which nobody sends again."""
        with self._wake:
            self._metadata = {**work.metadata, **self._metadata} if work.taken else self._metadata
        self.counts.failed_commits += 1
        self.counts.failed_at = time.monotonic()
        for _, future in work.taken:
            # Who has gone has cancelled it.
            with suppress(InvalidStateError):
                future.set_exception(error)

    def finish(self, work: Work, samples: int) -> None:
        self.counts.commits += 1
        self.counts.failed_at = None
        self.counts.samples += samples
        for _, future in work.taken:
            with suppress(InvalidStateError):
                future.set_result(None)


def columns_of(taken: Taken) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Series, times and values of all batches, in order of arrival, each array contiguous."""
    if len(taken) == 1:
        batch = taken[0][0]
        return (
            np.ascontiguousarray(batch.series, np.uint32),
            np.ascontiguousarray(batch.timestamps, np.int64),
            np.ascontiguousarray(batch.values, np.float64),
        )
    return (
        np.concatenate([np.empty(0, np.uint32), *(batch.series for batch, _ in taken)]),
        np.concatenate([np.empty(0, np.int64), *(batch.timestamps for batch, _ in taken)]),
        np.concatenate([np.empty(0, np.float64), *(batch.values for batch, _ in taken)]),
    )


def newest_sent(taken: Taken) -> int | None:
    """Time of the newest sample that somebody sent, and not the server itself."""
    times = [int(batch.timestamps.max()) for batch, _ in taken if not batch.own and len(batch.timestamps)]
    return max(times, default=None)


def _tell(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        try:
            call()
        except Exception:
            log.exception("a listener to commits failed")
