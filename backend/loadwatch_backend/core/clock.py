"""The one place that asks what time it is."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import structlog

logger = structlog.get_logger(__name__)

Clock = Callable[[], int]
"""Returns the time in milliseconds since the epoch."""


def system_clock() -> int:
    """The wall clock in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def process_clock() -> Clock:
    """The wall clock of a server's process.

    Tests set it, as an administrator sets a machine's: `LOADWATCH_CLOCK_OFFSET_FILE` names a file with milliseconds to
    add, which is read each time. Nothing else reads that variable.
    """
    offset_file = os.environ.get("LOADWATCH_CLOCK_OFFSET_FILE")
    if offset_file is None:
        return system_clock
    path = Path(offset_file)
    return lambda: system_clock() + int(path.read_text("ascii") or 0)


JUMP_MS = 5 * 60_000
SETTLE_SECONDS = 15 * 60.0


class SteadyClock:
    """The wall clock, but a jump of more than five minutes is believed only once it has lasted for 15 minutes.

    Until then time goes on as before, by the monotonic clock. At a start a jump is what lies between the newest sample
    and now: the server may have been stopped for so long, or its clock may be wrong. Safe to use from any thread.
    """

    def __init__(self, clock: Clock, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.wall = clock
        self.monotonic = monotonic
        self._lock = threading.Lock()
        self._offset_ms = clock() - round(monotonic() * 1_000)
        self._jumped: tuple[int, float] | None = None
        self.doubted = False
        """The clock has jumped, and no sender has confirmed the new time yet."""

    def begin(self, newest_ms: int) -> None:
        """Go on from the time of the newest sample that there is at the start."""
        self._offset_ms = newest_ms - round(self.monotonic() * 1_000)
        self()

    def __call__(self) -> int:
        with self._lock:
            wall_ms, now = self.wall(), self.monotonic()
            offset_ms = wall_ms - round(now * 1_000)
            if abs(offset_ms - self._offset_ms) <= JUMP_MS:
                self._offset_ms, self._jumped = offset_ms, None
            elif self._jumped is None or abs(offset_ms - self._jumped[0]) > JUMP_MS:
                self._jumped, self.doubted = (offset_ms, now), True
                logger.warning(
                    "the clock has jumped: nothing is deleted for its age before the new time has lasted",
                    seconds=round((offset_ms - self._offset_ms) / 1_000),
                    settles_after=SETTLE_SECONDS,
                )
            elif now - self._jumped[1] >= SETTLE_SECONDS:
                self._offset_ms, self._jumped = offset_ms, None
                logger.warning("the new time is believed: it has lasted")
            return round(now * 1_000) + self._offset_ms

    @property
    def jump_ms(self) -> int:
        believed_ms = self()
        return 0 if self._jumped is None else self.wall() - believed_ms

    def span(self) -> tuple[int, int]:
        believed_ms, wall_ms = self(), self.wall()
        return min(believed_ms, wall_ms), max(believed_ms, wall_ms)
