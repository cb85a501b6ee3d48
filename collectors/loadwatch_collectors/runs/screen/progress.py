"""A progress bar on standard error for uploads and imports; nothing where that is no terminal."""

import os
import time

from loadwatch_collectors.runs.delivery import Report
from loadwatch_collectors.runs.screen.terminal import write_all

_BAR_WIDTH = 30
_EVERY_SECONDS = 0.1


def draw_bar(step: str, done: int, total: int) -> str:
    """`reading  [######........]  42% of 890.0 MB`."""
    share = min(done / total, 1.0) if total else 1.0
    filled = int(share * _BAR_WIDTH)
    size = f"{total / 1e6:.1f} MB" if total >= 1_000_000 else f"{total / 1e3:.1f} kB"
    return f"{step:7} [{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {share * 100:3.0f}% of {size}"


def make_reporter(*, show: bool) -> Report:
    """Draws each step on one line, a few times a second, and clears the line at the end of the second step."""
    if not show or not os.isatty(2):
        return lambda _step, _done, _total: None
    drawn = 0.0

    def report(step: str, done: int, total: int) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn >= _EVERY_SECONDS or done >= total:
            drawn = now
            write_all(2, f"\r\x1b[2K{draw_bar(step, done, total)}".encode())

    return report


def clear_bar() -> None:
    """Take the bar away."""
    if os.isatty(2):
        write_all(2, b"\r\x1b[2K")
