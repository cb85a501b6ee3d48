"""The one place that asks what time it is."""

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Returns the time in milliseconds since the epoch."""


def system_clock() -> int:
    """The wall clock in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
