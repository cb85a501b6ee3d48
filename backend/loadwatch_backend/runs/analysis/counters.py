"""How much cumulative counters grew over a span: exact, from the samples themselves. Pure but for the store."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from loadwatch_backend.catalogue.signals.cadence import MAX_EVALUATED
from loadwatch_backend.catalogue.signals.interval import IntervalDetector, lookback_of, slowest, tree_of
from loadwatch_backend.catalogue.signals.service import parse_with_window
from loadwatch_backend.catalogue.signals.sightings import Sightings
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.evidence.records.model import FloatArray, IntArray
from loadwatch_backend.evidence.series import LARGEST_VALUE
from loadwatch_backend.runs.analysis.load import SECOND_MS, Span
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Reader

LOOKBACK_MS = 300_000
"""How old the last sample before a span may be to count as its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Sum over the series of one metric.

    `times_ms` rises; `totals[i]` is what all series had grown by up to then since the start of the span. Times before
    the span are left out. `resets_ms` are the times at which a counter had begun again at zero; one that did so between
    its last sample before the span and its first one inside lost nothing of the span.
    """

    series: int
    times_ms: IntArray
    totals: FloatArray
    resets_ms: IntArray

    @property
    def resets(self) -> int:
        return len(self.resets_ms)

    def at(self, time_ms: int) -> float:
        place = int(np.searchsorted(self.times_ms, time_ms, side="right"))
        return float(self.totals[place - 1]) if place else 0.0


def read_growth(store: Reader, metric: str, from_ms: int, to_ms: int) -> Growth | None:
    """Growth of all series of a counter from `from_ms` up to `to_ms`; None when there are none.

    A series counts from its last sample at or before `from_ms`, or from its first one after it; one that falls began
    again at zero.
    """
    found = [one for _, one in _read(store, metric, from_ms, to_ms, is_counter=True)]
    return _sum(found) if found else None


def read_growth_by_instance(store: Reader, metric: str, from_ms: int, to_ms: int) -> dict[tuple[str, str], Growth]:
    """As `read_growth`, by job and instance."""
    found: defaultdict[tuple[str, str], list[Growth]] = defaultdict(list)
    for labels, one in _read(store, metric, from_ms, to_ms, is_counter=True):
        found[labels.get("job", ""), labels.get("instance", "")].append(one)
    return {key: _sum(each) for key, each in found.items()}


def _sum(found: list[Growth]) -> Growth:
    stamps = np.concatenate([one.times_ms for one in found])
    steps = np.concatenate([np.diff(one.totals, prepend=0.0) for one in found])
    order = np.argsort(stamps, kind="stable")
    return Growth(
        series=len(found),
        times_ms=stamps[order],
        totals=np.cumsum(steps[order]),
        resets_ms=np.sort(np.concatenate([one.resets_ms for one in found])),
    )


def read_largest_growth(store: Reader, metric: str, from_ms: int, to_ms: int) -> Growth | None:
    """Growth of the series of a gauge that grew most: of the watched tables the one that the load writes to."""
    found = [one for _, one in _read(store, metric, from_ms, to_ms, is_counter=False)]
    return max(found, key=lambda one: one.at(to_ms), default=None)


def _read(store: Reader, metric: str, from_ms: int, to_ms: int, *, is_counter: bool) -> Iterable[tuple[Labels, Growth]]:
    matchers = [Matcher("__name__", MatchOperator.EQUAL, metric)]
    selection = store.select(matchers, max(from_ms - LOOKBACK_MS, 0), to_ms)
    for labels, stamps, values in selection.each():
        known = np.abs(values) <= LARGEST_VALUE
        stamps, values = stamps[known], values[known]
        first = max(int(np.searchsorted(stamps, from_ms, side="right")) - 1, 0)
        stamps, values = stamps[first:], values[first:]
        if not len(values) or stamps[-1] < from_ms:
            continue
        steps = np.diff(values)
        fell = steps < 0
        if is_counter:
            steps = np.where(fell, values[1:], steps)
        resets_ms = stamps[1:][fell & (stamps[:-1] > from_ms)] if is_counter else np.empty(0, np.int64)
        yield labels, Growth(series=1, times_ms=stamps[1:], totals=np.cumsum(steps), resets_ms=resets_ms)


# Rows of a table that are one run's, where other runs came just before and after. Pure but for the store.
#
# Tables are counted less often than counters are read, so a count may be of two runs. It is one run's alone where the
# table was counted between the runs and stood still there.

TABLE_ROWS = "table_rows"
COUNTED_MS = 60_000
"""A run that is so far away has left no rows to come."""


class Neighbours(NamedTuple):
    """When the run before ended and the next one began, milliseconds; None where there is none."""

    previous_ms: int | None = None
    next_ms: int | None = None

    def before(self, span: Span) -> int | None:
        near = self.previous_ms is not None and span.from_ms - self.previous_ms < COUNTED_MS
        return self.previous_ms if near else None

    def after(self, span: Span) -> int | None:
        near = self.next_ms is not None and self.next_ms - span.to_ms < COUNTED_MS
        return self.next_ms if near else None


class OwnRows(NamedTuple):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Series on one grid.

    `values` is [series, instants], NaN where there is none; instant i is `start_ms + i * step_ms`. `interval_ms` is how
    often the samples behind them came; None where nothing tells.
    """

    labels: list[Mapping[str, str]]
    values: FloatArray
    start_ms: int
    step_ms: int
    interval_ms: int | None = None

    def time_ms(self, instant: int) -> int:
        return self.start_ms + instant * self.step_ms


class SeriesReader:
    """Evaluates expressions over spans; safe to use from any thread."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._intervals = IntervalDetector(engine.store, clock)

    def read(self, expression: str, span: Span) -> Values:
        """Each second of the span, from the end of its first; beyond two hours in 7,200 steps.

        Raises:
            ProblemError: of `promql.errors` or the store.
        """
        step_ms = step_of(span)
        start_ms = span.from_ms + step_ms
        count = max((span.to_ms - span.from_ms) // step_ms, 1)
        intervals = self._intervals.detect(parse_with_window(expression, 60_000), span.from_ms, span.to_ms)
        interval = slowest(intervals)
        matrix = self._engine.range(
            tree_of(expression, intervals, step_ms),
            start_ms,
            start_ms + (count - 1) * step_ms,
            step_ms,
            lookback_ms=lookback_of(interval),
        )
        return Values(
            labels=list(matrix.labels),
            values=np.where(matrix.present, matrix.values, np.nan),
            start_ms=start_ms,
            step_ms=step_ms,
            interval_ms=interval,
        )

    def sightings(self, span: Span) -> Sightings:
        return Sightings(self._engine.store, self._intervals, span.from_ms, span.to_ms)


def step_of(span: Span) -> int:
    """Whole seconds between instants, in ms, so that there are at most `MAX_EVALUATED`."""
    return -(-(span.to_ms - span.from_ms) // (MAX_EVALUATED * SECOND_MS)) * SECOND_MS or SECOND_MS
