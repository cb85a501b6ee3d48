"""Spans of samples that belong to runs. Light: the process that checks an archive imports it, and is to start fast."""

from collections.abc import Iterable

MARGIN_MS = 5 * 60_000
"""The window of a run includes what came just before and after it, which explains it."""

LONGEST_RUN_MS = 31 * 86_400_000
LONGEST_RUN_TEXT = "a run lasts at most 31 days; times are milliseconds since the epoch, not seconds"

Window = tuple[int, int]


def window_of(started_ms: int, ended_ms: int) -> Window:
    """The span of samples that belongs to a run; of a longer one than there may be, the end."""
    return max(started_ms, ended_ms - LONGEST_RUN_MS, MARGIN_MS) - MARGIN_MS, ended_ms + MARGIN_MS


def merge_windows(windows: Iterable[Window]) -> list[Window]:
    """The same spans in rising order, those that touch as one."""
    merged: list[Window] = []
    for start, end in sorted(windows):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
