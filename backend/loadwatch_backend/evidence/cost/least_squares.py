"""Non-negative least squares and the filter of a moving average; the one place of costs that knows SciPy's types.

SciPy is imported with the first question: it would take a fifth of the server's start.
"""

from functools import cache
from typing import Any

import numpy as np

from loadwatch_backend.records.model import FloatArray


def fit_positive(matrix: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """Coefficients that are none below 0 with the least sum of squares, and that sum (Lawson and Hanson 1974).

    Args:
        matrix: [row, column].
        target: [row].
    """
    if not matrix.shape[1]:
        return np.zeros(0), float(target @ target)
    solution, left = _optimize().nnls(matrix, target)
    return np.asarray(solution, np.float64), float(left) ** 2


def remembered(values: FloatArray, theta: float) -> FloatArray:
    """`z[t] = v[t] + theta * z[t-1]` along the first axis."""
    if not theta:
        return values
    bands = np.empty((2, len(values)))
    bands[0], bands[1] = 1.0, -theta
    return np.asarray(_linalg().solve_banded((1, 0), bands, values, check_finite=False), np.float64)


def folded(matrix: FloatArray) -> FloatArray:
    """A square matrix on which least squares say what they say of this one: R of its QR decomposition."""
    return matrix if len(matrix) <= matrix.shape[1] else np.asarray(np.linalg.qr(matrix, mode="r"), np.float64)


@cache
def _optimize() -> Any:
    from scipy import optimize

    return optimize


@cache
def _linalg() -> Any:
    from scipy import linalg

    return linalg
