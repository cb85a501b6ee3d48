"""Whether the use of a resource came near its limit; what did not is neither better nor worse for more. Pure."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from loadwatch_backend.runs.analysis.schemas import ResourceReached
from loadwatch_backend.signals.model import NEAR, Orientation, Signal, Unit

FloatArray = npt.NDArray[np.float64]

UNLIMITED = frozenset({"process_cpu", "process_threads", "goroutines", "host_load"})
"""Uses whose limit no series tells: all cores of a process, threads. So it is with every use in bytes."""


class Nearness(StrEnum):
    """How near a run came to the limit of what a signal is the use of."""

    NEAR = "near"
    FAR = "far"
    UNKNOWN = "unknown"
    """Nothing told the limit."""


def nearness(signal: Signal, values: FloatArray, reached: Sequence[ResourceReached]) -> Nearness | None:
    """Of a signal over a run's steady window; None of one that is no use of a resource.

    Args:
        signal: what it is; a ratio of which more is worse has its limit at 1.
        values: over the window.
        reached: how near the run came to each limit.
    """
    if signal.resource:
        shares = [one for one in reached if one.resource == signal.resource]
        if not shares:
            return Nearness.UNKNOWN
        return Nearness.NEAR if any(one.ratio_max >= one.near for one in shares) else Nearness.FAR
    if signal.orientation is not Orientation.MORE_IS_WORSE:
        return None
    if signal.id in UNLIMITED or signal.unit is Unit.BYTES:
        return Nearness.UNKNOWN
    if signal.unit is Unit.RATIO:
        return Nearness.NEAR if len(values) and float(values.max()) >= NEAR else Nearness.FAR
    return None
