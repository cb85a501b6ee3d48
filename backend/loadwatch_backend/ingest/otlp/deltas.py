"""Deltas become counters: what a series has on disk is its sum so far, so there is no other state to lose.

A sum and the sample that carries it are one row of one commit. A request that a kill cut off is on disk as a whole or
not at all, and a sender that did not hear of it sends it again: a point whose time the series already has is known, and
is not added twice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.ingest.otlp.attributes import decode_labels
from loadwatch_backend.ingest.otlp.translate import Translated
from loadwatch_backend.store.port import Matcher, MatchOperator, Reader, Selection

_WINDOWS_MS = (60_000, 3_600_000, 86_400_000)
"""How far back a series is looked for, before all of the retention: most are found at once."""
_REMEMBERED = 200_000
"""Series whose newest sum is kept in memory; of others the store is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What a series came to, and when."""

    time: int
    value: float


@dataclass(slots=True, kw_only=True)
class Added:
    """Rows of a request after its deltas were added; `dropped` of them must not be stored."""

    dropped: set[int]
    late: set[int]
    """Data points that came after a later one of their series, with which they cannot be added any more."""
    touched: list[bytes]


class DeltaSums:
    """Sums of the series of deltas; of one thread at a time, up to the commit of what it made."""

    def __init__(self, store: Reader, retention_ms: int) -> None:
        self._store = store
        self._retention_ms = retention_ms
        self._sums: dict[bytes, Sum] = {}

    def add(self, rows: Translated, now_ms: int) -> Added:
        """Make sums of the deltas among the rows, in place; a series that begins gets a zero where its first did."""
        added = Added(dropped=set(), late=set(), touched=[])
        made: dict[bytes, int] = {}
        for row in sorted(rows.deltas, key=rows.times.__getitem__):
            series, time = rows.series[row], rows.times[row]
            before = self._sums.get(series) or self._find(series, now_ms)
            if before is None:
                start = rows.starts[row]
                if max(0, now_ms - self._retention_ms) < start < time:
                    _append(rows, series, start, rows.points[row])
                before = Sum(time=time - 1, value=0.0)
            elif time <= before.time:
                added.dropped.add(row)
                if time == before.time and series in made:
                    # Twice in one request is not sent again: two that have the same labels.
                    rows.values[made[series]] += rows.values[row]
                    self._sums[series] = Sum(time=time, value=rows.values[made[series]])
                elif time < before.time and not self._has(series, time):
                    added.late.add(rows.points[row])
                continue
            rows.values[row] += before.value
            self._sums[series] = Sum(time=time, value=rows.values[row])
            made[series] = row
            added.touched.append(series)
        return added

    def forget(self, series: Sequence[bytes]) -> None:
        """These were not stored, or not all: what the store has is asked anew."""
        for one in series:
            self._sums.pop(one, None)

    def shrink(self) -> None:
        """Let go of the oldest half if there are too many."""
        if len(self._sums) > _REMEMBERED:
            self.forget(list(self._sums)[: _REMEMBERED // 2])

    def _find(self, series: bytes, now_ms: int) -> Sum | None:
        oldest = max(0, now_ms - self._retention_ms)
        for window in (*_WINDOWS_MS, self._retention_ms):
            # Beyond now, too: a sender's clock may be ahead.
            found = self._select(series, max(oldest, now_ms - window), now_ms + self._retention_ms)
            for time, value in reversed(found):
                if not math.isnan(value):
                    return Sum(time=time, value=value)
        return None

    def _has(self, series: bytes, time: int) -> bool:
        return bool(self._select(series, time, time))

    def _select(self, series: bytes, start_ms: int, end_ms: int) -> list[tuple[int, float]]:
        labels = {name.decode(): value.decode() for name, value in decode_labels(series)}
        matchers = [Matcher(name, MatchOperator.EQUAL, value) for name, value in labels.items()]
        return _rows_of(self._store.select(matchers, start_ms, end_ms), labels)


def _rows_of(found: Selection, labels: dict[str, str]) -> list[tuple[int, float]]:
    for place, others in enumerate(found.labels):
        if others == labels:
            part = slice(int(found.offsets[place]), int(found.offsets[place + 1]))
            return list(zip(found.timestamps[part].tolist(), found.values[part].tolist(), strict=True))
    return []


def _append(rows: Translated, series: bytes, time: int, point: int) -> None:
    """A zero where the counting began, so that a rate sees the first delta."""
    rows.series.append(series)
    rows.starts.append(0)
    rows.times.append(time)
    rows.values.append(0.0)
    rows.points.append(point)
