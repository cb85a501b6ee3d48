"""Aggregations over the samples of each window: the `*_over_time` functions, deriv and predict_linear.

Source of the arithmetic: promql/functions.go of Prometheus 3.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.series.promql.blocks import may_overflow, reduce_windows, sum_windows
from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.functions.rates import WindowResult, where_any
from loadwatch_backend.series.promql.samples import Windows
from loadwatch_backend.series.promql.value import FloatArray, IntArray

_CHUNK = 1 << 17
"""Samples gathered at once where whole windows are laid out side by side: 1 MB an array."""


_FEW_WINDOWS = 8


def avg_over_time(windows: Windows) -> FloatArray:
    """Mean, by the sum; by a running mean where the sum would overflow."""
    with np.errstate(all="ignore"):
        means = _sums(windows) / windows.counts
    if _may_overflow(windows):
        for place in zip(*np.nonzero(windows.counts), strict=True):
            means[place] = _running_mean(windows.samples.values[windows.first[place] : windows.end[place]])
    return means


def _may_overflow(windows: Windows) -> bool:
    return may_overflow(windows.samples.values, int(windows.counts.max(initial=0)))


def _sums(windows: Windows) -> FloatArray:
    values = windows.samples.values
    if not _may_overflow(windows):
        return sum_windows(values, windows.first, windows.end)
    sums = np.zeros(windows.first.shape)
    for place in zip(*np.nonzero(windows.counts), strict=True):
        total = lost = 0.0
        for value in values[windows.first[place] : windows.end[place]].tolist():
            total, lost = _increment(value, total, lost)
        sums[place] = total if np.isinf(total) else total + lost
    return sums


def _increment(value: float, total: float, lost: float) -> tuple[float, float]:
    """Kahan's sum with Neumaier's improvement (util/kahansum)."""
    new = total + value
    if np.isinf(new):
        return new, 0.0
    if abs(total) >= abs(value):
        return new, lost + ((total - new) + value)
    return new, lost + ((value - new) + total)


def _running_mean(values: FloatArray) -> float:
    total, mean, lost, incremental = float(values[0]), 0.0, 0.0, False
    for count, value in enumerate(values[1:].tolist(), start=2):
        if not incremental:
            new, new_lost = _increment(value, total, lost)
            if not np.isinf(new):
                total, lost = new, new_lost
                continue
            incremental, mean, lost = True, total / (count - 1), lost / (count - 1)
        kept = (count - 1) / count
        mean, lost = _increment(value / count, kept * mean, kept * lost)
    return mean + lost if incremental else total / len(values) + lost / len(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bundle:
    """Windows of one and the same length, side by side."""

    places: IntArray
    """Flat indices into [series, steps]."""
    rows: IntArray
    """Rows of the samples, int64[windows, length]."""


def _bundles(windows: Windows, least: int) -> Iterator[_Bundle]:
    """All windows of at least `least` samples. Scrapes are regular, so there are few lengths."""
    counts, first = windows.counts.ravel(), windows.first.ravel()
    for length in np.unique(counts[counts >= least]).tolist():
        places = np.flatnonzero(counts == length)
        span = np.arange(length, dtype=np.int64)
        for chunk in range(0, len(places), max(1, _CHUNK // length)):
            part = places[chunk : chunk + max(1, _CHUNK // length)]
            yield _Bundle(places=part, rows=first[part, None] + span)


def stdvar_over_time(windows: Windows) -> FloatArray:
    """Population variance, by deviations from the mean of the window."""
    result = np.zeros(windows.first.size)
    for bundle in _bundles(windows, 1):
        values = windows.samples.values[bundle.rows]
        length = values.shape[1]
        deviations = values - values.mean(axis=1, keepdims=True)
        # The second term takes back what rounding the mean brought in.
        squares = (deviations * deviations).sum(axis=1) - deviations.sum(axis=1) ** 2 / length
        result[bundle.places] = np.maximum(squares, 0) / length
    return result.reshape(windows.first.shape)


def stddev_over_time(windows: Windows) -> FloatArray:
    return np.sqrt(stdvar_over_time(windows))


def interpolate_quantile(ordered: FloatArray, q: FloatArray) -> FloatArray:
    """The q-quantile of each row of `ordered` [rows, n], rising with NaN first, q float64[rows].

    Linear between the two neighbours of rank q * (n - 1) (promql/quantile.go, quantile).
    """
    n = ordered.shape[1]
    usable = np.where((q >= 0) & (q <= 1), q, 0.0)
    rank = usable * (n - 1)
    lower = np.maximum(0, np.floor(rank)).astype(np.int64)
    upper = np.minimum(n - 1, lower + 1)
    weight = rank - np.floor(rank)
    row = np.arange(len(ordered))
    result = ordered[row, lower] * (1 - weight) + ordered[row, upper] * weight
    return np.where(np.isnan(q), np.nan, np.where(q < 0, -np.inf, np.where(q > 1, np.inf, result)))


def sort_nan_first(values: FloatArray) -> FloatArray:
    """Rows in rising order, NaN before everything."""
    ordered = np.sort(values, axis=1)
    unordered: IntArray = np.isnan(ordered).sum(axis=1, dtype=np.int64)
    if not unordered.any():
        return ordered
    places = np.mod(np.arange(ordered.shape[1], dtype=np.int64) - unordered[:, None], ordered.shape[1])
    return np.take_along_axis(ordered, places, axis=1)


def quantile_over_time(windows: Windows, q: FloatArray) -> WindowResult:
    """The q-quantile, q float64[steps]."""
    result = np.zeros(windows.first.size)
    steps = windows.first.shape[1]
    for bundle in _bundles(windows, 1):
        ordered = sort_nan_first(windows.samples.values[bundle.rows])
        result[bundle.places] = interpolate_quantile(ordered, q[bundle.places % steps])
    return result.reshape(windows.first.shape), windows.counts > 0


def _regression(windows: Windows, origin_ms: IntArray) -> tuple[FloatArray, FloatArray]:
    """Slope per second, and value at `origin_ms` [series, steps], of the least-squares line of each window."""
    slopes, intercepts = np.zeros(windows.first.size), np.zeros(windows.first.size)
    origins = np.broadcast_to(origin_ms, windows.first.shape).ravel()
    for bundle in _bundles(windows, 2):
        y = windows.samples.values[bundle.rows]
        x = (windows.samples.timestamps[bundle.rows] - origins[bundle.places, None]) / 1000
        mean_x, mean_y = x.mean(axis=1, keepdims=True), y.mean(axis=1, keepdims=True)
        from_x = x - mean_x
        slope = (from_x * (y - mean_y)).sum(axis=1) / (from_x * from_x).sum(axis=1)
        intercept = mean_y[:, 0] - slope * mean_x[:, 0]
        level = (y == y[:, :1]).all(axis=1)
        infinite = np.isinf(y[:, 0])
        slopes[bundle.places] = np.where(level, np.where(infinite, np.nan, 0.0), slope)
        intercepts[bundle.places] = np.where(level, np.where(infinite, np.nan, y[:, 0]), intercept)
    return slopes.reshape(windows.first.shape), intercepts.reshape(windows.first.shape)


def deriv(windows: Windows) -> WindowResult:
    """Slope per second by least squares."""
    return _regression(windows, windows.times_at(windows.first))[0], windows.counts >= 2


def predict_linear(windows: Windows, seconds: FloatArray) -> WindowResult:
    """Value of the least-squares line `seconds` [steps] after the evaluation."""
    slopes, intercepts = _regression(windows, windows.step_times_ms[None, :])
    return slopes * seconds + intercepts, windows.counts >= 2


def mad_over_time(windows: Windows) -> FloatArray:
    """Median of the absolute deviations from the median; NaN where any value is."""
    result = np.zeros(windows.first.size)
    for bundle in _bundles(windows, 1):
        values = windows.samples.values[bundle.rows]
        half = np.full(len(values), 0.5)
        median = interpolate_quantile(sort_nan_first(values), half)
        found = interpolate_quantile(sort_nan_first(np.abs(values - median[:, None])), half)
        result[bundle.places] = np.where(np.isnan(values).any(axis=1), np.nan, found)
    return result.reshape(windows.first.shape)


def _time_of(windows: Windows, extreme: np.ufunc) -> FloatArray:
    """Time in seconds of the last of the samples that have the extreme value; of the newest one where all are NaN."""
    result = np.zeros(windows.first.size)
    for bundle in _bundles(windows, 1):
        values = windows.samples.values[bundle.rows]
        best = extreme.reduce(values, axis=1)[:, None]
        found = (values == best) | np.isnan(best)
        last = values.shape[1] - 1 - found[:, ::-1].argmax(axis=1)
        result[bundle.places] = windows.samples.timestamps[bundle.rows[np.arange(len(values)), last]] / 1000
    return result.reshape(windows.first.shape)


def _smoothed(values: list[float], level: float, trend: float) -> float:
    """One window; numbers of Python's are faster than arrays where there are few windows, and they long."""
    before, smooth, slope = values[0], values[0], values[1] - values[0]
    for place in range(1, len(values)):
        if place > 1:
            slope = trend * (smooth - before) + (1 - trend) * slope
        before, smooth = smooth, level * values[place] + (1 - level) * (smooth + slope)
    return smooth


def double_exponential_smoothing(windows: Windows, level: FloatArray, trend: FloatArray) -> WindowResult:
    """The newest value after Holt's linear smoothing, factors float64[steps].

    Raises:
        QueryExecutionError: a factor that is not between 0 and 1.
    """
    seen = (windows.counts > 0).any(axis=0)
    for what, name, factor in (("smoothing", "sf", level), ("trend", "tf", trend)):
        bad = seen & ((factor <= 0) | (factor >= 1))
        if bad.any():
            given = f"{float(factor[bad][0]):f}"
            raise QueryExecutionError(f"invalid {what} factor. Expected: 0 < {name} < 1, got: {given}")
    result = np.zeros(windows.first.size)
    steps = windows.first.shape[1]
    for bundle in _bundles(windows, 2):
        values = windows.samples.values[bundle.rows]
        sf, tf = level[bundle.places % steps], trend[bundle.places % steps]
        if len(values) < _FEW_WINDOWS:
            rows = zip(values.tolist(), sf.tolist(), tf.tolist(), strict=True)
            result[bundle.places] = [_smoothed(row, level_of, trend_of) for row, level_of, trend_of in rows]
            continue
        before, smooth, slope = values[:, 0], values[:, 0], values[:, 1] - values[:, 0]
        for place in range(1, values.shape[1]):
            if place > 1:
                slope = tf * (smooth - before) + (1 - tf) * slope
            before, smooth = smooth, sf * values[:, place] + (1 - sf) * (smooth + slope)
        result[bundle.places] = smooth
    return result.reshape(windows.first.shape), windows.counts >= 2


def _extremes(windows: Windows, extreme: np.ufunc) -> FloatArray:
    """The extreme of each window, NaN only where all its samples are."""
    return reduce_windows(windows.samples.values, windows.first, windows.end, extreme, np.nan)


OVER_TIME: Mapping[str, Callable[..., WindowResult]] = {
    "avg_over_time": where_any(avg_over_time),
    "min_over_time": where_any(lambda windows: _extremes(windows, np.fmin)),
    "max_over_time": where_any(lambda windows: _extremes(windows, np.fmax)),
    "sum_over_time": where_any(_sums),
    "count_over_time": where_any(lambda windows: windows.counts.astype(np.float64)),
    "quantile_over_time": quantile_over_time,
    "stddev_over_time": where_any(stddev_over_time),
    "stdvar_over_time": where_any(stdvar_over_time),
    "last_over_time": where_any(lambda windows: windows.at(windows.end - 1)),
    "first_over_time": where_any(lambda windows: windows.at(windows.first)),
    "mad_over_time": where_any(mad_over_time),
    "ts_of_first_over_time": where_any(lambda windows: windows.times_at(windows.first) / 1000),
    "ts_of_last_over_time": where_any(lambda windows: windows.times_at(windows.end - 1) / 1000),
    "ts_of_min_over_time": where_any(lambda windows: _time_of(windows, np.fmin)),
    "ts_of_max_over_time": where_any(lambda windows: _time_of(windows, np.fmax)),
    "present_over_time": where_any(lambda windows: np.ones(windows.counts.shape)),
    "double_exponential_smoothing": double_exponential_smoothing,
    "deriv": deriv,
    "predict_linear": predict_linear,
}
