"""The newest samples in memory, so that live queries never touch the disk.

Blocks are kept in order of arrival and merged in tiers, eight of about one size into one of the next, as in a
log-structured merge tree. Readers take the tuple of blocks as it is; blocks are never changed.
"""

import threading
from dataclasses import dataclass

from loadwatch_backend.store.embedded.block import (
    F64,
    I64,
    LATEST_MS,
    U32,
    Block,
    build_block,
    drop_before,
    merge_blocks,
)

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
    """Written by one thread, read by any."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._view = HeadView(blocks=(), complete_ms=LATEST_MS)
        self.nbytes = 0

    def view(self) -> HeadView:
        """The present state."""
        return self._view

    def start(self, complete_ms: int) -> None:
        """Every sample from this time on will be added from now on."""
        self._publish((), complete_ms)

    def add(self, series: U32, timestamps: I64, values: F64) -> None:
        """Add committed samples, in order of arrival; those before `complete_ms` are left to the disk."""
        complete_ms = self._view.complete_ms
        if int(timestamps.min(initial=LATEST_MS)) < complete_ms:
            kept = timestamps >= complete_ms
            series, timestamps, values = series[kept], timestamps[kept], values[kept]
        if not len(timestamps):
            return
        blocks = [*self._view.blocks, build_block(series, timestamps, values)]
        self._publish(tuple(_compact(blocks)), complete_ms)
        if self.nbytes > self._limit:
            self._shrink()

    def extend_back(self, block: Block | None, complete_ms: int) -> None:
        """Put samples from the disk, all of a span that ends at the present `complete_ms`, in front."""
        blocks = self._view.blocks if block is None else (block, *self._view.blocks)
        self._publish(blocks, complete_ms)

    def drop_before(self, cutoff_ms: int) -> None:
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
            self.drop_before(max(oldest, self._view.complete_ms) + 1)

    def _publish(self, blocks: tuple[Block, ...], complete_ms: int) -> None:
        with self._lock:
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
