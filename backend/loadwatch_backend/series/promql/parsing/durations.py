"""Arithmetic of durations: `[5m * 2]`, `offset (step() - 1m)`.

Source: promql/durations.go of Prometheus 3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

MOST_SECONDS = 2**63 / 1e9
"""Of a duration: what Go's nanoseconds can hold, 292 years."""


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """A number of seconds (no operator), `step`, `range`, a sign, or an operation on two others."""

    operator: str
    value: float = 0.0
    left: "Arithmetic | None" = None
    right: "Arithmetic | None" = None

    @cached_property
    def is_constant(self) -> bool:
        """Whether it is the same for every query."""
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
