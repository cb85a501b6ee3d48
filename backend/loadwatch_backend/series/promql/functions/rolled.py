"""Functions over windows of one-minute rollups: to the answer that all samples of the minutes would give.

Each row of the windows is a minute, or one of two parts of one; `windows.samples.minutes` says what its samples were.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from loadwatch_backend.series.promql.blocks import reduce_windows, sum_windows
from loadwatch_backend.series.promql.functions.rates import Ends, WindowResult, extrapolations, pairs_inside, where_any
from loadwatch_backend.series.promql.samples import Windows
from loadwatch_backend.series.promql.value import FloatArray, IntArray
from loadwatch_backend.series.store.levels import MinuteColumns


def _minutes(windows: Windows) -> MinuteColumns:
    assert windows.samples.minutes is not None
    return windows.samples.minutes


def _counts(windows: Windows) -> IntArray:
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(_minutes(windows).counts)))
    return before[windows.end] - before[np.minimum(windows.first, windows.end)]


def _sums(windows: Windows) -> FloatArray:
    return sum_windows(_minutes(windows).sums, windows.first, windows.end)


def _means(windows: Windows) -> FloatArray:
    with np.errstate(all="ignore"):
        return _sums(windows) / _counts(windows)


def _extremes(column: FloatArray, windows: Windows, extreme: np.ufunc) -> FloatArray:
    return reduce_windows(column, windows.first, windows.end, extreme, np.nan)


def _of_first(windows: Windows) -> Windows:
    """The same windows, with the first sample of each row instead of its end and its last sample."""
    minutes = _minutes(windows)
    return replace(windows, samples=replace(windows.samples, timestamps=minutes.first_ms, values=minutes.first))


def _ends(windows: Windows) -> Ends:
    oldest = _of_first(windows)
    newest = replace(windows, samples=replace(windows.samples, timestamps=_minutes(windows).last_ms))

    def correction() -> FloatArray:
        """What was counted before resets within minutes, and between two of them."""
        minutes, last = _minutes(windows), windows.samples.values
        total = sum_windows(minutes.resets, windows.first, windows.end)
        falls = np.flatnonzero(minutes.first[1:] < last[:-1]) + 1
        start, stop = pairs_inside(windows, falls)
        return total + sum_windows(last[falls - 1], start, np.maximum(start, stop))

    return Ends(
        counts=_counts(windows),
        first_value=oldest.at(windows.first),
        last_value=newest.at(windows.end - 1),
        first_time=oldest.times_at(windows.first),
        last_time=newest.times_at(windows.end - 1),
        correction=correction,
    )


ROLLED: Mapping[str, Callable[[Windows], WindowResult]] = {
    **extrapolations(_ends),
    "avg_over_time": where_any(_means),
    "min_over_time": where_any(lambda windows: _extremes(_minutes(windows).least, windows, np.fmin)),
    "max_over_time": where_any(lambda windows: _extremes(_minutes(windows).greatest, windows, np.fmax)),
    "sum_over_time": where_any(_sums),
    "count_over_time": where_any(lambda windows: _counts(windows).astype(np.float64)),
    "first_over_time": where_any(lambda windows: _of_first(windows).at(windows.first)),
    "ts_of_first_over_time": where_any(lambda windows: _of_first(windows).times_at(windows.first) / 1000),
}
ENDS_FUNCTIONS = ROLLED.keys() - {"avg_over_time", "min_over_time", "max_over_time", "sum_over_time"}
"""Functions that need neither sums nor extremes."""
LAST_FUNCTIONS = frozenset(("last_over_time", "present_over_time", "absent_over_time", "ts_of_last_over_time"))
"""Functions that the last sample of each minute is enough for."""
