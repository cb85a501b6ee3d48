"""Text to `Expression`: lexer, grammar and checks of types, with bounds and a memory of what was parsed."""

from functools import lru_cache

from loadwatch_backend.series.promql.parsing.catalogue import FUNCTION_TYPES
from loadwatch_backend.series.promql.parsing.expression import (
    Binary,
    Call,
    Expression,
    Negation,
    Number,
    RangeSelector,
    Subquery,
    Text,
    ValueType,
)
from loadwatch_backend.series.promql.parsing.grammar import parse_syntax
from loadwatch_backend.series.promql.parsing.translate import translate

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
    return translate(parse_syntax(text), text)


_kept = lru_cache(maxsize=2048)(_parse)


def value_type(expression: Expression) -> ValueType:
    """The type of what an expression evaluates to."""
    match expression:
        case Number():
            return ValueType.SCALAR
        case Text():
            return ValueType.STRING
        case RangeSelector() | Subquery():
            return ValueType.MATRIX
        case Call(function=name):
            # The rate that charts draw has no name that a user could write.
            return FUNCTION_TYPES.get(name, ValueType.VECTOR)
        case Negation(expression=inner):
            return value_type(inner)
        case Binary(left=left, right=right):
            both = value_type(left), value_type(right)
            return ValueType.SCALAR if both == (ValueType.SCALAR, ValueType.SCALAR) else ValueType.VECTOR
        case _:
            return ValueType.VECTOR
