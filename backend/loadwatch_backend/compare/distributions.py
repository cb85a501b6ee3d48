"""Tails and quantiles of the two distributions that the statistics need; the one place that knows SciPy's types."""

from collections.abc import Callable
from typing import Any, cast

from scipy import special

_functions = cast(Any, special)
_normal_below: Callable[[float], float] = _functions.ndtr
_student_below: Callable[[float, float], float] = _functions.stdtr
_student_quantile: Callable[[float, float], float] = _functions.stdtrit


def normal_tail(z: float) -> float:
    """Probability of a standard normal value above z."""
    return float(_normal_below(-z))


def student_tail(t: float, freedom: float) -> float:
    """Probability of a value of Student's distribution above t."""
    return float(_student_below(freedom, -t))


def student_quantile(probability: float, freedom: float) -> float:
    """The value below which Student's distribution has this probability."""
    return float(_student_quantile(freedom, probability))
