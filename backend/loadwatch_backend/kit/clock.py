"""The one place that asks what time it is."""

import os
import time
from collections.abc import Callable
from pathlib import Path

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
