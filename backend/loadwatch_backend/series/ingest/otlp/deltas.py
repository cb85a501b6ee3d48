"""Deltas become counters: what a series has on disk is its sum so far, so there is no other state to lose.

A sum and the sample that carries it are one row of one commit. A request that a kill cut off is on disk as a whole or
not at all, and a sender that did not hear of it sends it again: a point whose time the series already has is known, and
is not added twice.

Exponential histograms come with other bounds each time. Their buckets are added where either side has a bound, and one
that is new gets what it would have had at the time before.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.series.ingest.entries import Entries
from loadwatch_backend.series.ingest.otlp.attributes import decode_labels, encode_labels, plain_number
from loadwatch_backend.series.ingest.otlp.translate import ExponentialDelta, Translated
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader, Selection

_WINDOWS_MS = (60_000, 3_600_000, 86_400_000)
"""How far back a series is looked for, before all of the retention: most are found at once."""
_REMEMBERED = 200_000
"""Series whose newest sum is kept in memory; of others the store is asked."""

_MOST_BOUNDS = 640
"""Of a histogram; 1.19 times apart they reach over 160 octaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What a series came to, and when."""

    time: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """What the finite buckets of a histogram came to, by rising bound, and when."""

    time: int
    bounds: list[float]
    counts: list[float]

    def up_to(self, bound: float) -> float:
        """Observations up to a bound; those within a bucket around it are counted above it."""
        place = bisect_right(self.bounds, bound)
        return self.counts[place - 1] if place else 0.0


@dataclass(slots=True, kw_only=True)
class Added:
    """Rows of a request after its deltas were added; `dropped` of them must not be stored."""

    dropped: set[int]
    late: set[int]
    """Data points that came after a later one of their series, with which they cannot be added any more."""
    merged: set[int]
    """Dropped rows whose delta another of the request has taken in."""
    touched: list[bytes]


class DeltaSums:
    """Sums of the series of deltas; of one thread at a time, up to the commit of what it made."""

    def __init__(self, store: Reader, retention_ms: int) -> None:
        self._store = store
        self._retention_ms = retention_ms
        self._sums: dict[bytes, Sum] = {}
        self._buckets: dict[bytes, Buckets] = {}

    def add(self, rows: Translated, now_ms: int, entries: Entries) -> Added:
        """Make sums of the deltas among the rows, in place; a series that begins gets a zero where its first did.

        Raises:
            TooManyEntriesError: buckets that were there before make more rows than `entries` has room for.
        """
        added = Added(dropped=set(), late=set(), merged=set(), touched=[])
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
                    added.merged.add(row)
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
        for one in sorted(rows.exponential, key=lambda one: rows.times[one.row]):
            if one.row not in added.dropped or one.row in added.merged:
                self._add_buckets(one, rows, now_ms, entries)
                added.touched.append(encode_labels(one.labels))
        return added

    def forget(self, series: Sequence[bytes]) -> None:
        """These were not stored, or not all: what the store has is asked anew."""
        for one in series:
            self._sums.pop(one, None)
            self._buckets.pop(one, None)

    def forget_all(self) -> None:
        """Of a request nobody knows how far it came."""
        self._sums.clear()
        self._buckets.clear()

    def shrink(self) -> None:
        """Let go of the oldest half if there are too many."""
        if len(self._sums) > _REMEMBERED:
            self.forget(list(self._sums)[: _REMEMBERED // 2])
        if len(self._buckets) > _REMEMBERED // 100:
            self._buckets.clear()

    def _add_buckets(self, delta: ExponentialDelta, rows: Translated, now_ms: int, entries: Entries) -> None:
        key, time, point = encode_labels(delta.labels), rows.times[delta.row], rows.points[delta.row]
        before = self._buckets.get(key) or self._find_buckets(delta.labels, now_ms)
        start = rows.starts[delta.row]
        if before is None:
            known_start = max(0, now_ms - self._retention_ms) < start < time
            before = Buckets(time=start if known_start else time, bounds=[], counts=[])
        now = Buckets(
            time=time, bounds=[bound for bound, _ in delta.buckets], counts=[count for _, count in delta.buckets]
        )
        bounds = sorted({*before.bounds, *now.bounds})
        if len(bounds) > _MOST_BOUNDS:
            # A bound less makes no other one wrong.
            bounds = sorted({*before.bounds[::2], *now.bounds})
        entries.take(2 * len(bounds))
        counts = [before.up_to(bound) + now.up_to(bound) for bound in bounds]
        old = set(before.bounds)
        for bound, count in zip(bounds, counts, strict=True):
            series = encode_labels({**delta.labels, "le": plain_number(bound)})
            if bound not in old and before.time < time:
                _append(rows, series, before.time, point, before.up_to(bound))
            _append(rows, series, time, point, count)
        self._buckets[key] = Buckets(time=time, bounds=bounds, counts=counts)

    def _find_buckets(self, labels: dict[str, str], now_ms: int) -> Buckets | None:
        matchers = [Matcher(name, MatchOperator.EQUAL, value) for name, value in labels.items() if value]
        oldest = max(0, now_ms - self._retention_ms)
        wanted = {name: value for name, value in labels.items() if value}
        for window in (*_WINDOWS_MS, self._retention_ms):
            found = self._store.select(matchers, max(oldest, now_ms - window), now_ms + self._retention_ms)
            newest: list[tuple[int, float, float]] = []
            for place, others in enumerate(found.labels):
                bound = others.get("le")
                end = int(found.offsets[place + 1]) - 1
                if bound and {**others, "le": ""} == {**wanted, "le": ""} and end >= int(found.offsets[place]):
                    newest.append((int(found.timestamps[end]), float(bound), float(found.values[end])))
            last = max((time for time, _, _ in newest), default=None)
            rows = sorted((bound, count) for time, bound, count in newest if time == last and math.isfinite(bound))
            if last is not None:
                return Buckets(time=last, bounds=[bound for bound, _ in rows], counts=[count for _, count in rows])
        return None

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


def _append(rows: Translated, series: bytes, time: int, point: int, value: float = 0.0) -> None:
    """One more row; a zero where the counting began lets a rate see the first delta."""
    rows.series.append(series)
    rows.starts.append(0)
    rows.times.append(time)
    rows.values.append(value)
    rows.points.append(point)
