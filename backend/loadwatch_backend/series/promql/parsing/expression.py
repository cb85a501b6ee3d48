"""The tree of a PromQL expression. It says what is asked and nothing of how it is answered.

Source: promql/durations.go of Prometheus 3.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from loadwatch_backend.series.store.port import Matcher

MOST_SECONDS = 2**63 / 1e9
"""Of a duration: what Go's nanoseconds can hold, 292 years."""


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """A number of seconds (no operator), `step`, `range`, a sign, or an operation on two others."""

    operator: str
    value: float = 0.0
    left: "Arithmetic | None" = None
    right: "Arithmetic | None" = None
    start: int = field(default=0, compare=False, repr=False)

    @cached_property
    def is_constant(self) -> bool:
        if self.operator in ("step", "range"):
            return False
        return all(one is None or one.is_constant for one in (self.left, self.right))


def _divide(left: float, right: float) -> float:
    if right == 0:
        raise ValueError("division by zero")
    return left / right


def _modulo(left: float, right: float) -> float:
    if right == 0:
        raise ValueError("modulo by zero")
    return math.fmod(left, right) if math.isfinite(left) else math.nan


def _power(left: float, right: float) -> float:
    try:
        found = left**right
    except (OverflowError, ZeroDivisionError):
        return math.inf
    return math.nan if isinstance(found, complex) else found


_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divide,
    "%": _modulo,
    "^": _power,
    "min_of": min,
    "max_of": max,
}


def milliseconds_of(duration: Arithmetic, step_ms: int, range_ms: int, *, positive: bool) -> int:
    """The duration in milliseconds, for a query of this step and range (both 0 for an instant).

    Raises:
        ValueError: it is no duration, or not above zero where it has to be.
    """
    seconds = _evaluate(duration, step_ms, range_ms)
    if not math.isfinite(seconds):
        raise ValueError("duration is NaN or infinite")
    if positive and seconds <= 0:
        raise ValueError("duration must be greater than 0")
    if abs(seconds) > MOST_SECONDS:
        raise ValueError("duration is out of range")
    # A number as it is written is rounded, arithmetic is cut.
    return math.floor(seconds * 1000 + 0.5) if not duration.operator else int(seconds * 1000)


def _evaluate(duration: Arithmetic, step_ms: int, range_ms: int) -> float:
    operator = duration.operator
    if not operator:
        return duration.value
    if operator in ("step", "range"):
        return (step_ms if operator == "step" else range_ms) / 1000
    assert duration.right is not None
    right = _evaluate(duration.right, step_ms, range_ms)
    if duration.left is None:
        return -right if operator == "-" else right
    return _OPERATIONS[operator](_evaluate(duration.left, step_ms, range_ms), right)


class ValueType(StrEnum):
    SCALAR = "scalar"
    STRING = "string"
    VECTOR = "vector"
    MATRIX = "matrix"


class Cardinality(StrEnum):
    ONE_TO_ONE = "one-to-one"
    MANY_TO_ONE = "many-to-one"
    ONE_TO_MANY = "one-to-many"
    MANY_TO_MANY = "many-to-many"


class Edge(StrEnum):
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or a duration in seconds."""

    value: float


@dataclass(frozen=True, slots=True)
class Text:
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """The newest sample of each matching series: an instant vector."""

    matchers: tuple[Matcher, ...]
    offset_ms: int = 0
    offset_later: Arithmetic | None = None
    """An offset that depends on the query's own step or range; see `resolve`."""
    at_ms: int | None = None
    """The time at which it is taken whatever the step (the modifier `@`), before the offset."""
    at_edge: "Edge | None" = None
    """Likewise, as long as the query's own times are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeSelector:
    """The samples of each matching series in (t - offset - range, t - offset]: a range vector."""

    selector: Selector
    range_ms: int
    range_later: Arithmetic | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subquery:
    """An expression evaluated at multiples of `step_ms` in (t - offset - range, t - offset]: a range vector."""

    expression: "Expression"
    range_ms: int
    step_ms: int | None = None
    """None is the engine's own."""
    offset_ms: int = 0
    at_ms: int | None = None
    at_edge: Edge | None = None
    range_later: Arithmetic | None = None
    step_later: Arithmetic | None = None
    offset_later: Arithmetic | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    function: str
    arguments: tuple["Expression", ...]
    places: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Line and column of the call and of each argument, for warnings; empty in trees the server made."""

    @property
    def own_place(self) -> str:
        return self.place(-1)

    def place(self, number: int) -> str:
        return self.places[number + 1] if number + 1 < len(self.places) else "1:1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation:
    """An operator over groups of series; `without` tells which way `labels` is meant."""

    operator: str
    expression: "Expression"
    parameter: "Expression | None" = None
    labels: tuple[str, ...] = ()
    without: bool = False
    place: str = field(default="1:1", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negation:
    expression: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """How two vectors meet: `on` labels or all but `labels`; `include` copies labels from the "one" side."""

    cardinality: Cardinality = Cardinality.ONE_TO_ONE
    on: bool = False
    labels: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    fill_left: float | None = None
    """Value for a series missing on the left that one on the right would match."""
    fill_right: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    operator: str
    left: "Expression"
    right: "Expression"
    matching: Matching = Matching()
    return_bool: bool = False


Expression = Number | Text | Selector | RangeSelector | Subquery | Call | Aggregation | Negation | Binary


def children(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Call(arguments=arguments):
            return arguments
        case Aggregation(expression=inner, parameter=parameter):
            return (inner,) if parameter is None else (parameter, inner)
        case Negation(expression=inner) | Subquery(expression=inner):
            return (inner,)
        case Binary(left=left, right=right):
            return (left, right)
        case _:
            return ()


def with_children(expression: Expression, new: Sequence[Expression]) -> Expression:
    match expression:
        case Call():
            return replace(expression, arguments=tuple(new))
        case Aggregation(parameter=None):
            return replace(expression, expression=new[0])
        case Aggregation():
            return replace(expression, parameter=new[0], expression=new[1])
        case Negation():
            return Negation(new[0])
        case Subquery():
            return replace(expression, expression=new[0])
        case Binary():
            return replace(expression, left=new[0], right=new[1])
        case _:
            return expression


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all below it, each before its children."""
    yield expression
    for child in children(expression):
        yield from walk(child)
