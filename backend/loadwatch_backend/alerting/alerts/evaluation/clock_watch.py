"""Tells when the wall clock was set: against the monotonic clock, which never is."""

from collections.abc import Callable

from loadwatch_backend.core.clock import Clock

SLEW_MS = 1_000
"""Differences up to this are the clock being steered, as by NTP, and no jump."""


class ClockWatch:
    """The time of evaluations: the wall clock, but for jumps, which are told apart first. For one thread."""

    def __init__(self, clock: Clock, monotonic: Callable[[], float]) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._offset_ms = clock() - self._monotonic_ms()

    def look(self) -> tuple[int, int]:
        """The time now in ms, and by how much the clock was set since the last look (0 mostly)."""
        now_ms = self._clock()
        offset_ms = now_ms - self._monotonic_ms()
        jump_ms, self._offset_ms = offset_ms - self._offset_ms, offset_ms
        return now_ms, jump_ms if abs(jump_ms) > SLEW_MS else 0

    def _monotonic_ms(self) -> int:
        return round(self._monotonic() * 1_000)
