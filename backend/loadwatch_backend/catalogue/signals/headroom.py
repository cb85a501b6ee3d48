"""How close a resource is to its limit, and when it will be there. Pure."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from loadwatch_backend.catalogue.signals.interval import WINDOW
from loadwatch_backend.catalogue.signals.model import LEAST_FULL_MS, LEAST_SAMPLES, NEAR, Resource
from loadwatch_backend.catalogue.signals.schemas import State

FloatArray = npt.NDArray[np.float64]

EXHAUSTED = 0.995
"""Some limits are never quite reached: the kernel keeps a little memory back, and CPU time is measured by ticks."""
FARTHEST_SECONDS = 3_600.0
"""A slope of minutes tells nothing about hours."""
LEAST_USED = 0.5
LEAST_SLOPE_SECONDS = 30.0
LEAST_POINTS = 3
FULL = 0.98
"""Used share from which a limit counts as reached, where it stays so."""

BoolArray = npt.NDArray[np.bool_]
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


def within_limit(resource: Resource, used: FloatArray, limit: FloatArray) -> FloatArray:
    """What is used, where it is a rate and there can be no more of it than its limit.

    Both the counter and the time it is divided by are read with an error: a host of two cores did not use 2.12 of them.
    """
    return np.where(limit > 0, np.minimum(used, limit), used) if WINDOW in resource.used else used


def ratios_of(resource: Resource, used: FloatArray, limit: FloatArray) -> FloatArray:
    """The used share of each limit, NaN where there is no limit or nothing is known."""
    used = within_limit(resource, used, limit)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(limit > 0, used / limit, np.nan)
    return np.where(np.isfinite(ratios), ratios, np.nan)


def least_full_ms(interval_ms: int) -> int:
    """How long something of which a sample comes each `interval_ms` must be full for its limit to count as reached."""
    return max(LEAST_FULL_MS, LEAST_SAMPLES * interval_ms)


def full_spans(full: BoolArray, least: int) -> list[tuple[int, int]]:
    """First and last instant of each `least` instants on end, or more, that are full."""
    edges = np.diff(np.concatenate([[False], full, [False]]).astype(np.int8))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    long = ends - starts >= least
    return list(zip(starts[long].tolist(), (ends[long] - 1).tolist(), strict=True))


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
    """Seconds until used / limit is 1 at the present slope; None when it falls, or beyond an hour.

    None, too, where less than half is used, or less than half a minute known: that is no tendency. `ratios` ends with
    the present value.
    """
    present = float(ratios[-1])
    if present >= 1:
        return 0.0
    known = np.flatnonzero(~np.isnan(ratios))
    if not present >= LEAST_USED or (known[-1] - known[0]) * step_seconds < LEAST_SLOPE_SECONDS:
        return None
    slope = least_squares_slope(ratios, step_seconds)
    if slope is None or slope <= 0:
        return None
    seconds = (1 - present) / slope
    return seconds if seconds <= FARTHEST_SECONDS else None


def state_of(ratio: float, near: float = NEAR) -> State:
    if ratio >= EXHAUSTED:
        return State.EXHAUSTED
    return State.NEAR if ratio >= near else State.OK
