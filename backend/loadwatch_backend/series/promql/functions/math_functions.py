"""Functions from number to number, array by array."""

from collections.abc import Callable

import numpy as np

from loadwatch_backend.series.promql.value import FloatArray

ElementFunction = Callable[..., FloatArray]
"""Values [series, steps] and scalars [steps] to values."""


def round_to(values: FloatArray, nearest: FloatArray | None = None) -> FloatArray:
    """The nearest multiple of `nearest` (1 by default); halves go up."""
    inverse = 1.0 / nearest if nearest is not None else np.ones(1)
    return np.floor(values * inverse + 0.5) / inverse


def sign(values: FloatArray) -> FloatArray:
    """-1, 0 or 1; NaN and -0 stay as they are."""
    return np.where(values < 0, -1.0, np.where(values > 0, 1.0, values))


def least_of(left: FloatArray, right: FloatArray) -> FloatArray:
    """The lesser of both."""
    # Go's math.Min: minus infinity wins even over NaN.
    return np.where((left == -np.inf) | (right == -np.inf), -np.inf, np.minimum(left, right))


def greatest_of(left: FloatArray, right: FloatArray) -> FloatArray:
    """The greater of both."""
    return np.where((left == np.inf) | (right == np.inf), np.inf, np.maximum(left, right))


def clamp(values: FloatArray, least: FloatArray, greatest: FloatArray) -> FloatArray:
    """Values kept between both."""
    return greatest_of(least, least_of(greatest, values))


def clamp_min(values: FloatArray, least: FloatArray) -> FloatArray:
    """Values, at least `least`."""
    return greatest_of(least, values)


def clamp_max(values: FloatArray, greatest: FloatArray) -> FloatArray:
    """Values, at most `greatest`."""
    return least_of(greatest, values)


def degrees(values: FloatArray) -> FloatArray:
    """Radians to degrees."""
    return values * 180 / np.pi


def radians(values: FloatArray) -> FloatArray:
    """Degrees to radians."""
    return values * np.pi / 180


ELEMENT_FUNCTIONS: dict[str, ElementFunction] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "round": round_to,
    "clamp_min": clamp_min,
    "clamp_max": clamp_max,
    "sgn": sign,
    "exp": np.exp,
    "ln": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "deg": degrees,
    "rad": radians,
}
