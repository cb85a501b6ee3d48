"""An expression as text, for an engine that speaks PromQL itself."""

import math
from collections.abc import Sequence

from loadwatch_backend.series.promql.functions.covered import read_cover
from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Binary,
    Call,
    Cardinality,
    Expression,
    Matching,
    Negation,
    Number,
    RangeSelector,
    Selector,
    Subquery,
    Text,
)
from loadwatch_backend.series.store.port import Matcher
from loadwatch_backend.series.store.prometheus.selectors import label_text, quoted, selector_text

_GROUPS = {Cardinality.MANY_TO_ONE: "group_left", Cardinality.ONE_TO_MANY: "group_right"}


def expression_text(node: Expression, conditions: Sequence[Matcher] = (), lookback_ms: int | None = None) -> str:
    """The text of a resolved expression, whose selectors also meet the conditions and look back so far.

    The rate that charts draw, which no engine has, becomes the usual one. Not every engine takes a look-back beside
    the text.

    Raises:
        ValueError: it has something that no engine knows.
    """

    def text(inner: Expression) -> str:
        return expression_text(inner, conditions, lookback_ms)

    match node:
        case Number(value):
            return _number(value)
        case Text(value):
            return quoted(value)
        case Selector() if lookback_ms is not None:
            return f"last_over_time({text(RangeSelector(selector=node, range_ms=lookback_ms))})"
        case Selector():
            return selector_text((*node.matchers, *conditions)) + _modifiers(node)
        case RangeSelector(selector=inner):
            return f"{selector_text((*inner.matchers, *conditions))}[{node.range_ms}ms]{_modifiers(inner)}"
        case Subquery():
            step = "" if node.step_ms is None else f"{node.step_ms}ms"
            return f"({text(node.expression)})[{node.range_ms}ms:{step}]{_modifiers(node)}"
        case Call(function="timestamp", arguments=(Selector() as inner,)):
            return f"timestamp({expression_text(inner, conditions)})"
        case Call():
            if (rate := read_cover(node)) is not None:
                return f"{rate[0]}({text(rate[1])})"
            return f"{node.function}({', '.join(map(text, node.arguments))})"
        case Aggregation():
            by = f" {'without' if node.without else 'by'} {_names(node.labels)}" if node.labels or node.without else ""
            parameter = "" if node.parameter is None else f"{text(node.parameter)}, "
            return f"{node.operator}{by} ({parameter}{text(node.expression)})"
        case Negation(inner):
            return f"-({text(inner)})"
        case Binary():
            bool_word = " bool" if node.return_bool else ""
            left, right = text(node.left), text(node.right)
            return f"({left}) {node.operator}{bool_word}{_matching(node.matching)} ({right})"


def _modifiers(node: Selector | Subquery) -> str:
    at = "" if node.at_ms is None else f" @ {node.at_ms / 1000:.3f}"
    return at + (f" offset {node.offset_ms}ms" if node.offset_ms else "")


def _matching(matching: Matching) -> str:
    if matching.fill_left is not None or matching.fill_right is not None:
        raise ValueError("fill modifiers are Loadwatch's own")
    found = ""
    if matching.on or matching.labels:
        found = f" {'on' if matching.on else 'ignoring'} {_names(matching.labels)}"
    if matching.cardinality in _GROUPS:
        found += f" {_GROUPS[matching.cardinality]} {_names(matching.include)}"
    return found


def _names(labels: Sequence[str]) -> str:
    return f"({', '.join(map(label_text, labels))})"


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
