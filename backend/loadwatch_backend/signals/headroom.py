"""How close a resource is to its limit, and when it will be there. Pure."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from loadwatch_backend.signals.schemas import State

FloatArray = npt.NDArray[np.float64]

NEAR = 0.8
EXHAUSTED = 0.995
"""Some limits are never quite reached: the kernel keeps a little memory back, and CPU time is measured by ticks."""
FARTHEST_SECONDS = 86_400.0
LEAST_POINTS = 3

Labels = Mapping[str, str]


def join_limits(used: Sequence[Labels], limits: Sequence[Labels]) -> list[int | None]:
    """For each label set of `used` the index of the limit that agrees on every label that both have.

    Of several, the one that shares most labels; the metric's name is no label here.
    """
    joined: list[int | None] = []
    for labels in used:
        best, most = None, -1
        for index, limit in enumerate(limits):
            shared = (labels.keys() & limit.keys()) - {"__name__"}
            if len(shared) > most and all(labels[name] == limit[name] for name in shared):
                best, most = index, len(shared)
        joined.append(best)
    return joined


def least_squares_slope(values: FloatArray, step_seconds: float) -> float | None:
    """Slope per second of the line through the values with the least squared error; NaN is no value."""
    present = ~np.isnan(values)
    if int(present.sum()) < LEAST_POINTS:
        return None
    times = np.flatnonzero(present) * step_seconds
    times = times - times.mean()
    spread = float((times**2).sum())
    return float((times * values[present]).sum() / spread)


def exhaustion_seconds(ratios: FloatArray, step_seconds: float) -> float | None:
    """Seconds until used / limit is 1 at the present slope; None when it falls, or beyond a day.

    `ratios` ends with the present value.
    """
    present = float(ratios[-1])
    if present >= 1:
        return 0.0
    slope = least_squares_slope(ratios, step_seconds)
    if slope is None or slope <= 0:
        return None
    seconds = (1 - present) / slope
    return seconds if seconds <= FARTHEST_SECONDS else None


def state_of(ratio: float) -> State:
    """In words."""
    if ratio >= EXHAUSTED:
        return State.EXHAUSTED
    return State.NEAR if ratio >= NEAR else State.OK
