"""Samples of a selection, prepared for look-ups by time: all series and all steps with one binary search.

Positions are rows of the selection's columns. The samples up to an instant are found through a composite key,
`series index * span + (time - base)`, which rises over all rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from loadwatch_backend.series.promql.value import BoolArray, FloatArray, Grid, IntArray, Matrix
from loadwatch_backend.series.store.levels import MinuteColumns
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Labels, Selection

_FEW_SERIES = 16
"""Up to this many series, searching each one is faster than one search in composite keys."""
_MANY_TIMES = 100
"""From this many times on it is faster for any number of series: each fits the CPU cache."""


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Columns of n series; the rows of series i are `offsets[i]:offsets[i + 1]`."""

    labels: list[Labels]
    offsets: IntArray
    timestamps: IntArray
    values: FloatArray
    ended: BoolArray | None = None
    """Rows after which a stale marker stood, where there were any and they were taken out."""
    minutes: MinuteColumns | None = None
    """Where rows are minutes: what their samples were. Times are then their ends, values their last samples."""

    @cached_property
    def _base(self) -> int:
        return int(self.timestamps.min()) if len(self.timestamps) else 0

    @cached_property
    def _span(self) -> int:
        # One beyond the newest sample, so that a time after all of them still sorts before the next series.
        return int(self.timestamps.max()) - self._base + 2 if len(self.timestamps) else 2

    @cached_property
    def _keys(self) -> IntArray:
        counts = np.diff(self.offsets)
        series = np.repeat(np.arange(len(counts), dtype=np.int64) * self._span, counts)
        return series + (self.timestamps - self._base)

    def ends(self, times_ms: IntArray) -> IntArray:
        """Row after the last sample at or before each time, int64[series, times]."""
        if len(times_ms) == 1:
            return self._ends_at(int(times_ms[0]))
        if len(self.labels) <= _FEW_SERIES or len(times_ms) >= _MANY_TIMES:
            rows = np.empty((len(self.labels), len(times_ms)), dtype=np.int64)
            for row, (first, end) in zip(rows, pairwise(self.offsets.tolist()), strict=True):
                np.add(self.timestamps[first:end].searchsorted(times_ms, side="right"), first, out=row)
            return rows
        wanted = np.clip(times_ms - self._base, -1, self._span - 2)
        series = np.arange(len(self.labels), dtype=np.int64) * self._span
        return np.searchsorted(self._keys, series[:, None] + wanted[None, :], side="right")

    def _ends_at(self, time_ms: int) -> IntArray:
        """`ends` at one time, without keys where they are not worth their making: rules ask for one time only."""
        since = time_ms - self._base
        if since >= self._span - 2:
            return self.offsets[1:, None]
        if since < 0:
            return self.offsets[:-1, None]
        if len(self.labels) > _FEW_SERIES:
            series = np.arange(len(self.labels), dtype=np.int64) * self._span
            return self._keys.searchsorted(series + since, side="right")[:, None]
        bounds = self.offsets.tolist()
        ends = [
            first + int(self.timestamps[first:end].searchsorted(time_ms, side="right"))
            for first, end in pairwise(bounds)
        ]
        return np.array(ends, dtype=np.int64)[:, None]

    def rows_within(self, span_ms: int) -> IntArray:
        """For each row, the first row of its series that is at most `span_ms` older."""
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return np.maximum(np.searchsorted(self._keys, self._keys - span_ms, side="left"), starts)

    @cached_property
    def is_stale(self) -> BoolArray | None:
        """Which rows are stale markers; None when there are none."""
        if not np.isnan(self.values).any():
            return None
        marked = self.values.view(np.uint64) == np.uint64(STALE_NAN_BITS)
        return marked if marked.any() else None

    @cached_property
    def without_stale(self) -> "Samples":
        """The same samples without stale markers, as range selectors see them."""
        stale = self.is_stale
        if stale is None:
            return self
        followed = np.append(stale[1:], False)
        followed[self.offsets[1:][np.diff(self.offsets) > 0] - 1] = False
        return replace(self.keep(~stale), ended=followed[~stale])

    def keep(self, kept: BoolArray) -> "Samples":
        before = np.concatenate(([0], np.cumsum(kept)))
        return Samples(
            labels=self.labels, offsets=before[self.offsets], timestamps=self.timestamps[kept], values=self.values[kept]
        )


def _within(rows: IntArray, count: int) -> IntArray:
    # np.clip takes several times as long for few rows.
    return np.minimum(np.maximum(rows, 0), count - 1)


def prepare(selection: Selection) -> Samples:
    return Samples(
        labels=list(selection.labels),
        offsets=np.asarray(selection.offsets, dtype=np.int64),
        timestamps=np.asarray(selection.timestamps, dtype=np.int64),
        values=np.ascontiguousarray(selection.values, dtype=np.float64),
        minutes=selection.minutes,
    )


def newest_rows(samples: Samples, times: IntArray, lookback_ms: int) -> tuple[IntArray, BoolArray]:
    """Row of the sample that an instant selector sees at each time, and whether there is one; [series, times].

    The look-back is open on the left: a sample exactly `lookback_ms` old is gone. A stale marker ends a series.
    """
    rows = samples.ends(times) - 1
    present = rows >= samples.offsets[:-1, None]
    if not len(samples.timestamps):
        return np.zeros_like(rows), np.zeros_like(present)
    rows = np.maximum(rows, 0)
    present &= samples.timestamps[rows] > times[None, :] - lookback_ms
    stale = samples.is_stale
    if stale is not None:
        present &= ~stale[rows]
    return rows, present


def evaluate_selector(samples: Samples, times: IntArray, lookback_ms: int) -> Matrix:
    rows, present = newest_rows(samples, times, lookback_ms)
    if not len(samples.timestamps):
        return Matrix(labels=samples.labels, values=np.zeros(present.shape), present=present)
    return Matrix(labels=samples.labels, values=samples.values[rows], present=present)


@dataclass(frozen=True, kw_only=True)
class Windows:
    """The samples of each series in (time - range, time] for each step: rows `first[i, j]` up to `end[i, j]`."""

    samples: Samples
    times_ms: IntArray
    """End of each window (offset applied), int64[steps]."""
    step_times_ms: IntArray
    """Time of each step, int64[steps]."""
    range_ms: int | IntArray
    """Of all windows, or of each step, int64[steps]."""
    first: IntArray
    end: IntArray

    @cached_property
    def counts(self) -> IntArray:
        """Samples in each window, int64[series, steps]."""
        return self.end - self.first

    def at(self, rows: IntArray) -> FloatArray:
        """Values at rows; rows outside of the columns give what they may (callers mask them)."""
        return self.samples.values[_within(rows, len(self.samples.values))]

    def times_at(self, rows: IntArray) -> IntArray:
        return self.samples.timestamps[_within(rows, len(self.samples.timestamps))]


def cut_windows(samples: Samples, times: IntArray, grid: Grid, range_ms: int) -> Windows:
    """The windows that end at `times`, one for each step; open on the left; stale markers are left out."""
    samples = samples.without_stale
    end = samples.ends(times)
    shift, rest = divmod(range_ms, grid.step_ms)
    is_moving = grid.count > 1 and times[0] != times[-1]
    if rest == 0 and shift < grid.count and is_moving:
        # Where the range is a multiple of the step, most windows begin where an earlier one ends.
        first = np.concatenate((samples.ends(times[:shift] - range_ms), end[:, : grid.count - shift]), axis=1)
    else:
        first = samples.ends(times - range_ms)
    return Windows(
        samples=samples, times_ms=times, step_times_ms=grid.times_ms(), range_ms=range_ms, first=first, end=end
    )


def windows_between(samples: Samples, begins: IntArray, ends: IntArray, grid: Grid) -> Windows:
    """Windows of any length, (begin, end] of each step."""
    return Windows(
        samples=samples,
        times_ms=ends,
        step_times_ms=grid.times_ms(),
        range_ms=ends - begins,
        first=samples.ends(begins),
        end=samples.ends(ends),
    )


def samples_of(matrix: Matrix, grid: Grid) -> Samples:
    counts = matrix.present.sum(axis=1, dtype=np.int64)
    return Samples(
        labels=list(matrix.labels),
        offsets=np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts))),
        timestamps=np.broadcast_to(grid.times_ms(), matrix.present.shape)[matrix.present],
        values=np.ascontiguousarray(matrix.values[matrix.present], dtype=np.float64),
    )
