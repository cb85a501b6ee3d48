"""Lines through points, many at once, by Theil and Sen. Arrays are [..., point].

The slope is the median of those between all pairs of points, each with the weight of its length (Theil, "A
rank-invariant method of linear and polynomial regression analysis", 1950; Sen, "Estimates of the regression coefficient
based on Kendall's tau", 1968). Up to 29 % of the points may lie anywhere.
"""

import numpy as np

from loadwatch_backend.findings.forecast.model import FloatArray

NORMAL = 1.4826
"""Standard deviation of a normal distribution over the median of its absolute deviations."""


def fit_line(rates: FloatArray, uses: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Intercept and slope; NaN where all rates are the same. At least three points; `weights` are [point]."""
    first, second = np.triu_indices(rates.shape[-1], 1)
    lengths = rates[..., second] - rates[..., first]
    rises = uses[..., second] - uses[..., first]
    both = weights[first] * weights[second] / (weights[first] + weights[second])
    apart = np.abs(lengths) > 1e-9 * np.abs(rates).max(axis=-1, keepdims=True)
    slopes = np.where(apart, rises / np.where(apart, lengths, 1.0), 0.0)
    demand = weighted_median(slopes, np.where(apart, np.abs(lengths) * both, 0.0))
    return weighted_median(uses - demand[..., None] * rates, weights * np.ones_like(rates)), demand


def weighted_median(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Along the last axis, the middle of the two where the weights leave it open; NaN without any weight."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    sums = np.cumsum(np.take_along_axis(weights, order, axis=-1), axis=-1)
    half = sums[..., -1:] / 2
    slack = 1e-12 * sums[..., -1:]
    lower = np.argmax(sums >= half - slack, axis=-1)[..., None]
    upper = np.argmax(sums > half + slack, axis=-1)[..., None]
    middle = (np.take_along_axis(ordered, lower, axis=-1) + np.take_along_axis(ordered, upper, axis=-1)) / 2
    return np.where(half > 0, middle, np.nan)[..., 0]


def deviation(apart: FloatArray) -> float:
    """Standard deviation of points about a line, from the median of their absolute distances."""
    return float(np.median(apart)) * NORMAL * float(np.sqrt(len(apart) / max(len(apart) - 2, 1)))


def fit_curve(rates: FloatArray, uses: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of a parabola (constant first) by least squares and their covariance; at least four points."""
    scale = float(rates.max())
    terms = np.vander(rates / scale, 3, increasing=True)
    normal = np.asarray(np.linalg.pinv((terms * weights[:, None]).T @ terms), np.float64)
    found = normal @ (terms * weights[:, None]).T @ uses
    residuals = uses - terms @ found
    variance = float((weights * residuals**2).sum()) / max(len(rates) - 3, 1)
    units = np.array([1.0, 1 / scale, 1 / scale**2])
    return found * units, np.asarray(normal * variance * np.outer(units, units), np.float64)
