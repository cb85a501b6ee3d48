"""The one thread that writes: it takes all waiting samples, commits them once, then tells every waiting sender."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import duckdb
import structlog

from loadwatch_backend.series.store.embedded.block import F64, I64, U32
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.disk_errors import is_durable, needs_reopening, reason_of
from loadwatch_backend.series.store.embedded.head import Head
from loadwatch_backend.series.store.embedded.series_index import SeriesIndex
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.errors import StoreClosedError, StoreWriteError
from loadwatch_backend.series.store.write_queue import Listeners, Work, WriteQueue, columns_of, newest_sent

log = structlog.get_logger(__name__)


class Writer:
    """The thread that empties its queue."""

    def __init__(
        self,
        settings: EmbeddedSettings,
        database: Database,
        index: SeriesIndex,
        head: Head,
        clock: Callable[[], int],
        span_ms: tuple[int | None, int | None],
        heartbeat_ms: int | None,
    ) -> None:
        self._settings = settings
        self._database = database
        self._index = index
        self._head = head
        self._clock = clock
        self.queue = WriteQueue(settings.queue_samples, settings.commit_samples)
        self.listeners = Listeners()
        self._broken = False
        self.oldest_ms, self.newest_ms = span_ms
        self.heard_ms = None if self.newest_ms is None else min(heartbeat_ms or self.newest_ms, clock())
        """Time of the newest sample that was sent to the server and is none of its own.

        After a start: the newest heartbeat (`up`) of a target; of any sample where nobody sends heartbeats; none of
        the future.
        """
        self._thread = threading.Thread(target=self._loop, name="store-writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def close(self) -> None:
        """Write what is queued, then stop."""
        self.queue.close()
        self._thread.join()

    def mend(self, error: BaseException) -> None:
        """Open the database again, between two commits, if nothing else helps after this error of upkeep."""
        if needs_reopening(error):
            self._broken = True
            with suppress(StoreClosedError):
                failed = self.queue.run(self._reopen).exception()
                if failed is not None:
                    log.error("the samples cannot be opened again, which the next commit tries", error=str(failed))

    def _loop(self) -> None:
        while (work := self.queue.take()) is not None:
            if work.taken or work.metadata:
                self._write(work)
            for job, future in work.jobs:
                self._settle(job, future)

    def _write(self, work: Work) -> None:
        new_series: list[tuple[int, tuple[str, ...]]] = []
        try:
            self._reopen()
            series, timestamps, values = columns_of(work.taken)
            series = self._index.revive(series)
            new_series = self._index.take_pending()
            try:
                self._database.commit(series, timestamps, values, new_series, work.metadata)
            except duckdb.FatalException as error:
                if not is_durable(error):
                    raise
                # Told as it is: who sent it would send it again, and the log would grow by it each time.
                self._broken = True
                log.error("the log could not be folded into the file", error=str(error))
        except Exception as error:
            self._fail(work, new_series, error)
            return
        self._remember(series, timestamps, values)
        sent_ms = newest_sent(work.taken)
        if sent_ms is not None:
            self.heard_ms = sent_ms if self.heard_ms is None else max(sent_ms, self.heard_ms)
        self.queue.finish(work, len(series))
        if sent_ms is not None and self.heard_ms is not None:
            self.listeners.committed(self.heard_ms, self._clock())
        if len(series):
            self.listeners.touched(lambda: self._index.metrics(series))

    def _reopen(self) -> None:
        if self._broken:
            self._database.reopen()
            self._index.settle(self._database.series_ids())
            self._broken = False

    def _settle(self, job: Callable[[], Any], future: "Future[Any]") -> None:
        try:
            self._reopen()
            future.set_result(job())
        except BaseException as error:
            self._broken = self._broken or needs_reopening(error)
            future.set_exception(error)

    def _fail(self, work: Work, new_series: list[tuple[int, tuple[str, ...]]], error: Exception) -> None:
        """Nothing of the commit is on disk."""
        self._index.give_back(new_series)
        self._broken = self._broken or needs_reopening(error)
        log.error("commit failed", error=str(error), requests=len(work.taken))
        # The whole text has paths of this machine; it is in the log.
        self.queue.fail(work, StoreWriteError(f"the samples could not be written to disk: {reason_of(error)}"))

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
