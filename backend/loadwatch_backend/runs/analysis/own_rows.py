"""Rows of a table that are one run's, where other runs came just before and after. Pure but for the store.

Tables are counted less often than counters are read, so a count may be of two runs. It is one run's alone where the
table was counted between the runs and stood still there.
"""

from dataclasses import dataclass, replace

import numpy as np

from loadwatch_backend.runs.analysis.counters import Growth, read_largest_growth
from loadwatch_backend.runs.analysis.load import Span
from loadwatch_backend.store.port import Reader

TABLE_ROWS = "table_rows"
COUNTED_MS = 60_000
"""A run that is so far away has left no rows to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """When the run before ended and the next one began, milliseconds; None where there is none."""

    previous_ms: int | None = None
    next_ms: int | None = None

    def before(self, span: Span) -> int | None:
        """End of the run before, where it is near."""
        near = self.previous_ms is not None and span.from_ms - self.previous_ms < COUNTED_MS
        return self.previous_ms if near else None

    def after(self, span: Span) -> int | None:
        """Start of the run after, where it is near."""
        near = self.next_ms is not None and self.next_ms - span.to_ms < COUNTED_MS
        return self.next_ms if near else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRows:
    """Growth since the run began; None where nobody counted between it and its neighbours, or at all.

    `with_previous` and `with_next` tell that rows of these may be among it, or rows of it among theirs.
    """

    growth: Growth | None
    with_previous: bool = False
    with_next: bool = False


def read_own_rows(store: Reader, span: Span, last_ms: int, neighbours: Neighbours) -> OwnRows:
    """Rows of the table that grew most, up to `last_ms`, which is no later than the start of the next run."""
    previous_ms = neighbours.before(span)
    start_ms = span.from_ms if previous_ms is None else previous_ms
    found = read_largest_growth(store, TABLE_ROWS, start_ms, last_ms)
    if found is None:
        return OwnRows(growth=None)
    steps = np.diff(found.totals, prepend=0.0)
    with_previous = with_next = False
    counted = True
    if neighbours.after(span) is not None:
        after = np.flatnonzero((found.times_ms >= span.to_ms) & (found.times_ms <= last_ms))
        counted = len(after) > 0
        with_next = not counted or bool(steps[after[-1]] != 0)
    if previous_ms is not None:
        between = np.flatnonzero((found.times_ms > previous_ms) & (found.times_ms <= span.from_ms))
        with_previous = not len(between) or bool(steps[between[-1]] != 0)
        counted = counted and len(between) > 0
        if len(between):
            begin = int(between[-1])
            found = replace(
                found, times_ms=found.times_ms[begin + 1 :], totals=found.totals[begin + 1 :] - found.totals[begin]
            )
    return OwnRows(growth=found if counted else None, with_previous=with_previous, with_next=with_next)
