"""Samples in memory that the engine may not show yet: what waits in the queue, and what was delivered a moment ago.

Slots in order of arrival, each with the samples of some seconds, or of as long as the engine takes nothing. A slot goes
once its frames were delivered and have `settled`; when memory is short the oldest samples go, and are seen when the
engine has them. Joined with the engine's samples ours win: they are the later ones of a repeated (series, time).
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from loadwatch_backend.series.store.embedded.block import (
    F64,
    I64,
    LATEST_MS,
    U32,
    Block,
    Cut,
    build_block,
    cut_block,
    join_cuts,
)
from loadwatch_backend.series.store.embedded.writer import Head
from loadwatch_backend.series.store.port import Labels, Selection
from loadwatch_backend.series.store.prometheus.wire import SeriesSamples

_SLOT_SECONDS = 60.0


@dataclass(slots=True)
class _Slot:
    head: Head
    began: float
    last: int = 0
    delivered: float | None = None


class Recent:
    """Safe to use from any thread; samples are added in the order of their frames."""

    def __init__(self, most_bytes: int, touch: Callable[[Block], None]) -> None:
        """`touch` is told of every block before a reader can see it."""
        self._most_bytes = most_bytes
        self._touch = touch
        self._lock = threading.Lock()
        self._slots: deque[_Slot] = deque()

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(slot.head.nbytes for slot in self._slots)

    @property
    def slots(self) -> int:
        return len(self._slots)

    @property
    def reach_seconds(self) -> float:
        """Everything that arrived within so many seconds is still here."""
        with self._lock:
            return time.monotonic() - self._slots[0].began if self._slots else 0.0

    def add(self, last: int, series: U32, timestamps: I64, values: F64) -> None:
        """Samples of the frames up to `last`; the arrays must not change afterwards."""
        inside = (timestamps >= 0) & (timestamps <= LATEST_MS)
        if not inside.all():
            series, timestamps, values = series[inside], timestamps[inside], values[inside]
        if not len(series):
            return
        now = time.monotonic()
        with self._lock:
            slots = self._slots
            # Behind one that waits for the engine there is only one more, however long it takes.
            waits = len(slots) > 1 and slots[-2].delivered is None
            if not slots or (now - slots[-1].began > _SLOT_SECONDS and not waits):
                slots.append(_Slot(Head(self._most_bytes, self._touch), began=now))
                slots[-1].head.start(0)
            slots[-1].head.add(series, timestamps, values)
            slots[-1].last, slots[-1].delivered = last, None
            while len(slots) > 1 and sum(slot.head.nbytes for slot in slots) > self._most_bytes:
                slots.popleft()

    def blocks(self) -> tuple[Block, ...]:
        """All samples, in order of arrival."""
        with self._lock:
            return tuple(block for slot in self._slots for block in slot.head.view().blocks)

    def deliver(self, through: int) -> None:
        with self._lock:
            for slot in self._slots:
                if slot.last <= through and slot.delivered is None:
                    slot.delivered = time.monotonic()

    def forget_settled(self, seconds: float) -> None:
        limit = time.monotonic() - seconds
        with self._lock:
            while self._slots and (delivered := self._slots[0].delivered) is not None and delivered <= limit:
                # Seen by the index before it goes, whether anybody has read it or not.
                self._slots.popleft().head.view()

    def series(self) -> U32:
        """Ids that have samples here, rising."""
        blocks = self.blocks()
        return np.unique(np.concatenate([np.empty(0, np.uint32), *(block.series for block in blocks)]))


def join(parts: Sequence[SeriesSamples], own: Sequence[Labels], cuts: Sequence[Cut]) -> Selection:
    """All samples; the series that we know, in their order, then the others by their labels.

    `parts` are the engine's, each series once; the i-th of `own` has the rows that the `cuts` have of the i-th series.
    """
    ranks = {frozenset(labels.items()): rank for rank, labels in enumerate(own)}
    theirs = sorted((part for part in parts if len(part.timestamps)), key=lambda one: sorted(one.labels.items()))
    placed = np.array([ranks.setdefault(frozenset(one.labels.items()), len(ranks)) for one in theirs], np.uint32)
    labels = [*own, *(part.labels for part, rank in zip(theirs, placed.tolist(), strict=True) if rank >= len(own))]
    none = np.zeros(len(labels) - len(own), np.int64)
    joined = [replace(cut, starts=np.append(cut.starts, none), stops=np.append(cut.stops, none)) for cut in cuts]
    if theirs:
        block = build_block(
            np.repeat(placed, [len(part.timestamps) for part in theirs]),
            np.concatenate([part.timestamps for part in theirs]),
            np.concatenate([part.values for part in theirs]),
        )
        joined.insert(0, cut_block(block, np.arange(len(labels), dtype=np.uint32), 0, LATEST_MS))
    offsets, times, values = join_cuts(joined, len(labels))
    full = np.flatnonzero(offsets[1:] > offsets[:-1])
    return Selection(
        labels=[labels[rank] for rank in full.tolist()],
        offsets=np.append(offsets[full], offsets[-1]),
        timestamps=times,
        values=values,
    )
