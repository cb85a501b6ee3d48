"""Text to `Expression`, through the promql-parser package, which checks grammar and types.

The package follows Prometheus 2.45 with some later syntax; what it accepts and this engine does not evaluate is
turned down here with the name of the construct.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from typing import Any

import promql_parser as syntax

from loadwatch_backend.promql.errors import QueryParseError, QueryUnsupportedError
from loadwatch_backend.promql.parsing.catalogue import AGGREGATORS, FUNCTION_TYPES, OPERATORS, SET_OPERATORS
from loadwatch_backend.promql.parsing.expression import (
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
from loadwatch_backend.promql.parsing.scan import Piece, Token, scan_expression, string_value
from loadwatch_backend.store.errors import PatternError
from loadwatch_backend.store.patterns import full_matcher
from loadwatch_backend.store.port import Matcher, MatchOperator

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
_MARK = "§"
"""Begins what stands for a string in the text that the parser reads: no word of PromQL has it."""
_MARKED = re.compile(rf'"?{_MARK}(\d+)_*\|?"?')


_CACHED_TEXT = 2_000
"""Characters of the longest text whose tree is kept: all of them together take some 70 MiB at the very most."""


def parse_expression(text: str) -> Expression:
    """The tree of `text`.

    Raises:
        QueryParseError: not PromQL, or its types do not fit, or it is too large.
        QueryUnsupportedError: PromQL, with a construct that is not evaluated here.
    """
    return _kept(text) if len(text) <= _CACHED_TEXT else _parse(text)


def _parse(text: str) -> Expression:
    return _Parsed(text).expression()


_kept = lru_cache(maxsize=2048)(_parse)


def format_expression(text: str) -> str:
    """`text` laid out over lines, without its comments; raises as `parse_expression`."""
    parsed = _Parsed(text)
    # What cannot be evaluated is turned down here too, with the same message.
    parsed.expression()
    return parsed.layout()


class _Parsed:
    """A text behind the native parser, which goes through here and nowhere else.

    The parser sees no comments and none of the client's strings: each is replaced by a mark with its number, as long as
    itself where that is possible. Its recursion then depends on nothing but what the scan has counted, and regular
    expressions are compiled by one engine only, RE2, in the store.
    """

    def __init__(self, text: str) -> None:
        self._scan = scan_expression(text)
        self._strings: list[Token] = []
        self._values: list[str] = []
        marked = self._marked()
        try:
            self._tree: Any = self._native(lambda: syntax.parse(marked))
        except ValueError as error:
            experimental = re.search(r"\b(anchored|smoothed)\b", self._scan.blanked(), re.IGNORECASE)
            if experimental:
                raise self.refusal(
                    r"\b(anchored|smoothed)\b",
                    f"the modifier `{experimental.group()}`",
                    "leave it out; rate() and increase() extrapolate as Prometheus does by default",
                ) from error
            raise QueryParseError(f"invalid PromQL in {text[:200]!r}: {self._restored(str(error))}") from error

    def _marked(self) -> str:
        text = self._scan.text
        parts: list[str] = []
        position = 0
        for token in self._scan.tokens:
            mark = " " * len(token.text) if token.piece is Piece.COMMENT else self._mark(token)
            parts += (text[position : token.position], mark)
            position = token.position + len(token.text)
        return "".join((*parts, text[position:]))

    def _mark(self, token: Token) -> str:
        value = string_value(token, self._scan.text)
        if not value:
            # Stays: the parser wants a matcher that an empty value does not meet.
            return '""'
        # Likewise: what matches nothing at all has to match it in the parser's eyes too.
        empty = "|" if token.piece is Piece.PATTERN and self._matches_empty(value) else ""
        mark = f"{_MARK}{len(self._strings)}"
        self._strings.append(token)
        self._values.append(value)
        return f'"{mark.ljust(len(token.text) - 2 - len(empty), "_")}{empty}"'

    def _matches_empty(self, pattern: str) -> bool:
        try:
            return full_matcher(pattern)("")
        except PatternError as error:
            raise QueryParseError(f"invalid PromQL in {self._scan.text[:200]!r}: {error.detail}") from error

    def restore(self, text: str) -> str:
        """The client's string, of one that the parser gave."""
        found = _MARKED.fullmatch(text)
        return text if found is None else self._values[int(found.group(1))]

    def _restored(self, text: str) -> str:
        """A text of the parser with the client's strings as the client wrote them."""
        return _MARKED.sub(lambda found: self._strings[int(found.group(1))].text, text)

    def expression(self) -> Expression:
        """The tree; raises QueryUnsupportedError."""
        return _Translation(self).expression(self._tree)

    def layout(self) -> str:
        """The text over lines."""
        pretty: str = self._native(self._tree.prettify)
        return self._restored(pretty)

    def _native(self, call: Callable[[], Any]) -> Any:
        """What the parser gives; where it gives up in a panic (`x offset NaN`), the text is no expression."""
        try:
            return call()
        except BaseException as error:
            # A class of the package's runtime that no module exports. No Exception catches it, so it would end the
            # thread that asks, and with it the server.
            if type(error).__name__ != "PanicException":
                raise
            raise QueryParseError(f"invalid PromQL in {self._scan.text[:200]!r}: {error}") from error

    def refusal(self, pattern: str, what: str, instead: str) -> QueryUnsupportedError:
        """The error for a construct, with the place at which `pattern` first stands outside of strings."""
        found = re.search(pattern, self._scan.blanked(), re.IGNORECASE)
        place = f" (at character {found.start() + 1})" if found else ""
        return QueryUnsupportedError(f"{what} is not supported by the embedded engine{place}: {instead}.")


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
    """From the parser's objects to ours, with the client's strings."""

    def __init__(self, parsed: _Parsed) -> None:
        self._refusal = parsed.refusal
        self._restore = parsed.restore

    def expression(self, node: Any) -> Expression:
        match node:
            case syntax.NumberLiteral():
                return Number(node.val)
            case syntax.StringLiteral():
                return Text(self._restore(node.val))
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
                raise self._refusal(
                    r"\[[^\]]*:",
                    "a subquery",
                    "use a range selector such as metric[5m], or evaluate the inner expression as a query of its own",
                )
            case _:
                raise QueryUnsupportedError(f"{type(node).__name__} is not supported by the embedded engine.")

    def _selector(self, node: syntax.VectorSelector) -> Selector:
        if node.at is not None:
            raise self._refusal("@", "the modifier `@`", "use offset, or query at that time")
        if node.matchers.or_matchers:
            raise self._refusal(
                r"\bor\b", "`or` between label matchers", 'use a regular expression, such as {a=~"x|y"}'
            )
        matchers = [
            Matcher(self._restore(matcher.name), _MATCH_OPERATORS[_name(matcher.op)], self._restore(matcher.value))
            for matcher in node.matchers.matchers
        ]
        if node.name is not None:
            matchers.insert(0, Matcher("__name__", MatchOperator.EQUAL, node.name))
        return Selector(matchers=tuple(matchers), offset_ms=_milliseconds(node, "offset"))

    def _call(self, node: syntax.Call) -> Expression:
        name = node.func.name
        if name not in FUNCTION_TYPES:
            raise self._refusal(
                rf"\b{re.escape(name)}\s*\(",
                f"the function {name}()",
                "docs/guide/promql.md lists the functions that are",
            )
        return Call(function=name, arguments=tuple(self.expression(argument) for argument in node.args))

    def _aggregation(self, node: syntax.AggregateExpr) -> Expression:
        operator = str(node.op)
        if operator not in AGGREGATORS:
            raise self._refusal(
                rf"\b{re.escape(operator)}\b",
                f"the aggregation {operator}",
                f"supported are {', '.join(AGGREGATORS)}",
            )
        modifier = node.modifier
        return Aggregation(
            operator=operator,
            expression=self.expression(node.expr),
            parameter=None if node.param is None else self.expression(node.param),
            labels=self._names(modifier),
            without=modifier is not None and _name(modifier.type) == "Without",
        )

    def _binary(self, node: syntax.BinaryExpr) -> Expression:
        operator = str(node.op)
        if operator not in OPERATORS:
            raise self._refusal(
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
            raise self._refusal(r"\bfill(_left|_right)?\b", "the modifier `fill`", "use `or`, such as (a or b * 0)")
        labels = modifier.matching
        matching = Matching(
            cardinality=_CARDINALITIES[_name(modifier.card)],
            on=labels is not None and _name(labels.type) == "Include",
            labels=self._names(labels),
            include=tuple(map(self._restore, modifier.group_labels or ())),
        )
        return Binary(operator=operator, left=left, right=right, matching=matching, return_bool=modifier.return_bool)

    def _names(self, modifier: syntax.AggModifier | syntax.LabelModifier | None) -> tuple[str, ...]:
        return () if modifier is None else tuple(map(self._restore, modifier.labels))


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
