"""What of an expression depends on the query: `start()`, `end()`, `step()`, `range()`, and what `info` reads.

Source of the rules: promql/engine.go (PreprocessExpr), durations.go and info.go of Prometheus 3.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Call,
    Edge,
    Expression,
    Number,
    RangeSelector,
    Selector,
    Subquery,
    children,
    milliseconds_of,
    with_children,
)
from loadwatch_backend.series.store.port import Matcher, MatchOperator

_METRIC_NAME = "__name__"
_TARGET_INFO = Matcher(_METRIC_NAME, MatchOperator.EQUAL, "target_info")
_ANY_INFO = Matcher(_METRIC_NAME, MatchOperator.REGEX, ".+_info")
_POSITIVE = (MatchOperator.EQUAL, MatchOperator.REGEX)


class QueryTimes(NamedTuple):
    """When a query is evaluated: at start, start + step, ... up to end. An instant has a step of 0."""

    start_ms: int
    end_ms: int
    step_ms: int = 0

    @property
    def range_ms(self) -> int:
        return self.end_ms - self.start_ms


def resolve(expression: Expression, times: QueryTimes) -> Expression:
    """The expression for a query at these times: without `start()`, `end()`, `step()` and `range()`.

    What has none of these is the same object.

    Raises:
        ValueError: arithmetic that gives no duration for these times.
    """
    match expression:
        case Call(function="start" | "end" | "step" | "range" as name):
            milliseconds = getattr(times, f"{name}_ms")
            return Number(milliseconds / 1000)
        case Selector():
            return _resolved(expression, times)
        case RangeSelector(selector=selector, range_later=later):
            found = _resolved(selector, times)
            if later is not None:
                length = milliseconds_of(later, times.step_ms, times.range_ms, positive=True)
                return RangeSelector(selector=found, range_ms=length)
            return expression if found is selector else replace(expression, selector=found)
        case _:
            before = children(expression)
            after = [resolve(child, times) for child in before]
            same = all(old is new for old, new in zip(before, after, strict=True))
            known = expression if same else with_children(expression, after)
            match known:
                case Subquery():
                    return _resolved_subquery(known, times)
                case Call(function="info"):
                    return _resolved_info(known)
                case _:
                    return known


def _resolved(selector: Selector, times: QueryTimes) -> Selector:
    if selector.at_edge is None and selector.offset_later is None:
        return selector
    return replace(selector, **_shift(selector, times))


def _shift(shifted: Selector | Subquery, times: QueryTimes) -> dict[str, int | None]:
    offset, at = shifted.offset_ms, shifted.at_ms
    if shifted.offset_later is not None:
        offset = milliseconds_of(shifted.offset_later, times.step_ms, times.range_ms, positive=False)
    if shifted.at_edge is not None:
        at = times.start_ms if shifted.at_edge is Edge.START else times.end_ms
    return {"offset_ms": offset, "offset_later": None, "at_ms": at, "at_edge": None}


def _resolved_subquery(subquery: Subquery, times: QueryTimes) -> Subquery:
    changed = _shift(subquery, times)
    if subquery.range_later is not None:
        length = milliseconds_of(subquery.range_later, times.step_ms, times.range_ms, positive=True)
        changed |= {"range_ms": length, "range_later": None}
    if subquery.step_later is not None:
        step = milliseconds_of(subquery.step_later, times.step_ms, times.range_ms, positive=True)
        changed |= {"step_ms": step, "step_later": None}
    same = all(getattr(subquery, name) == value for name, value in changed.items())
    return subquery if same else replace(subquery, **changed)


def _resolved_info(call: Call) -> Call:
    """The call of `info` with an explicit selector of the series to join, at the vector's times."""
    vector, *more = call.arguments
    given = more[0] if more else None
    matchers = given.matchers if isinstance(given, Selector) else ()
    names = [one for one in matchers if one.label == _METRIC_NAME]
    extra: tuple[Matcher, ...] = ()
    if not names:
        extra = (_TARGET_INFO,)
    elif not any(one.operator in _POSITIVE for one in names):
        extra = (_ANY_INFO,)
    at_ms, offset_ms = _reference(vector)
    selector = Selector(matchers=(*extra, *matchers), at_ms=at_ms, offset_ms=offset_ms)
    return call if selector == given else replace(call, arguments=(vector, selector))


def _reference(expression: Expression) -> tuple[int | None, int]:
    """`@` and offset that all selectors share; (None, 0) where they differ."""
    found = list(_references(expression, None, 0))
    if not found or any(one is None for one in found):
        return None, 0
    effective = {one if one[0] is None else one[0] - one[1] for one in found if one is not None}
    return found[0] if len(effective) == 1 and found[0] is not None else (None, 0)


def _references(node: Expression, at_ms: int | None, offset_ms: int) -> Iterator[tuple[int | None, int] | None]:
    """`@` and offset of each vector in an expression; None for one without a selector."""
    match node:
        case Selector():
            yield _within(node, at_ms, offset_ms)
        case RangeSelector():
            yield _within(node.selector, at_ms, offset_ms)
        case Subquery():
            yield from _references(node.expression, *_within(node, at_ms, offset_ms))
        case Call(function="info"):
            yield from _references(node.arguments[0], at_ms, offset_ms)
        case Call(function="vector") | Call(function="hour" | "minute" | "month" | "year", arguments=()):
            yield None
        case Aggregation():
            yield from _references(node.expression, at_ms, offset_ms)
        case Call(function="scalar" | "time" | "pi"):
            return
        case _:
            for child in children(node):
                yield from _references(child, at_ms, offset_ms)


def _within(shifted: Selector | Subquery, at_ms: int | None, offset_ms: int) -> tuple[int | None, int]:
    if shifted.at_ms is not None:
        return shifted.at_ms, shifted.offset_ms
    return at_ms, offset_ms + shifted.offset_ms
