"""Rates over windows: rate, increase, delta, irate, idelta, resets and changes, as Prometheus 3 computes them.

Source of the arithmetic: promql/functions.go (extrapolatedRate, instantValue, funcResets, funcChanges). All work on
arrays [series, steps].
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from loadwatch_backend.series.promql.blocks import sum_windows
from loadwatch_backend.series.promql.samples import Windows
from loadwatch_backend.series.promql.value import BoolArray, FloatArray, IntArray

WindowResult = tuple[FloatArray, BoolArray]
"""Values and presence, [series, steps]."""


def where_any(values_of: Callable[[Windows], FloatArray]) -> Callable[[Windows], WindowResult]:
    return lambda windows: (values_of(windows), windows.counts > 0)


def _later_rows(windows: Windows, differs: Callable[[FloatArray, FloatArray], BoolArray]) -> IntArray:
    """Rows r, rising, for which `differs(value[r - 1], value[r])`; the first row of a series may be among them."""
    values = windows.samples.values
    return np.flatnonzero(differs(values[:-1], values[1:])) + 1


def pairs_inside(windows: Windows, rows: IntArray) -> tuple[IntArray, IntArray]:
    """For each window the positions in `rows` from and up to which both of (r - 1, r) lie inside of it."""
    return np.searchsorted(rows, windows.first, side="right"), np.searchsorted(rows, windows.end, side="left")


def _is_drop(before: FloatArray, after: FloatArray) -> BoolArray:
    return after < before


def _reset_correction(windows: Windows, alive: BoolArray) -> FloatArray | None:
    """What a counter had counted before each of its resets in the window; None when there are none."""
    drops = _later_rows(windows, _is_drop)
    if not len(drops):
        return None
    start, stop = pairs_inside(windows, drops)
    broken = (stop > start) & alive
    if not broken.any():
        return None
    total = np.zeros(windows.first.shape)
    total[broken] = sum_windows(windows.samples.values[drops - 1], start[broken], stop[broken])
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """All that an extrapolation needs of each window, [series, steps]; times in ms. `correction` is for counters."""

    counts: IntArray
    first_value: FloatArray
    last_value: FloatArray
    first_time: IntArray
    last_time: IntArray
    correction: Callable[[], FloatArray | None]


def _ends(windows: Windows) -> Ends:
    return Ends(
        counts=windows.counts,
        first_value=windows.at(windows.first),
        last_value=windows.at(windows.end - 1),
        first_time=windows.times_at(windows.first),
        last_time=windows.times_at(windows.end - 1),
        correction=lambda: _reset_correction(windows, windows.counts >= 2),
    )


def _extrapolated(
    ends_of: Callable[[Windows], Ends], windows: Windows, *, is_counter: bool, is_rate: bool
) -> WindowResult:
    """The increase or difference between the first and the last sample, extended to the edges of the window."""
    ends = ends_of(windows)
    present = ends.counts >= 2
    if not present.any():
        return np.zeros(present.shape), present
    first_value, first_time, last_time = ends.first_value, ends.first_time, ends.last_time
    result = ends.last_value - first_value
    if is_counter:
        correction = ends.correction()
        if correction is not None:
            result = result + correction

    to_start = (first_time - (windows.times_ms - windows.range_ms)) / 1000
    to_end = (windows.times_ms - last_time) / 1000
    sampled = (last_time - first_time) / 1000
    average = sampled / (ends.counts - 1)
    threshold = average * 1.1
    to_start = np.where(to_start >= threshold, average / 2, to_start)
    if is_counter:
        # A counter cannot have been below zero, so it is not extrapolated beyond the time at which it would be zero.
        to_zero = np.where((result > 0) & (first_value >= 0), sampled * (first_value / result), to_start)
        to_start = np.where(to_zero < to_start, to_zero, to_start)
    to_end = np.where(to_end >= threshold, average / 2, to_end)

    factor = (sampled + to_start + to_end) / sampled
    if is_rate:
        factor = factor / (windows.range_ms / 1000)
    return result * factor, present


def extrapolations(ends_of: Callable[[Windows], Ends]) -> dict[str, Callable[[Windows], WindowResult]]:
    """`rate`, `increase` and `delta` by name, computed from the ends of windows."""
    return {
        name: partial(_extrapolated, ends_of, is_counter=name != "delta", is_rate=name == "rate")
        for name in ("rate", "increase", "delta")
    }


def irate(windows: Windows) -> WindowResult:
    """Increase per second between the last two samples; after a reset the counter is taken to start from zero."""
    present = windows.counts >= 2
    last, before = windows.at(windows.end - 1), windows.at(windows.end - 2)
    seconds = (windows.times_at(windows.end - 1) - windows.times_at(windows.end - 2)) / 1000
    return np.where(last < before, last, last - before) / seconds, present


def idelta(windows: Windows) -> WindowResult:
    return windows.at(windows.end - 1) - windows.at(windows.end - 2), windows.counts >= 2


def _count_pairs(windows: Windows, differs: Callable[[FloatArray, FloatArray], BoolArray]) -> WindowResult:
    start, stop = pairs_inside(windows, _later_rows(windows, differs))
    return np.maximum(stop - start, 0).astype(np.float64), windows.counts > 0


def resets(windows: Windows) -> WindowResult:
    return _count_pairs(windows, _is_drop)


def changes(windows: Windows) -> WindowResult:
    """Number of changes; NaN after NaN is none."""

    def differs(before: FloatArray, after: FloatArray) -> BoolArray:
        return (before != after) & ~(np.isnan(before) & np.isnan(after))

    return _count_pairs(windows, differs)


RATES = {**extrapolations(_ends), "irate": irate, "idelta": idelta, "resets": resets, "changes": changes}
