"""The newest samples in memory, so that live queries never touch the disk.

Commits wait as they came until somebody reads or enough of them are there; then they become one block, which is much
cheaper than a block each. Blocks are kept in order of arrival and merged in tiers, eight of about one size into one of
the next, as in a log-structured merge tree. Readers take the tuple of blocks as it is; blocks are never changed.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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
        """How many blocks there are."""
        return len(self._view.blocks)

    def view(self) -> HeadView:
        """The present state, with everything that was added."""
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
    """Merge the newest blocks of a tier once there are `_FAN` of them."""
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
