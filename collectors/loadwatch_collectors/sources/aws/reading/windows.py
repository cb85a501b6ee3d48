"""Which time to ask CloudWatch for. Pure arithmetic in milliseconds."""

from typing import NamedTuple

CATCH_UP_MS = 3 * 3600 * 1000
"""How far back a gap of ours is filled. Points of less than a minute are kept for three hours."""


class Window(NamedTuple):
    """From `start_ms` (inclusive) to `end_ms` (exclusive), both multiples of `period_ms`."""

    start_ms: int
    end_ms: int
    period_ms: int

    @property
    def points(self) -> int:
        """How many points it can hold."""
        return (self.end_ms - self.start_ms) // self.period_ms


def align_down(time_ms: int, period_ms: int) -> int:
    """The last multiple of the period at or before a time; unaligned windows return one point twice."""
    return time_ms // period_ms * period_ms


def make_window(now_ms: int, *, period_ms: int, delay_ms: int, reread_ms: int, known_to_ms: int | None) -> Window:
    """The window to read at `now_ms`: everything since `known_to_ms`, and `reread_ms` before that.

    `end = align_down(now - delay, period)`. Up to `known_to_ms` everything was read whole and had been delivered by
    then; points shortly before it may have been late or may have been revised since. After an outage of ours the window
    reaches back to where reading stopped, after one of CloudWatch's to where delivery did, at most `CATCH_UP_MS`.
    """
    end = align_down(now_ms - delay_ms, period_ms)
    start = reread_from(end if known_to_ms is None else min(known_to_ms, end), period_ms, reread_ms)
    earliest = align_down(end - max(CATCH_UP_MS, reread_ms), period_ms)
    return Window(max(start, earliest), end, period_ms)


def reread_from(known_to_ms: int, period_ms: int, reread_ms: int) -> int:
    """Where a window begins; what lies before is not asked for again."""
    return align_down(known_to_ms - max(reread_ms, period_ms), period_ms)


def is_due(now_ms: int, *, period_ms: int, delay_ms: int, read_to_ms: int | None, every: int = 1) -> bool:
    """Whether `every` new periods have ended since the last read.

    What was never read is due. With `every` above one (the budget's factor) all metrics of one factor are due
    together, so that they share requests.
    """
    if read_to_ms is None:
        return True
    step = period_ms * max(every, 1)
    return align_down(now_ms - delay_ms, step) > align_down(read_to_ms, step)
