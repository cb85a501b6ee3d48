"""When ticks are: whole multiples of the interval on the wall clock. Pure arithmetic in milliseconds."""

from dataclasses import dataclass


@dataclass(slots=True)
class Schedule:
    """The ticks of one collector.

    Late wake-ups and forward jumps of the clock give the newest tick only, so what was missed stays a gap; after a
    backward jump the ticks go on at the new time.
    """

    interval_ms: int
    next_ms: int

    def due(self, now_ms: int) -> int | None:
        """The tick to run at `now_ms`, or None; moves on to the next one."""
        if now_ms >= self.next_ms:
            tick = now_ms // self.interval_ms * self.interval_ms
            self.next_ms = tick + self.interval_ms
            return tick
        # Being set back by less than an interval must not run the same tick again.
        if self.next_ms - now_ms > 2 * self.interval_ms:
            self.next_ms = next_tick(now_ms, self.interval_ms)
        return None


def next_tick(now_ms: int, interval_ms: int) -> int:
    """The first whole multiple of the interval after `now_ms`."""
    return (now_ms // interval_ms + 1) * interval_ms
