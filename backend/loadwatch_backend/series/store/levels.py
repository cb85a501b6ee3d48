"""The levels at which a store keeps samples: all of them for a while, and what each minute was for longer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

MINUTE_MS = 60_000
Span = tuple[int, int]
"""First and last time, both included."""


def joined_spans(spans: Iterable[Span]) -> list[Span]:
    """The same time without overlaps, in order; spans that touch are one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


MINUTE_SAMPLES = 5
"""Samples that take as much memory as a minute."""


class Level(Enum):
    RAW = auto()
    LAST = auto()
    """The last sample of each minute, and stale markers that stand after it; perhaps more of the samples."""
    ENDS = auto()
    """As MINUTES, but sums and extremes, slow to read and of no use to a rate, are NaN."""
    MINUTES = auto()
    """What all samples of each minute were: `Selection.minutes`."""

    @property
    def is_of_minutes(self) -> bool:
        return self in (Level.ENDS, Level.MINUTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinuteColumns:
    """What the samples in (end - 60 s, end] were, stale markers aside; a minute may have two rows, one after another.

    Beside a selection's `timestamps`, which are the ends, and `values`, the last samples.
    """

    counts: npt.NDArray[np.int64]
    last_ms: npt.NDArray[np.int64]
    first_ms: npt.NDArray[np.int64]
    first: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]
    least: npt.NDArray[np.float64]
    """NaN only where all are."""
    greatest: npt.NDArray[np.float64]
    resets: npt.NDArray[np.float64]
    """Sum of all samples followed by a lower one in the minute: the increase is last - first + resets."""


@runtime_checkable
class LevelledReader(Protocol):
    """A store whose `select` takes a level after `reading`."""

    def whole_spans(self) -> Sequence[Span]:
        """First and last times between which no sample was deleted for its age, in order; the last one is open."""
        ...
