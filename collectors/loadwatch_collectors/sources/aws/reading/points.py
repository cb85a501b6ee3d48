"""What CloudWatch has given before, so that only new and revised points are sent. Pure.

A point of CloudWatch covers [T, T + period); its sample lies at T + period, so that it means "over the last period"
like every other sample here.
"""

import math
from array import array
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from loadwatch_collectors.sources.aws.reading.windows import Window

_NAN = math.nan


class Point(NamedTuple):
    """A value and the time of its sample, the end of its period."""

    time_ms: int
    value: float


class History:
    """The values of one series over the window that was read last; NaN where CloudWatch had none."""

    __slots__ = ("_start_ms", "_values")

    def __init__(self) -> None:
        self._start_ms = 0
        self._values = array("d")

    def merge(self, window: Window, fresh: Mapping[int, float]) -> list[Point]:
        """Take what a window gave, by beginning of period; what is new or differs, in order of time.

        A point that was there before and is not in this answer stands: CloudWatch takes nothing back.
        """
        period = window.period_ms
        values = array("d", [_NAN]) * window.points
        offset = (window.start_ms - self._start_ms) // period
        for index in range(max(0, -offset), min(window.points, len(self._values) - offset)):
            values[index] = self._values[index + offset]
        changed: list[Point] = []
        for time_ms in sorted(fresh):
            index = (time_ms - window.start_ms) // period
            value = fresh[time_ms]
            if 0 <= index < window.points and value == value and values[index] != value:
                values[index] = value
                changed.append(Point(window.start_ms + (index + 1) * period, value))
        self._start_ms, self._values = window.start_ms, values
        return changed

    def holes(self, window: Window, fresh: Mapping[int, float], *, first_ms: int, last_ms: int) -> dict[int, float]:
        """Zeros for the periods that lie in [first_ms, last_ms) and have no value, in this answer or before."""
        period = window.period_ms
        begin = max(window.start_ms, -(-first_ms // period) * period)
        end = min(window.end_ms, last_ms // period * period)
        return {
            time_ms: 0.0
            for time_ms in range(begin, end, period)
            if time_ms not in fresh and math.isnan(self._known(time_ms, period))
        }

    def span(self, period_ms: int) -> "Span | None":
        """From the oldest known point's beginning to the newest one's end; None when there is none."""
        known = [index for index, value in enumerate(self._values) if value == value]
        if not known:
            return None
        return Span(self._start_ms + known[0] * period_ms, self._start_ms + (known[-1] + 1) * period_ms)

    def _known(self, time_ms: int, period_ms: int) -> float:
        index = (time_ms - self._start_ms) // period_ms
        return self._values[index] if 0 <= index < len(self._values) else _NAN


class Span(NamedTuple):
    """The time over which something was delivered: from the oldest point's beginning to the newest one's end."""

    first_ms: int
    last_ms: int


def join_spans(spans: Iterable[Span | None]) -> Span | None:
    """From the first beginning to the last end; None when there is no span at all."""
    known = [span for span in spans if span is not None]
    if not known:
        return None
    return Span(min(span.first_ms for span in known), max(span.last_ms for span in known))
