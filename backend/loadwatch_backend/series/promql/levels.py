"""At which level each selector of a query is read: all samples, or one-minute rollups; and what that costs.

Where the store has all samples, rollups are read only where they give the same answer sooner. Where samples were
deleted for their age, rollups answer; what is not exact then has a bound, which is said in the answer's infos. Who has
no place to say it gets what samples there are.

Windows of whole minutes are exact: a minute is open on the left, as they are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from loadwatch_backend.series.promql.functions.rolled import ENDS_FUNCTIONS, LAST_FUNCTIONS, ROLLED
from loadwatch_backend.series.promql.parsing.expression import (
    Binary,
    Call,
    Expression,
    RangeSelector,
    Selector,
    Subquery,
    children,
)
from loadwatch_backend.series.promql.value import Grid, IntArray
from loadwatch_backend.series.store.levels import MINUTE_MS, Level, Span
from loadwatch_backend.series.store.port import Matcher


def selected_times(shifted: Selector | Subquery, grid: Grid) -> IntArray:
    """The time that each step looks at: with its offset, and at `@` the same for all; int64[steps]."""
    if shifted.at_ms is None:
        return grid.times_ms() - shifted.offset_ms
    return np.full(grid.count, shifted.at_ms - shifted.offset_ms, dtype=np.int64)


def _edges(shifted: Selector | Subquery, grid: Grid) -> Span:
    if shifted.at_ms is None:
        return grid.start_ms - shifted.offset_ms, grid.end_ms - shifted.offset_ms
    return shifted.at_ms - shifted.offset_ms, shifted.at_ms - shifted.offset_ms


def instant_span(selector: Selector, grid: Grid, lookback_ms: int) -> Span:
    first, last = _edges(selector, grid)
    return first - lookback_ms + 1, last


def range_span(selector: RangeSelector, grid: Grid) -> Span:
    first, last = _edges(selector.selector, grid)
    return first - selector.range_ms + 1, last


def subquery_grid(subquery: Subquery, grid: Grid, default_step_ms: int) -> Grid:
    """The instants that the windows of a subquery share, multiples of its step; there may be none."""
    first, last = _edges(subquery, grid)
    step = default_step_ms if subquery.step_ms is None else max(subquery.step_ms, 1)
    # Open on the left, as every range.
    start = ((first - subquery.range_ms) // step + 1) * step
    return Grid(start_ms=start, step_ms=step, count=max(0, (last - start) // step + 1))


def minutes_span(selector: RangeSelector, grid: Grid) -> Span:
    """The times of the whole minutes that stand in for the windows of a range selector."""
    first, last = _edges(selector.selector, grid)
    begin = min((first - selector.range_ms) // MINUTE_MS, first // MINUTE_MS - 1) * MINUTE_MS
    return begin + 1, last // MINUTE_MS * MINUTE_MS


def is_aligned(selector: Selector | RangeSelector, grid: Grid) -> bool:
    """Whether all that it looks at begins and ends at the edges of minutes; the same for each part of a grid."""
    range_ms = 0
    if isinstance(selector, RangeSelector):
        selector, range_ms = selector.selector, selector.range_ms
    steps_ms = grid.step_ms if selector.at_ms is None else 0
    return not (_edges(selector, grid)[0] % MINUTE_MS or range_ms % MINUTE_MS or steps_ms % MINUTE_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectorRead:
    """What one selector reads; of a selector at a single instant the newest samples are enough.

    `function` is that around a range selector, if any; `grid` has the instants at which it is looked at.
    """

    selector: Selector | RangeSelector
    function: str
    grid: Grid
    span: Span
    newest_only: bool

    @property
    def matchers(self) -> tuple[Matcher, ...]:
        return (self.selector.selector if isinstance(self.selector, RangeSelector) else self.selector).matchers

    @property
    def is_aligned(self) -> bool:
        return is_aligned(self.selector, self.grid)


def wanted_by(expression: Expression, grid: Grid, lookback_ms: int, subquery_step_ms: int) -> Iterator[SelectorRead]:
    return _wanted_by(expression, grid, lookback_ms, subquery_step_ms, function="", is_inner=False)


def _wanted_by(
    node: Expression, grid: Grid, lookback_ms: int, subquery_step_ms: int, *, function: str, is_inner: bool
) -> Iterator[SelectorRead]:
    match node:
        case Selector():
            span = instant_span(node, grid, lookback_ms)
            yield SelectorRead(selector=node, function="", grid=grid, span=span, newest_only=not is_inner)
        case RangeSelector():
            span = range_span(node, grid)
            yield SelectorRead(selector=node, function=function, grid=grid, span=span, newest_only=False)
        case Subquery():
            inner = subquery_grid(node, grid, subquery_step_ms)
            if inner.count:
                yield from _wanted_by(node.expression, inner, lookback_ms, subquery_step_ms, function="", is_inner=True)
        case _:
            name = node.function if isinstance(node, Call) else ""
            for child in children(node):
                yield from _wanted_by(child, grid, lookback_ms, subquery_step_ms, function=name, is_inner=is_inner)


def behind_ms(expression: Expression, lookback_ms: int, *, either: Callable[[int, int], int] = max) -> int:
    """How far before a step its oldest sample may be, offsets left aside; `either` chooses of the sides of `or`."""
    match expression:
        case Selector():
            return lookback_ms
        case RangeSelector():
            return expression.range_ms
        case Subquery():
            return expression.range_ms + behind_ms(expression.expression, lookback_ms, either=either)
        case Binary(operator="or", left=left, right=right):
            return either(behind_ms(left, lookback_ms, either=either), behind_ms(right, lookback_ms, either=either))
        case _:
            return max((behind_ms(child, lookback_ms, either=either) for child in children(expression)), default=0)


WORTH_MS = 6 * 3_600_000
"""Shorter queries read all samples where they are there: the newest are in memory, and not rolled up yet."""
LEAST_RANGE_MS = 2 * MINUTE_MS

Key = tuple[int, str, bool]
"""Key of a choice: the selector's identity, the function around its range, and `is_aligned`."""


class Choice(NamedTuple):
    level: Level = Level.RAW
    info: str | None = None


Choices = dict[Key, Choice]
RAW = Choice()


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """What rollups can answer: spans without missing samples, and whether the answer can carry infos."""

    whole: Sequence[Span]
    tells: bool
    is_worth: bool

    def is_whole(self, span: Span) -> bool:
        return any(first <= span[0] and span[1] <= last for first, last in self.whole)

    def is_all_whole(self, reads: Iterable[SelectorRead]) -> bool:
        return all(self.is_whole(read.span) for read in reads)

    def choose(self, reads: Iterable[SelectorRead]) -> Choices:
        """The level of each selector; one that is read twice is read at one."""
        whole: dict[Key, bool] = {}
        first: dict[Key, SelectorRead] = {}
        for read in reads:
            key = key_of(read.selector, read.function, is_aligned=read.is_aligned)
            whole[key] = whole.get(key, True) and self.is_whole(read.span)
            first.setdefault(key, read)
        return {key: self._choice(read, is_whole=whole[key]) for key, read in first.items()}

    def _choice(self, read: SelectorRead, *, is_whole: bool) -> Choice:
        range_ms = read.selector.range_ms if isinstance(read.selector, RangeSelector) else 0
        if is_whole:
            if not (self.is_worth and read.is_aligned):
                return RAW
            if read.function in ROLLED and range_ms >= LEAST_RANGE_MS:
                return Choice(level=_of_minutes(read.function))
            return Choice(level=Level.LAST) if _is_of_last(read) else RAW
        is_rolled = read.function in ROLLED
        level = _of_minutes(read.function) if is_rolled else Level.LAST
        if read.is_aligned and (is_rolled or _is_of_last(read)):
            return Choice(level=level)
        return Choice(level=level, info=self._info(read, range_ms)) if self.tells else RAW

    def _info(self, read: SelectorRead, range_ms: int) -> str:
        since = np.datetime64(self.whole[-1][0] // 1_000, "s") if self.whole else "now"
        if not isinstance(read.selector, RangeSelector):
            what = "values are up to 60 s older than at full resolution, or missing where the look-back is shorter"
        elif read.function in ROLLED:
            what = f"windows of {read.function} begin and end up to {60 if range_ms >= MINUTE_MS else 120} s early"
        else:
            what = f"{read.function or 'a range'} sees the last sample of each minute alone"
        return f"one-minute rollups stand for samples before {since}Z, which were deleted for their age: {what}"


def _of_minutes(function: str) -> Level:
    return Level.ENDS if function in ENDS_FUNCTIONS else Level.MINUTES


def _is_of_last(read: SelectorRead) -> bool:
    return not isinstance(read.selector, RangeSelector) or read.function in LAST_FUNCTIONS


def key_of(selector: Selector | RangeSelector, function: str, *, is_aligned: bool) -> Key:
    return id(selector), function, is_aligned


def span_at(read: SelectorRead, level: Level) -> Span:
    if level.is_of_minutes and isinstance(read.selector, RangeSelector):
        return minutes_span(read.selector, read.grid)
    return read.span


def minute_edges(times: IntArray, range_ms: int) -> tuple[IntArray, IntArray]:
    """Begins and ends of windows of whole minutes, at least one, in place of those ending at `times`."""
    ends = times // MINUTE_MS * MINUTE_MS
    return np.minimum((times - range_ms) // MINUTE_MS * MINUTE_MS, ends - MINUTE_MS), ends


def is_worth(grid: Grid, behind_ms: int) -> bool:
    return (grid.count - 1) * grid.step_ms + behind_ms >= WORTH_MS
