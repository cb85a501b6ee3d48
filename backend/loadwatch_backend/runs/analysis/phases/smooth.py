"""Robust statistics of one series. Pure; NaN is no value unless said otherwise."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from loadwatch_backend.evidence.records.model import FloatArray

TO_SIGMA = 1.4826
"""Median absolute deviation to standard deviation of a normal distribution."""
SLOPE_POINTS = 120


def fill_gaps(values: FloatArray) -> FloatArray:
    """NaN replaced by the line between its neighbours; zeros where nothing is known."""
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        return np.zeros(len(values))
    return np.interp(np.arange(len(values)), known, values[known])


def running_median(values: FloatArray, width: int) -> FloatArray:
    """Median over the `width` (odd) values around each; needs values without NaN. Costs `width` times the length."""
    if width <= 1 or len(values) < 3:
        return values
    padded = np.pad(values, width // 2, mode="edge")
    return np.median(sliding_window_view(padded, width), axis=1)


def block_means(values: FloatArray, width: int) -> FloatArray:
    """Means of consecutive blocks; an incomplete last block is left out unless it is the only one."""
    count = len(values) // width
    if count == 0:
        return np.array([values.mean()]) if len(values) else np.empty(0)
    return values[: count * width].reshape(count, width).mean(axis=1)


def block_medians(values: FloatArray, most: int) -> FloatArray:
    """At most `most` medians of consecutive blocks of equal length."""
    width = max(-(-len(values) // most), 1)
    count = len(values) // width
    return np.median(values[: count * width].reshape(count, width), axis=1) if count else np.empty(0)


def spread(values: FloatArray) -> float:
    """Standard deviation, from the median absolute deviation: outliers do not widen it."""
    return float(np.median(np.abs(values - np.median(values)))) * TO_SIGMA if len(values) else 0.0


def relative_change(values: FloatArray) -> float:
    """How much the series grows from its first to its last value along its robust slope, relative to its median.

    Theil-Sen: the median of the slopes of all pairs, of at most 120 block medians (Sen, "Estimates of the regression
    coefficient based on Kendall's tau", JASA 1968).
    """
    points = block_medians(values, SLOPE_POINTS)
    count = len(points)
    if count < 3:
        return 0.0
    first, second = np.triu_indices(count, 1)
    slope = float(np.median((points[second] - points[first]) / (second - first)))
    middle = float(np.median(points))
    rise = slope * (count - 1)
    if middle > 0:
        return rise / middle
    return 0.0 if rise == 0 else float(np.copysign(np.inf, rise))


def rank_correlation(values: FloatArray) -> float:
    """Kendall's tau-b of at most 120 block medians with time, -1 to 1; 0 for a constant series."""
    concordance, untied, pairs, count = _concordance(values)
    return concordance / float(np.sqrt(untied * pairs)) if untied and count >= 3 else 0.0


def trend_score(values: FloatArray) -> float:
    """Mann and Kendall's z of at most 120 block medians: beyond 3 a trend in white noise is one in 400."""
    concordance, _, _, count = _concordance(values)
    if count < 3:
        return 0.0
    return concordance / float(np.sqrt(count * (count - 1) * (2 * count + 5) / 18))


def _concordance(values: FloatArray) -> tuple[float, float, int, int]:
    """Rising less falling pairs, pairs that are no ties, all pairs, and points."""
    points = block_medians(values, SLOPE_POINTS)
    count = len(points)
    first, second = np.triu_indices(count, 1)
    signs = np.sign(points[second] - points[first])
    return float(signs.sum()), float(np.abs(signs).sum()), len(signs), count
