"""The one thread that writes: it takes all waiting samples, commits them once, then tells every waiting sender.

Commits wait as they came until somebody reads or enough of them are there; then they become one block, which is much
cheaper than a block each. Blocks are kept in order of arrival and merged in tiers, eight of about one size into one of
the next, as in a log-structured merge tree. Readers take the tuple of blocks as it is; blocks are never changed.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import duckdb
import numpy as np
import structlog

from loadwatch_backend.series.store.embedded.block import (
    F64,
    I64,
    LATEST_MS,
    U32,
    Block,
    build_block,
    drop_before,
    merge_blocks,
)
from loadwatch_backend.series.store.embedded.damage import is_durable, needs_reopening, reason_of
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.series_index import SeriesIndex
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.errors import StoreClosedError, StoreWriteError
from loadwatch_backend.series.store.write_queue import Listeners, Work, WriteQueue, columns_of, newest_sent

_ABSORB_COMMITS = 16
_ABSORB_ROWS = 1 << 15
_FAN = 8
_TIERS = (1 << 8, 1 << 11, 1 << 14, 1 << 17)
"""Rows up to which a block belongs to a tier. Larger blocks, of up to a million rows, are not merged any more: merging
two of them would hold the interpreter for 20 ms and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadView:
    """What a reader sees: every sample at or after `complete_ms` is in the blocks, which are in order of arrival."""

    blocks: tuple[Block, ...]
    complete_ms: int


class Head:
    """Safe to use from any thread; samples are added in the order of their commits."""

    def __init__(self, limit_bytes: int, on_block: Callable[[Block], None]) -> None:
        """`on_block` is told of every block of new samples before a reader can see it."""
        self._limit = limit_bytes
        self._on_block = on_block
        self._lock = threading.RLock()
        self._view = HeadView(blocks=(), complete_ms=LATEST_MS)
        self._waiting: list[tuple[U32, I64, F64]] = []
        self._waiting_rows = 0
        self.nbytes = 0

    @property
    def blocks(self) -> int:
        return len(self._view.blocks)

    def view(self) -> HeadView:
        with self._lock:
            self._absorb()
            return self._view

    @property
    def complete_ms(self) -> int:
        """Every sample at or after this time is here."""
        return self._view.complete_ms

    def start(self, complete_ms: int) -> None:
        """Every sample from this time on will be added from now on."""
        with self._lock:
            self._waiting, self._waiting_rows = [], 0
            self._publish((), complete_ms)

    def add(self, series: U32, timestamps: I64, values: F64) -> None:
        """Add committed samples; the arrays must not change afterwards."""
        with self._lock:
            self._waiting.append((series, timestamps, values))
            self._waiting_rows += len(series)
            if self._waiting_rows >= _ABSORB_ROWS or len(self._waiting) >= _ABSORB_COMMITS:
                self._absorb()

    def _absorb(self) -> None:
        """Make one block of what waits; samples before `complete_ms` are left to the disk."""
        if not self._waiting:
            return
        series, timestamps, values = (np.concatenate(columns) for columns in zip(*self._waiting, strict=True))
        self._waiting, self._waiting_rows = [], 0
        block: Block | None = build_block(series, timestamps, values)
        self._on_block(block)
        complete_ms = self._view.complete_ms
        if block.first_ms < complete_ms:
            block = drop_before(block, complete_ms)
        if block is not None:
            self._publish(tuple(_compact([*self._view.blocks, block])), complete_ms)
            if self.nbytes > self._limit:
                self._shrink()

    def extend_back(self, block: Block | None, complete_ms: int) -> None:
        """Put samples from the disk, all of a span that ends at the present `complete_ms`, in front."""
        with self._lock:
            # What waits may hold samples of the span that the disk has, too: let it find its place after the block.
            self._absorb()
            blocks = self._view.blocks if block is None else (block, *self._view.blocks)
            self._publish(blocks, complete_ms)

    def _drop_before(self, cutoff_ms: int) -> None:
        """Let go of samples before the cut-off; the disk answers for them from now on."""
        view = self._view
        if cutoff_ms <= view.complete_ms:
            return
        kept: list[Block] = []
        for block in view.blocks:
            if block.last_ms < cutoff_ms:
                continue
            # Blocks follow each other in time, so the one at the border is mostly needed: cutting it is not worth
            # a copy unless most of its span goes.
            if cutoff_ms - block.first_ms > block.last_ms - cutoff_ms:
                remaining = drop_before(block, cutoff_ms)
                if remaining is not None:
                    kept.append(remaining)
            else:
                kept.append(block)
        self._publish(tuple(kept), cutoff_ms)

    def _shrink(self) -> None:
        while self.nbytes > self._limit * 0.9 and self._view.blocks:
            oldest = min(block.last_ms for block in self._view.blocks)
            newest = max(block.last_ms for block in self._view.blocks)
            if oldest >= newest:
                # One block is all there is: let go of the older half of its span.
                oldest = (min(block.first_ms for block in self._view.blocks) + newest) // 2
            self._drop_before(max(oldest, self._view.complete_ms) + 1)

    def _publish(self, blocks: tuple[Block, ...], complete_ms: int) -> None:
        self._view = HeadView(blocks=blocks, complete_ms=complete_ms)
        self.nbytes = sum(block.nbytes for block in blocks)


def _compact(blocks: list[Block]) -> list[Block]:
    for tier in _TIERS:
        first = len(blocks)
        while first and len(blocks[first - 1]) <= tier:
            first -= 1
        if len(blocks) - first >= _FAN:
            blocks[first:] = [_merge_all(blocks[first:])]
    return blocks


def _merge_all(blocks: list[Block]) -> Block:
    # In pairs of neighbours, so that every row is copied three times for eight blocks.
    while len(blocks) > 1:
        pairs = [merge_blocks(older, newer) for older, newer in zip(blocks[::2], blocks[1::2], strict=False)]
        blocks = [*pairs, *blocks[2 * len(pairs) :]]
    return blocks[0]


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
        self._thread.start()

    def close(self) -> None:
        self.queue.close()
        self._thread.join()

    def mend(self, error: BaseException) -> None:
        """Reopen the database, between two commits, if this error of upkeep requires it."""
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
                try:
                    self._reopen()
                    future.set_result(job())
                except BaseException as error:
                    self._broken = self._broken or needs_reopening(error)
                    future.set_exception(error)

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
            # Nothing of the commit is on disk.
            self._index.give_back(new_series)
            self._broken = self._broken or needs_reopening(error)
            log.error("commit failed", error=str(error), requests=len(work.taken))
            # The whole text has paths of this machine; it is in the log.
            self.queue.fail(work, StoreWriteError(f"the samples could not be written to disk: {reason_of(error)}"))
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
