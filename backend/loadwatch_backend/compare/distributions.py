"""Tails and quantiles of the distribution that the statistics need; the one place that knows SciPy's types.

SciPy is imported with the first question: it would take a fifth of the server's start.
"""

from functools import cache
from typing import Any


def student_tail(t: float, freedom: float) -> float:
    """Probability of a value of Student's distribution above t."""
    return float(_special().stdtr(freedom, -t))


def student_quantile(probability: float, freedom: float) -> float:
    """The value below which Student's distribution has this probability."""
    return float(_special().stdtrit(freedom, probability))


@cache
def _special() -> Any:
    from scipy import special

    return special
