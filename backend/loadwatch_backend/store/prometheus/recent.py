"""Samples in memory that the engine may not show yet: what waits in the queue, and what was delivered a moment ago.

Slots in order of arrival, each with the samples of about a second. A slot goes once its frames were delivered and have
`settled`; when memory is short the oldest go, and their samples are seen when the engine has them.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from loadwatch_backend.store.embedded.block import (
    F64,
    I64,
    LATEST_MS,
    U32,
    Block,
    build_block,
    merge_blocks,
)

_SLOT_SECONDS = 1.0
_SLOT_ROWS = 1 << 17
_MOST_SLOTS = 256


@dataclass(slots=True)
class _Slot:
    began: float
    last: int
    """The sequence of its newest frame."""
    parts: list[tuple[U32, I64, F64]] = field(default_factory=list[tuple[U32, I64, F64]])
    rows: int = 0
    block: Block | None = None
    delivered: float | None = None

    @property
    def nbytes(self) -> int:
        return 20 * self.rows if self.block is None else self.block.nbytes


class Recent:
    """Safe to use from any thread; samples are added in the order of their frames."""

    def __init__(
        self, most_bytes: int, touch: Callable[[Block], None], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """`touch` is told of every block before a reader can see it."""
        self._most_bytes = most_bytes
        self._touch = touch
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._slots: deque[_Slot] = deque()
        self.left_out_samples = 0
        """Samples that had to go before the engine had them."""

    @property
    def nbytes(self) -> int:
        """Memory of all slots."""
        with self._lock:
            return sum(slot.nbytes for slot in self._slots)

    @property
    def slots(self) -> int:
        """How many there are."""
        return len(self._slots)

    def add(self, last: int, series: U32, timestamps: I64, values: F64) -> None:
        """Samples of the frames up to `last`; the arrays must not change afterwards."""
        inside = (timestamps >= 0) & (timestamps <= LATEST_MS)
        if not inside.all():
            series, timestamps, values = series[inside], timestamps[inside], values[inside]
        if not len(series):
            return
        now = self._monotonic()
        with self._lock:
            slot = self._slots[-1] if self._slots else None
            if slot is None or now - slot.began > _SLOT_SECONDS or slot.rows >= _SLOT_ROWS or slot.delivered:
                if slot is not None:
                    self._build(slot)
                slot = _Slot(began=now, last=last)
                self._slots.append(slot)
            slot.parts.append((series, timestamps, values))
            slot.rows += len(series)
            slot.last = last
            self._shrink()

    def blocks(self) -> tuple[Block, ...]:
        """All samples, in order of arrival."""
        with self._lock:
            for slot in self._slots:
                self._build(slot)
            return tuple(slot.block for slot in self._slots if slot.block is not None)

    def deliver(self, through: int) -> None:
        """The engine has the frames up to this one."""
        now = self._monotonic()
        with self._lock:
            for slot in self._slots:
                if slot.last > through:
                    break
                slot.delivered = slot.delivered or now

    def forget_settled(self, seconds: float) -> None:
        """Let go of what was delivered so long ago."""
        limit = self._monotonic() - seconds
        with self._lock:
            while self._slots and (delivered := self._slots[0].delivered) is not None and delivered <= limit:
                # Seen by the index before it goes, whether anybody has read it or not.
                self._build(self._slots.popleft())

    def series(self) -> U32:
        """Ids that have samples here, rising."""
        blocks = self.blocks()
        return np.unique(np.concatenate([np.empty(0, np.uint32), *(block.series for block in blocks)]))

    def _build(self, slot: _Slot) -> None:
        """One block of what a slot has; samples that come to it later are joined to it."""
        if not slot.parts:
            return
        series, timestamps, values = (np.concatenate(columns) for columns in zip(*slot.parts, strict=True))
        slot.parts = []
        block = build_block(series, timestamps, values)
        self._touch(block)
        slot.block = block if slot.block is None else merge_blocks(slot.block, block)
        slot.rows = len(slot.block)

    def _shrink(self) -> None:
        if len(self._slots) > _MOST_SLOTS:
            # A long backlog: two neighbours each become one, so that reading stays a matter of few blocks.
            merged: deque[_Slot] = deque()
            slots = list(self._slots)
            for older, newer in zip(slots[0:-1:2], slots[1::2], strict=False):
                merged.append(self._joined(older, newer))
            if len(slots) % 2:
                merged.append(slots[-1])
            self._slots = merged
        size = sum(slot.nbytes for slot in self._slots)
        while size > self._most_bytes and len(self._slots) > 1:
            gone = self._slots.popleft()
            size -= gone.nbytes
            if gone.delivered is None:
                self.left_out_samples += gone.rows

    def _joined(self, older: _Slot, newer: _Slot) -> _Slot:
        self._build(older)
        self._build(newer)
        assert older.block is not None
        assert newer.block is not None
        block = merge_blocks(older.block, newer.block)
        delivered = None if older.delivered is None or newer.delivered is None else newer.delivered
        return _Slot(began=newer.began, last=newer.last, rows=len(block), block=block, delivered=delivered)
