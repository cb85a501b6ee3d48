"""For which series there are data, whether or not a rule's condition holds; and what value the condition compares.

A condition that is false and a metric that has vanished both leave nothing in the result of `up == 0`. They are
distinguished by a second query, made from the first by taking its filters away.
"""

from dataclasses import dataclass, replace

import numpy as np

from loadwatch_backend.series.promql.matching import compute
from loadwatch_backend.series.promql.parsing.catalogue import COMPARISON_OPERATORS
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
    ValueType,
    children,
    walk,
)
from loadwatch_backend.series.promql.parsing.parse import value_type
from loadwatch_backend.series.store.port import Matcher, MatchOperator

_NOTHING = Matcher("__loadwatch_nothing__", MatchOperator.REGEX, ".+")
"""No series has this label. A regular expression, because `absent` takes labels from matchers that ask for equality."""
_CHOOSING = ("topk", "bottomk", "limitk", "limit_ratio")
"""Aggregations that leave series out by value: those left out have data all the same."""


def presence_of(expression: Expression) -> Expression | None:
    """An expression whose series are those for which the given one had data to decide on.

    - A comparison with a scalar gives way to its vector; between two vectors it gets its `bool` form.
    - `a and b` needs data of both; `a or b` of either; for `a unless b` those of `a` count.
    - `absent(x)` can always be answered, so its series is always there.
    - `scalar(x)` in a comparison needs data of `x`: without them it is NaN, which compares as false.

    None for `count_values`, whose series come and go with the values.
    """
    if any(isinstance(node, Aggregation) and node.operator == "count_values" for node in walk(expression)):
        return None
    if value_type(expression) is not ValueType.VECTOR:
        return expression
    return _presence(expression)


def _presence(expression: Expression) -> Expression:
    match expression:
        case Binary(operator="unless", left=left):
            return _presence(left)
        case Binary(operator="and" | "or", left=left, right=right):
            return _with(expression, _presence(left), _presence(right))
        case Binary():
            return _binary(expression)
        case Aggregation(operator=operator, expression=inner) if operator in _CHOOSING:
            return _presence(inner)
        case Aggregation(expression=inner):
            found = _presence(inner)
            return expression if found is inner else replace(expression, expression=found)
        case Negation(expression=inner):
            found = _presence(inner)
            return expression if found is inner else Negation(found)
        case Call(function="absent" | "absent_over_time"):
            return _never_there(expression)
        case Call(arguments=arguments):
            found = tuple(map(_argument, arguments))
            same = all(new is old for new, old in zip(found, arguments, strict=True))
            return expression if same or expression.function == "scalar" else replace(expression, arguments=found)
        case _:
            return expression


def _argument(argument: Expression) -> Expression:
    if isinstance(argument, Subquery):
        found = _presence(argument.expression)
        return argument if found is argument.expression else replace(argument, expression=found)
    return _presence(argument) if value_type(argument) is ValueType.VECTOR else argument


def _binary(binary: Binary) -> Expression:
    left, right = binary.left, binary.right
    scalar_left = value_type(left) is ValueType.SCALAR
    scalar_right = value_type(right) is ValueType.SCALAR
    if scalar_left and scalar_right:
        return binary
    compares = binary.operator in COMPARISON_OPERATORS
    if not scalar_left and not scalar_right:
        found = _with(binary, _presence(left), _presence(right))
        return replace(found, return_bool=True) if compares and isinstance(found, Binary) else found
    vector, scalar = (right, left) if scalar_left else (left, right)
    found = _presence(vector)
    if not compares or binary.return_bool:
        # Arithmetic takes the name away, which may make series alike: it stays as it is.
        found = _with(binary, left if scalar_left else found, found if scalar_left else right)
    for node in walk(scalar):
        if isinstance(node, Call) and node.function == "scalar":
            both = Matching(cardinality=Cardinality.MANY_TO_MANY, on=True)
            found = Binary(operator="and", left=found, right=node.arguments[0], matching=both)
    return found


def _with(binary: Binary, left: Expression, right: Expression) -> Expression:
    return binary if left is binary.left and right is binary.right else replace(binary, left=left, right=right)


def _never_there(call: Call) -> Expression:
    """`absent` of something that never is, with the same labels."""
    match call.arguments[0]:
        case Selector() as selector:
            inner: Expression = _emptied(selector)
        case RangeSelector() as window:
            inner = replace(window, selector=_emptied(window.selector))
        case _:
            return Call(function="vector", arguments=(Number(1.0),))
    return replace(call, arguments=(inner,))


def _emptied(selector: Selector) -> Selector:
    return replace(selector, matchers=(*selector.matchers, _NOTHING))


# The value ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueView:
    """What a condition compares: an expression without its comparison, and the number it is compared with, if any."""

    expression: Expression
    threshold: float | None
    comparison: str = ""


def value_of(expression: Expression) -> ValueView:
    """The compared side of a condition, with the labels that the condition's result has (but for the name).

    Of `a and b` and `a unless b` it is that of `a`; of `a or b` both, with the threshold that they share. An expression
    without a comparison at the top is its own value.
    """
    match expression:
        case Binary(operator="and" | "unless", left=left):
            return value_of(left)
        case Binary(operator="or", left=left, right=right):
            one, other = value_of(left), value_of(right)
            both = replace(expression, left=one.expression, right=other.expression)
            same = (one.threshold, one.comparison) == (other.threshold, other.comparison)
            return replace(one if same else ValueView(expression=both, threshold=None), expression=both)
        case Binary(operator=operator, return_bool=False) if operator in COMPARISON_OPERATORS:
            return _compared(expression)
        case _:
            return ValueView(expression=expression, threshold=None)


_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}


def _compared(comparison: Binary) -> ValueView:
    left, right = comparison.left, comparison.right
    if value_type(left) is ValueType.SCALAR:
        return ValueView(expression=right, threshold=constant_of(left), comparison=_TURNED[comparison.operator])
    if value_type(right) is ValueType.SCALAR:
        return ValueView(expression=left, threshold=constant_of(right), comparison=comparison.operator)
    # Plus nothing: keeps the value of the left side, and matches labels as the comparison does.
    nothing = Binary(operator="*", left=right, right=Number(0.0))
    return ValueView(
        expression=Binary(operator="+", left=left, right=nothing, matching=comparison.matching), threshold=None
    )


def constant_of(expression: Expression) -> float | None:
    """The number that an expression of numbers alone gives, such as `0.8 * 100`; None for any other."""
    match expression:
        case Number(value):
            return value
        case Negation(expression=inner):
            found = constant_of(inner)
            return None if found is None else -found
        case Binary(operator=operator, left=left, right=right):
            one, other = constant_of(left), constant_of(right)
            if one is None or other is None:
                return None
            with np.errstate(all="ignore"):
                return float(compute(operator, np.array(one), np.array(other), return_bool=True)[0])
        case _:
            return None


# What is read ---------------------------------------------------------------------------------------------------------


def selectors_of(expression: Expression) -> list[Selector]:
    found: list[Selector] = []
    pending: list[Expression] = [expression]
    while pending:
        node = pending.pop()
        match node:
            case Selector():
                found.append(node)
            case RangeSelector(selector=selector):
                found.append(selector)
            case _:
                pending.extend(children(node))
    return found


def metrics_of(expression: Expression) -> frozenset[str] | None:
    """Names of the metrics that an expression reads; None when a selector names none, so that it may read any."""
    names: set[str] = set()
    for selector in selectors_of(expression):
        named = [
            one.value for one in selector.matchers if one.label == "__name__" and one.operator is MatchOperator.EQUAL
        ]
        if not named or not named[0]:
            return None
        names.update(named)
    return frozenset(names)
