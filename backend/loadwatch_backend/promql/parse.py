"""Text to `Expression`, through the promql-parser package, which checks grammar and types.

The package follows Prometheus 2.45 with some later syntax; what it accepts and this engine does not evaluate is
turned down here with the name of the construct.
"""

import re
from datetime import timedelta
from functools import lru_cache
from typing import Any

import promql_parser as syntax

from loadwatch_backend.promql.catalogue import AGGREGATORS, FUNCTION_TYPES, OPERATORS, SET_OPERATORS
from loadwatch_backend.promql.errors import QueryParseError, QueryUnsupportedError
from loadwatch_backend.promql.expression import (
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
    Text,
    ValueType,
)
from loadwatch_backend.store.port import Matcher, MatchOperator

MAX_TEXT = 64 * 1024
"""Characters in one expression."""
MAX_DEPTH = 100
"""Levels of brackets."""
MAX_OPERATORS = 200
"""Operators in one expression. They chain into a tree as deep as their number; both bound the recursion of parser and
evaluator."""

_CARDINALITIES = {
    "OneToOne": Cardinality.ONE_TO_ONE,
    "ManyToOne": Cardinality.MANY_TO_ONE,
    "OneToMany": Cardinality.ONE_TO_MANY,
    "ManyToMany": Cardinality.MANY_TO_MANY,
}
_MATCH_OPERATORS = {
    "Equal": MatchOperator.EQUAL,
    "NotEqual": MatchOperator.NOT_EQUAL,
    "Re": MatchOperator.REGEX,
    "NotRe": MatchOperator.NOT_REGEX,
}
LONGEST = timedelta(days=292 * 365)
"""Of ranges and offsets; what Prometheus' durations can hold."""
_OPERATOR_SIGNS = re.compile(r"[-+*/%^]|[=!<>]=?|\b(?:and|or|unless|atan2)\b")
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`[^`]*`', re.DOTALL)


def _blank(text: str) -> str:
    return _QUOTED.sub(lambda match: '"' + " " * (len(match.group()) - 2) + '"', text)


def _refuse(text: str, pattern: str, what: str, instead: str) -> QueryUnsupportedError:
    """The error for a construct, with the place at which `pattern` first stands outside of strings."""
    found = re.search(pattern, _blank(text))
    place = f" (at character {found.start() + 1})" if found else ""
    return QueryUnsupportedError(f"{what} is not supported by the embedded engine{place}: {instead}.")


@lru_cache(maxsize=2048)
def parse_expression(text: str) -> Expression:
    """The tree of `text`.

    Raises:
        QueryParseError: not PromQL, or its types do not fit.
        QueryUnsupportedError: PromQL, with a construct that is not evaluated here.
    """
    _check_size(text)
    try:
        parsed = syntax.parse(text)
    except ValueError as error:
        experimental = re.search(r"\b(anchored|smoothed)\b", _blank(text))
        if experimental:
            raise _refuse(
                text,
                r"\b(anchored|smoothed)\b",
                f"the modifier `{experimental.group()}`",
                "leave it out; rate() and increase() extrapolate as Prometheus does by default",
            ) from error
        raise QueryParseError(f"invalid PromQL in {text[:200]!r}: {error}") from error
    return _Translation(text).expression(parsed)


def _check_size(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise QueryParseError(f"the expression has {len(text)} characters; at most {MAX_TEXT} are taken")
    depth = deepest = 0
    blank = _blank(text)
    for letter in blank:
        if letter in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in ")]}":
            depth -= 1
    if deepest > MAX_DEPTH:
        raise QueryParseError(f"the expression is nested deeper than {MAX_DEPTH} levels")
    if len(_OPERATOR_SIGNS.findall(blank)) > MAX_OPERATORS:
        raise QueryParseError(f"the expression has more than {MAX_OPERATORS} operators")


def _milliseconds(node: Any, name: str) -> int:
    try:
        value: timedelta | None = getattr(node, name)
    except OverflowError:
        value = timedelta.max
    if value is None:
        return 0
    if abs(value) > LONGEST:
        raise QueryParseError(f"a duration in the expression is out of range: at most {LONGEST.days // 365} years")
    return round(value / timedelta(milliseconds=1))


class _Translation:
    """From the parser's objects to ours; keeps the text for the places in messages."""

    def __init__(self, text: str) -> None:
        self._text = text

    def expression(self, node: Any) -> Expression:
        match node:
            case syntax.NumberLiteral():
                return Number(node.val)
            case syntax.StringLiteral():
                return Text(node.val)
            case syntax.ParenExpr():
                return self.expression(node.expr)
            case syntax.UnaryExpr():
                return Negation(self.expression(node.expr))
            case syntax.VectorSelector():
                return self._selector(node)
            case syntax.MatrixSelector():
                selector = self._selector(node.vector_selector)
                return RangeSelector(selector=selector, range_ms=_milliseconds(node, "range"))
            case syntax.Call():
                return self._call(node)
            case syntax.AggregateExpr():
                return self._aggregation(node)
            case syntax.BinaryExpr():
                return self._binary(node)
            case syntax.SubqueryExpr():
                raise _refuse(
                    self._text,
                    r"\[[^\]]*:",
                    "a subquery",
                    "use a range selector such as metric[5m], or evaluate the inner expression as a query of its own",
                )
            case _:
                raise QueryUnsupportedError(f"{type(node).__name__} is not supported by the embedded engine.")

    def _selector(self, node: syntax.VectorSelector) -> Selector:
        if node.at is not None:
            raise _refuse(self._text, "@", "the modifier `@`", "use offset, or query at that time")
        if node.matchers.or_matchers:
            raise _refuse(
                self._text, r"\bor\b", "`or` between label matchers", 'use a regular expression, such as {a=~"x|y"}'
            )
        matchers = [
            Matcher(matcher.name, _MATCH_OPERATORS[_name(matcher.op)], matcher.value)
            for matcher in node.matchers.matchers
        ]
        if node.name is not None:
            matchers.insert(0, Matcher("__name__", MatchOperator.EQUAL, node.name))
        return Selector(matchers=tuple(matchers), offset_ms=_milliseconds(node, "offset"))

    def _call(self, node: syntax.Call) -> Expression:
        name = node.func.name
        if name not in FUNCTION_TYPES:
            raise _refuse(
                self._text,
                rf"\b{re.escape(name)}\s*\(",
                f"the function {name}()",
                "docs/guide/promql.md lists the functions that are",
            )
        return Call(function=name, arguments=tuple(self.expression(argument) for argument in node.args))

    def _aggregation(self, node: syntax.AggregateExpr) -> Expression:
        operator = str(node.op)
        if operator not in AGGREGATORS:
            raise _refuse(
                self._text,
                rf"\b{re.escape(operator)}\b",
                f"the aggregation {operator}",
                f"supported are {', '.join(AGGREGATORS)}",
            )
        modifier = node.modifier
        return Aggregation(
            operator=operator,
            expression=self.expression(node.expr),
            parameter=None if node.param is None else self.expression(node.param),
            labels=tuple(modifier.labels) if modifier is not None else (),
            without=modifier is not None and _name(modifier.type) == "Without",
        )

    def _binary(self, node: syntax.BinaryExpr) -> Expression:
        operator = str(node.op)
        if operator not in OPERATORS:
            raise _refuse(
                self._text,
                re.escape(operator),
                f"the operator {operator}",
                f"supported are {' '.join(OPERATORS)}",
            )
        left, right, modifier = self.expression(node.lhs), self.expression(node.rhs), node.modifier
        if modifier is None:
            many = Cardinality.MANY_TO_MANY if operator in SET_OPERATORS else Cardinality.ONE_TO_ONE
            return Binary(operator=operator, left=left, right=right, matching=Matching(cardinality=many))
        fill = modifier.fill_values
        if fill.lhs is not None or fill.rhs is not None:
            raise _refuse(
                self._text, r"\bfill(_left|_right)?\b", "the modifier `fill`", "use `or`, such as (a or b * 0)"
            )
        labels = modifier.matching
        matching = Matching(
            cardinality=_CARDINALITIES[_name(modifier.card)],
            on=labels is not None and _name(labels.type) == "Include",
            labels=tuple(labels.labels) if labels is not None else (),
            include=tuple(modifier.group_labels or ()),
        )
        return Binary(operator=operator, left=left, right=right, matching=matching, return_bool=modifier.return_bool)


def _name(member: Any) -> str:
    # The package's enumerations are Rust classes without `name`; their text is "Class.Member".
    return str(member).rsplit(".", 1)[-1]


def value_type(expression: Expression) -> ValueType:
    """The type of what an expression evaluates to."""
    match expression:
        case Number():
            return ValueType.SCALAR
        case Text():
            return ValueType.STRING
        case RangeSelector():
            return ValueType.MATRIX
        case Call(function=name):
            return FUNCTION_TYPES[name]
        case Negation(expression=inner):
            return value_type(inner)
        case Binary(left=left, right=right):
            both = value_type(left), value_type(right)
            return ValueType.SCALAR if both == (ValueType.SCALAR, ValueType.SCALAR) else ValueType.VECTOR
        case _:
            return ValueType.VECTOR
