"""Sums up the events of a run under way by second, and says which samples they make.

A second is published once it is over by GRACE_MS; a request that ends late changes the second in which it started,
and the counters after it, so these are published again (the store keeps the last value of a series and time).
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from loadwatch_formats.metrics.loadtest import (
    BYTES,
    DURATION,
    FASTEST_LABEL,
    QUANTILE_LABELS,
    REQUESTS,
    TARGET_RATE,
    USERS,
)

from loadwatch_collectors.runs.streams import Event, RequestEvent, SecondEvent
from loadwatch_collectors.series import STALE_NAN, SampleRow, Series, encode_labels

GRACE_MS = 1_000
WINDOW_SECONDS = 40
"""Seconds that can still change: a little more than the 30 s after which tools give a request up."""

_CLOCK_SPREAD_MS = 60_000
_JUMP_MS = 3_600_000
"""A clock that leaps further ahead is not followed: the seconds in between would be samples, too."""

_RATE_SECONDS = 3
_LONGEST_MS = (WINDOW_SECONDS - _RATE_SECONDS - 1) * 1000
"""A rate is waited for no longer than its seconds are kept."""
_QUANTILES = tuple((label, float(label)) for label in (FASTEST_LABEL, *QUANTILE_LABELS))


def nearest_rank(values: Sequence[float], quantile: float) -> float:
    """The ceil(q * n)-th smallest of sorted values."""
    return values[max(math.ceil(quantile * len(values) - 1e-9), 1) - 1]


@dataclass(slots=True)
class _Second:
    outcomes: Counter[str] = field(default_factory=Counter[str])
    latencies: "array[float]" = field(default_factory=lambda: array("d"))
    quantiles: tuple[tuple[float, float], ...] = ()
    bytes_in: int = 0
    bytes_out: int = 0
    users: float | None = None

    def shown_quantiles(self) -> Iterable[tuple[str, float]]:
        if self.latencies:
            ordered = sorted(self.latencies)
            return [(label, nearest_rank(ordered, quantile)) for label, quantile in _QUANTILES]
        labels = {quantile: label for label, quantile in _QUANTILES}
        return [(labels[quantile], value) for quantile, value in self.quantiles if quantile in labels]


class LiveFigures(NamedTuple):
    """What is known of a run under way; `rate` is the mean of the last seconds of which no request is still awaited."""

    requests: int
    failures: int
    rate: float | None


class LiveSeconds:
    """The seconds of one run. Memory holds the latencies of WINDOW_SECONDS at most."""

    def __init__(self, run: str, *, target_rate: float | None = None) -> None:
        self.requests = 0
        self.failures = 0
        self._run = run
        self._target_rate = target_rate
        self._start_ms: int | None = None
        self._newest_ms = 0
        self._longest_ms = 0
        self._ended_ms: int | None = None
        self._seconds: dict[int, _Second] = {}
        self._first = 0
        self._next = 0
        self._dirty: int | None = None
        self._before = Counter[str]()
        self._bytes_before = Counter[str]()
        self._users: float | None = None
        self._told: tuple[int, int] | None = None
        self._series: dict[tuple[str, str, str], Series] = {}
        self._live: set[tuple[str, str, str]] = set()

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, RequestEvent):
                self._add_request(event)
            elif isinstance(event, SecondEvent):
                self._add_second(event)
            else:
                self._at(event.at_ms).users = event.users

    def figures(self, now_ms: int) -> LiveFigures:
        return LiveFigures(requests=self.requests, failures=self.failures, rate=self._rate(now_ms))

    def publish(self, now_ms: int) -> list[SampleRow]:
        """Samples of the seconds that are over and new, or changed, in rising time."""
        if self._start_ms is None:
            return []
        end = max((self._horizon(now_ms) - GRACE_MS - self._start_ms) // 1000, self._next)
        return self._write(end)

    def finish(self) -> list[SampleRow]:
        """The samples of all that is left, and the end of every series a second later."""
        if self._start_ms is None:
            return []
        rows = self._write(max((self._newest_ms - self._start_ms) // 1000 + 1, self._next))
        series = [self._named(key) for key in sorted(self._live)]
        stale_ms = self._start_ms + (self._next + 1) * 1000
        return [*rows, SampleRow(stale_ms, series, [STALE_NAN] * len(series))]

    def _at(self, time_ms: int) -> _Second:
        """The second of a time; what is older than the window counts for its first second."""
        if self._start_ms is None:
            self._start_ms = time_ms // 1000 * 1000
        elif time_ms - self._newest_ms > _JUMP_MS:
            time_ms = self._newest_ms
        self._newest_ms = max(self._newest_ms, time_ms)
        index = max((time_ms - self._start_ms) // 1000, self._first)
        if index < self._next and (self._dirty is None or index < self._dirty):
            self._dirty = index
        second = self._seconds.get(index)
        if second is None:
            second = self._seconds[index] = _Second()
        return second

    def _add_request(self, event: RequestEvent) -> None:
        second = self._at(event.start_ms)
        second.outcomes[event.outcome] += 1
        second.latencies.append(event.latency)
        latency_ms = math.ceil(event.latency * 1000)
        self._longest_ms = min(max(self._longest_ms, latency_ms), _LONGEST_MS)
        self._ended_ms = max(self._ended_ms or 0, event.start_ms + latency_ms)
        second.bytes_in += max(event.bytes_in, 0)
        second.bytes_out += max(event.bytes_out, 0)
        self.requests += 1
        self.failures += event.outcome != "ok"

    def _add_second(self, event: SecondEvent) -> None:
        second = self._at(event.at_ms - 1000)
        requests, failures = self._told or (0, 0)
        new, failed = max(event.requests - requests, 0), max(event.failures - failures, 0)
        self._told = (event.requests, event.failures)
        for outcome, count in (("ok", max(new - failed, 0)), ("other", failed)):
            if count:
                second.outcomes[outcome] += count
        second.quantiles = event.quantiles if new else second.quantiles
        second.users = event.users
        self.requests += new
        self.failures += failed

    def _horizon(self, now_ms: int) -> int:
        """Up to when seconds are over: now, or the newest request where the tool's clock is another one."""
        return now_ms if 0 <= now_ms - self._newest_ms <= _CLOCK_SPREAD_MS else self._newest_ms

    def _final_ms(self, now_ms: int) -> int:
        """Up to when all requests that were sent are known.

        A tool tells of a request when it ends, so a second is short of those that still wait: it counts when it is
        older than the longest of them took. While none ends at all, nothing new is known of what was sent, until no
        tool would wait any more.
        """
        now = self._horizon(now_ms)
        newest = now if self._ended_ms is None else min(now, self._ended_ms)
        return max(newest - self._longest_ms, now - _LONGEST_MS)

    def _rate(self, now_ms: int) -> float | None:
        if self._start_ms is None:
            return None
        end = (self._final_ms(now_ms) - self._start_ms) // 1000
        begin = max(end - _RATE_SECONDS, self._first, 0)
        if end <= begin:
            return None
        found = (self._seconds.get(index) for index in range(begin, end))
        return sum(second.outcomes.total() for second in found if second is not None) / (end - begin)

    def _write(self, end: int) -> list[SampleRow]:
        start_ms = self._start_ms or 0
        begin = self._next if self._dirty is None else min(self._dirty, self._next)
        if end <= begin:
            return []
        counts, sizes = self._before.copy(), self._bytes_before.copy()
        kinds = sorted({*counts, *(name for second in self._seconds.values() for name in second.outcomes)})
        rows: list[SampleRow] = []
        if any((REQUESTS, "outcome", kind) not in self._live for kind in kinds):
            begin = self._first
            zero = [self._named(self._key(REQUESTS, "outcome", kind)) for kind in kinds]
            if self._first == 0:
                rows.append(SampleRow(start_ms, zero, [0.0] * len(zero)))
        for index in range(self._first, end):
            second = self._seconds.get(index)
            if second is not None:
                _add_counts(counts, sizes, second)
            if index >= begin:
                rows.append(self._row(start_ms + (index + 1) * 1000, kinds, counts, sizes, second))
        self._next, self._dirty = end, None
        self._forget(end - WINDOW_SECONDS)
        return rows

    def _row(
        self,
        at_ms: int,
        kinds: Sequence[str],
        counts: Mapping[str, int],
        sizes: Mapping[str, int],
        second: _Second | None,
    ) -> SampleRow:
        values: list[tuple[tuple[str, str, str], float]] = [
            ((REQUESTS, "outcome", kind), float(counts.get(kind, 0))) for kind in kinds
        ]
        values += [((BYTES, "direction", name), float(size)) for name, size in sizes.items() if size]
        if second is not None:
            values += [((DURATION, "quantile", label), value) for label, value in second.shown_quantiles()]
            if second.users is not None:
                self._users = second.users
        if self._users is not None:
            values.append(((USERS, "", ""), self._users))
        if self._target_rate is not None:
            values.append(((TARGET_RATE, "", ""), self._target_rate))
        return SampleRow(at_ms, [self._named(self._key(*key)) for key, _ in values], [value for _, value in values])

    def _key(self, name: str, label: str, value: str) -> tuple[str, str, str]:
        key = (name, label, value)
        self._live.add(key)
        return key

    def _named(self, key: tuple[str, str, str]) -> Series:
        series = self._series.get(key)
        if series is None:
            name, label, value = key
            labels = {"__name__": name, "run": self._run, **({label: value} if label else {})}
            series = self._series[key] = Series(encode_labels(labels))
        return series

    def _forget(self, before: int) -> None:
        for index in sorted(self._seconds):
            if index >= before:
                break
            _add_counts(self._before, self._bytes_before, self._seconds.pop(index))
        self._first = max(self._first, before)


def _add_counts(counts: Counter[str], sizes: Counter[str], second: _Second) -> None:
    counts.update(second.outcomes)
    sizes.update({"in": second.bytes_in, "out": second.bytes_out})
