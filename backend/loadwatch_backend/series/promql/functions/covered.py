"""The rate of a counter where its samples cover the time, for charts: no edge of a load is spread over a window.

The slope of a gauge (`deriv`) likewise: one that falls was not reset.

Prometheus' `rate` divides by its whole window, from samples before the instant alone. So a load that is even is drawn
as a triangle where the window is as long as the run, and goes on after its end. Here a counter is the line through its
samples, and a rate the slope of that line over the part of the window that the samples cover. A window reaches neither
over a gap nor over the edge of a longer standstill. Not a function of PromQL: only trees that the server makes have it.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from loadwatch_backend.series.promql.labels import drop_names
from loadwatch_backend.series.promql.parsing.expression import Call, Expression, Number, RangeSelector
from loadwatch_backend.series.promql.samples import Samples
from loadwatch_backend.series.promql.value import BoolArray, FloatArray, IntArray, Matrix

if TYPE_CHECKING:
    from loadwatch_backend.series.promql.evaluate import Evaluation

NAME = "covered_rate"
LEAST_ROWS = 4
"""Of a stretch of samples whose first and last interval can be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """How a rate is read from samples; all in ms.

    Samples at most `bridge_ms` apart are joined. A rate is the mean over `window_ms` up to its instant. Edges of a
    standstill of `still_ms` are not averaged over; 0 where windows are so long that this would lose what lies within.
    The newest rate counts for `hold_ms` after the last sample.
    """

    window_ms: int
    bridge_ms: int
    still_ms: int = 0
    hold_ms: int = 0

    @property
    def behind_ms(self) -> int:
        return max(self.window_ms, self.hold_ms) + self.window_ms + self.still_ms + self.bridge_ms

    @property
    def ahead_ms(self) -> int:
        """How far after an instant samples are needed: until then, a value may still change."""
        return self.still_ms + self.bridge_ms


def with_cover(selector: RangeSelector, cover: Cover, *, falls: bool) -> Call:
    """The tree of the rate of a selector, whose own range counts for nothing; what `falls` is not reset by it."""
    inner = selector.selector
    wide = RangeSelector(
        selector=replace(inner, offset_ms=inner.offset_ms - cover.ahead_ms), range_ms=cover.behind_ms + cover.ahead_ms
    )
    numbers = (cover.window_ms, cover.bridge_ms, cover.still_ms, cover.hold_ms, falls)
    return Call(function=NAME, arguments=(wide, *(Number(number) for number in numbers)))


def read_cover(call: Call) -> tuple[str, RangeSelector] | None:
    """The usual function of PromQL with its range, which come nearest to the rate of a selector; None for others."""
    if call.function != NAME:
        return None
    wide, *numbers = call.arguments
    assert isinstance(wide, RangeSelector)
    window, bridge, still, hold, falls = map(_milliseconds, numbers)
    cover = Cover(window_ms=window, bridge_ms=bridge, still_ms=still, hold_ms=hold)
    inner = replace(wide.selector, offset_ms=wide.selector.offset_ms + cover.ahead_ms)
    return "deriv" if falls else "rate", RangeSelector(selector=inner, range_ms=max(window, bridge))


def covered_rate(evaluator: "Evaluation", call: Call) -> Matrix:
    """Increase per second."""
    selector, *numbers = call.arguments
    assert isinstance(selector, RangeSelector)
    window, bridge, still, hold, falls = map(_milliseconds, numbers)
    cover = Cover(window_ms=window, bridge_ms=bridge, still_ms=still, hold_ms=hold)
    windows = evaluator.windows(selector, call.function)
    samples = windows.samples if falls else _without_edges(windows.samples, cover.bridge_ms)
    values, present = _slopes(samples, windows.times_ms - cover.ahead_ms, cover, falls=bool(falls))
    return drop_names(Matrix(labels=samples.labels, values=values, present=present), strict=True)


def _milliseconds(expression: Expression) -> int:
    assert isinstance(expression, Number)
    return round(expression.value)


def _linked(samples: Samples, bridge_ms: int) -> BoolArray:
    linked = np.diff(samples.timestamps, prepend=0) <= bridge_ms
    linked[samples.offsets[:-1][np.diff(samples.offsets) > 0]] = False
    return linked


def _without_edges(samples: Samples, bridge_ms: int) -> Samples:
    """Without the sample with which a counter began at zero, and the last one before a sender said that it has ended.

    What is counted by the second began and ended at some time within its first and its last one.
    """
    count = len(samples.timestamps)
    starts = np.flatnonzero(~_linked(samples, bridge_ms))
    ends = np.append(starts[1:], count) - 1
    long = ends - starts + 1 >= LEAST_ROWS
    first, last = starts[long], ends[long]
    dropped = np.zeros(count, dtype=np.bool_)
    dropped[first[samples.values[first] == 0]] = True
    if samples.ended is not None:
        dropped[last[samples.ended[last]]] = True
    return samples.keep(~dropped) if dropped.any() else samples


def _slopes(samples: Samples, times: IntArray, cover: Cover, *, falls: bool) -> tuple[FloatArray, BoolArray]:
    count = len(samples.timestamps)
    shape = (len(samples.labels), len(times))
    if count == 0:
        return np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    linked = _linked(samples, cover.bridge_ms)
    steps = np.diff(samples.values, prepend=0.0)
    steps = np.where(linked, steps if falls else np.where(steps < 0, samples.values, steps), 0.0)
    line = _Line(times=samples.timestamps, totals=np.cumsum(steps), steps=steps)
    cuts = ~linked
    if cover.still_ms:
        cuts = cuts | _standstill_edges(samples.timestamps, linked, steps != 0, cover.still_ms)
    newest_cut = np.maximum.accumulate(np.where(cuts, np.arange(count), 0))

    after = samples.ends(times - 1)
    before = after > samples.offsets[:-1, None]
    upper, lower = np.minimum(after, count - 1), np.maximum(after - 1, 0)
    inside = before & (after < samples.offsets[1:, None]) & linked[upper]
    # After the last sample: the rate up to that one, for as long as it counts.
    held = before & ~inside & linked[lower] & (line.times[lower] > times[None, :] - cover.hold_ms)
    end, row = np.where(inside, times[None, :], line.times[lower]), np.where(inside, upper, lower)
    cut = newest_cut[np.maximum(row - 1, 0)]
    first = np.minimum(samples.ends(times - cover.window_ms - 1), count - 1)
    first = np.where(inside, first, np.minimum(samples.rows_within(cover.window_ms)[lower], lower - 1))
    earliest = np.where(inside, times[None, :] - cover.window_ms, line.times[first])
    reaches = line.times[cut] < earliest
    begin, begin_row = np.where(reaches, earliest, line.times[cut]), np.where(reaches, first, cut)
    rise = line.at(end, row) - line.at(begin, begin_row)
    present = (inside | held) & (end > begin)
    return np.where(present, rise / np.where(present, (end - begin) / 1_000, 1.0), 0.0), present


class _Line(NamedTuple):
    """Counters without their resets, straight between two samples."""

    times: IntArray
    totals: FloatArray
    steps: FloatArray

    def at(self, times: IntArray, rows: IntArray) -> FloatArray:
        """Totals at times; `rows` are the first ones at or after each."""
        missing = self.times[rows] - times
        length = np.maximum(self.times[rows] - self.times[np.maximum(rows - 1, 0)], 1)
        return self.totals[rows] - np.where(missing > 0, self.steps[rows] * missing / length, 0.0)


def _standstill_edges(times: IntArray, linked: BoolArray, moving: BoolArray, still_ms: int) -> BoolArray:
    """Rows at which a counter begins to move after a standstill, or stops for one; and those beside them.

    An interval in which the load began or ended is neither of both: it stands alone.
    """
    count = len(times)
    rows = np.arange(count)
    edges = np.zeros(count, dtype=np.bool_)
    newest = np.maximum.accumulate(np.where(moving | ~linked, rows, 0))
    moved = np.flatnonzero(moving)
    before = newest[moved - 1]
    onset = moved[times[moved - 1] - times[before] >= still_ms]
    edges[onset], edges[onset - 1] = True, True
    # The last row of each standstill: before one that moves again, or before the samples end.
    last = np.concatenate([onset - 1, np.append(np.flatnonzero(~linked)[1:], count) - 1])
    stopped = newest[last]
    stopped = stopped[moving[stopped] & (times[last] - times[stopped] >= still_ms)]
    edges[stopped], edges[stopped - 1] = True, True
    return edges
