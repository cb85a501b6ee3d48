"""Arithmetic and comparison of numbers, array by array."""

from collections.abc import Callable

import numpy as np

from loadwatch_backend.series.promql.value import BoolArray, FloatArray


def _modulo(left: FloatArray, right: FloatArray) -> FloatArray:
    # Go's math.Mod keeps the sign of the dividend, as C's fmod does.
    return np.fmod(left, right)


ARITHMETIC: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": _modulo,
    "^": np.power,
    "atan2": np.arctan2,
}
COMPARISON: dict[str, Callable[[FloatArray, FloatArray], BoolArray]] = {
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
}


def compute(operator: str, left: FloatArray, right: FloatArray, *, return_bool: bool) -> tuple[FloatArray, BoolArray]:
    """Values and which of them are kept; a comparison keeps the left value where it holds, or gives 0 and 1."""
    if operator in ARITHMETIC:
        values = ARITHMETIC[operator](left, right)
        return values, np.ones(values.shape, dtype=np.bool_)
    holds = COMPARISON[operator](left, right)
    if return_bool:
        return holds.astype(np.float64), np.ones(holds.shape, dtype=np.bool_)
    return left if left.shape == holds.shape else np.broadcast_to(left, holds.shape), holds
