"""Which times the selectors of an expression see, and at which instants a subquery is evaluated."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.promql.parsing.expression import (
    Expression,
    RangeSelector,
    Selector,
    Subquery,
    children,
)
from loadwatch_backend.promql.value import Grid, IntArray
from loadwatch_backend.store.port import Matcher

Span = tuple[int, int]
"""First and last time, both included."""


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


@dataclass(frozen=True, slots=True)
class SelectorRead:
    """What one selector reads; of a selector at a single instant the newest samples are enough."""

    matchers: tuple[Matcher, ...]
    span: Span
    newest_only: bool


def wanted_by(expression: Expression, grid: Grid, lookback_ms: int, subquery_step_ms: int) -> Iterator[SelectorRead]:
    """What all selectors of an expression read."""
    return _wanted_by(expression, grid, lookback_ms, subquery_step_ms, is_inner=False)


def _wanted_by(
    node: Expression, grid: Grid, lookback_ms: int, subquery_step_ms: int, *, is_inner: bool
) -> Iterator[SelectorRead]:
    match node:
        case Selector():
            yield SelectorRead(node.matchers, instant_span(node, grid, lookback_ms), not is_inner)
        case RangeSelector():
            yield SelectorRead(node.selector.matchers, range_span(node, grid), newest_only=False)
        case Subquery():
            inner = subquery_grid(node, grid, subquery_step_ms)
            if inner.count:
                yield from _wanted_by(node.expression, inner, lookback_ms, subquery_step_ms, is_inner=True)
        case _:
            for child in children(node):
                yield from _wanted_by(child, grid, lookback_ms, subquery_step_ms, is_inner=is_inner)


def behind_ms(expression: Expression, lookback_ms: int) -> int:
    """How far before a step its oldest sample may be, offsets left aside."""
    match expression:
        case Selector():
            return lookback_ms
        case RangeSelector():
            return expression.range_ms
        case Subquery():
            return expression.range_ms + behind_ms(expression.expression, lookback_ms)
        case _:
            return max((behind_ms(child, lookback_ms) for child in children(expression)), default=0)
