"""Which times the selectors of an expression see, and at which instants a subquery is evaluated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

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
from loadwatch_backend.series.store.levels import MINUTE_MS, Span
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
    """Of the samples that an instant selector can see."""
    first, last = _edges(selector, grid)
    return first - lookback_ms + 1, last


def range_span(selector: RangeSelector, grid: Grid) -> Span:
    """Of the samples that a range selector can see."""
    first, last = _edges(selector.selector, grid)
    return first - selector.range_ms + 1, last


def subquery_grid(subquery: Subquery, grid: Grid, default_step_ms: int) -> Grid:
    """The instants that all windows of a subquery together have: multiples of its step; none of them, perhaps."""
    first, last = _edges(subquery, grid)
    step = default_step_ms if subquery.step_ms is None else max(subquery.step_ms, 1)
    # Open on the left, as every range.
    start = ((first - subquery.range_ms) // step + 1) * step
    return Grid(start_ms=start, step_ms=step, count=max(0, (last - start) // step + 1))


def minutes_span(selector: RangeSelector, grid: Grid) -> Span:
    """Of the samples of all minutes that stand for the windows of a range selector."""
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
        """Of the series."""
        return (self.selector.selector if isinstance(self.selector, RangeSelector) else self.selector).matchers

    @property
    def is_aligned(self) -> bool:
        """See `is_aligned`."""
        return is_aligned(self.selector, self.grid)


def wanted_by(expression: Expression, grid: Grid, lookback_ms: int, subquery_step_ms: int) -> Iterator[SelectorRead]:
    """What all selectors of an expression read."""
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
