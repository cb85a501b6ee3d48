"""Whether the offered load of a run is raised all along, and its levels. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from loadwatch_backend.evidence.records.model import FloatArray

TO_SIGMA = 1.4826
"""Median absolute deviation to standard deviation of a normal distribution."""
SLOPE_POINTS = 120


def fill_gaps(values: FloatArray) -> FloatArray:
    """NaN replaced by the line between its neighbours; zeros where nothing is known."""
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        return np.zeros(len(values))
    return np.interp(np.arange(len(values)), known, values[known])


def running_median(values: FloatArray, width: int) -> FloatArray:
    """Median over the `width` (odd) values around each; needs values without NaN. Costs `width` times the length."""
    if width <= 1 or len(values) < 3:
        return values
    padded = np.pad(values, width // 2, mode="edge")
    return np.median(sliding_window_view(padded, width), axis=1)


def block_means(values: FloatArray, width: int) -> FloatArray:
    """Means of consecutive blocks; an incomplete last block is left out unless it is the only one."""
    count = len(values) // width
    if count == 0:
        return np.array([values.mean()]) if len(values) else np.empty(0)
    return values[: count * width].reshape(count, width).mean(axis=1)


def block_medians(values: FloatArray, most: int) -> FloatArray:
    """At most `most` medians of consecutive blocks of equal length."""
    width = max(-(-len(values) // most), 1)
    count = len(values) // width
    return np.median(values[: count * width].reshape(count, width), axis=1) if count else np.empty(0)


def spread(values: FloatArray) -> float:
    """Standard deviation, from the median absolute deviation: outliers do not widen it."""
    return float(np.median(np.abs(values - np.median(values)))) * TO_SIGMA if len(values) else 0.0


def relative_change(values: FloatArray) -> float:
    """How much the series grows from its first to its last value along its robust slope, relative to its median.

    Theil-Sen: the median of the slopes of all pairs, of at most 120 block medians (Sen, "Estimates of the regression
    coefficient based on Kendall's tau", JASA 1968).
    """
    points = block_medians(values, SLOPE_POINTS)
    count = len(points)
    if count < 3:
        return 0.0
    first, second = np.triu_indices(count, 1)
    slope = float(np.median((points[second] - points[first]) / (second - first)))
    middle = float(np.median(points))
    rise = slope * (count - 1)
    if middle > 0:
        return rise / middle
    return 0.0 if rise == 0 else float(np.copysign(np.inf, rise))


def rank_correlation(values: FloatArray) -> float:
    """Kendall's tau-b of at most 120 block medians with time, -1 to 1; 0 for a constant series."""
    concordance, untied, pairs, count = _concordance(values)
    return concordance / float(np.sqrt(untied * pairs)) if untied and count >= 3 else 0.0


def trend_score(values: FloatArray) -> float:
    """Mann and Kendall's z of at most 120 block medians: beyond 3 a trend in white noise is one in 400."""
    concordance, _, _, count = _concordance(values)
    if count < 3:
        return 0.0
    return concordance / float(np.sqrt(count * (count - 1) * (2 * count + 5) / 18))


def _concordance(values: FloatArray) -> tuple[float, float, int, int]:
    """Rising less falling pairs, pairs that are no ties, all pairs, and points."""
    points = block_medians(values, SLOPE_POINTS)
    count = len(points)
    first, second = np.triu_indices(count, 1)
    signs = np.sign(points[second] - points[first])
    return float(signs.sum()), float(np.abs(signs).sum()), len(signs), count


SHORTEST_RAMP = 10
LEAST_RISE = 1.5
"""Largest against first offered load."""
LEAST_TAU = 0.55
"""Three equal noisy levels have a tau of 0.67, two have 0.5."""
TOP = 0.9
TOP_SHARE = {True: 0.5, False: 0.35}
"""Most of the run that may be spent near the top, where the offered load is told, and where it is only inferred from
the requests sent: there a long plateau after a climb is a warm-up, not the last step."""
MOST_LEVELS = 30
SMALLEST_STEP = 0.01
PENALTY = 6.0
"""Times log(n) and the noise's variance, as in BIC; twice its factor, because noise grows with the level."""
FLAT_SHARE = 0.35
LINEAR_LEVELS = 15
SHORTEST_LEVEL = 3
WIDEST = 15
"""Seconds that the running median covers at most."""


class OfferedBy(StrEnum):
    """What the offered load is read from, the most telling first."""

    TARGET = "target"
    USERS = "users"
    REQUESTS = "requests"


@dataclass(frozen=True, slots=True)
class Offered:
    """Offered load in each second: requests per second, or users."""

    values: FloatArray
    by: OfferedBy


@dataclass(frozen=True, slots=True)
class Level:
    """Rows `first` up to, not including, `last`."""

    first: int
    last: int


def offered_load(requests: FloatArray, target: FloatArray | None, users: FloatArray | None) -> Offered:
    """The offered load from the best of what is known; NaN where a second is not known."""
    for values, by in ((target, OfferedBy.TARGET), (users, OfferedBy.USERS)):
        if values is not None and len(values) and float((~np.isnan(values)).mean()) > 0.8 and np.nanmax(values) > 0:
            return Offered(fill_gaps(values), by)
    return Offered(requests, OfferedBy.REQUESTS)


def rising_rows(offered: Offered) -> Level | None:
    """The rows in which the load is raised, with those at its top; None for a run that is no ramp."""
    count = len(offered.values)
    if count < SHORTEST_RAMP:
        return None
    values = running_median(offered.values, min(max(3, count // 50), WIDEST) | 1)
    top = float(np.quantile(values, 0.95))
    told = offered.by is not OfferedBy.REQUESTS
    if top <= 0 or float((values >= TOP * top).mean()) > TOP_SHARE[told]:
        return None
    rows = np.flatnonzero(values >= 0.95 * top)
    busy = np.flatnonzero(values > 0)
    first, last = int(busy[0]), int(rows[-1]) + 1
    rising = values[first:last]
    start = float(np.median(rising[: max(len(rising) // 10, 1)]))
    if last - first < max(SHORTEST_RAMP, 0.4 * count) or top < LEAST_RISE * start:
        return None
    return Level(first, last) if rank_correlation(rising) >= LEAST_TAU else None


def cut_levels(offered: Offered, rising: Level) -> list[Level]:
    """The levels of a staircase, or equal parts of a load that is raised evenly."""
    raw = offered.values[rising.first : rising.last]
    values = running_median(raw, 3)
    cuts = _segment(values, spread(np.diff(raw)) / np.sqrt(2))
    stairs = [Level(a, b) for a, b in pairwise(cuts) if b - a >= SHORTEST_LEVEL]
    if not _is_flat(values, stairs):
        count = max(min(LINEAR_LEVELS, len(values) // SHORTEST_LEVEL), 1)
        cuts = np.linspace(0, len(values), count + 1).astype(int).tolist()
        stairs = [Level(a, b) for a, b in pairwise(cuts)]
    return [Level(level.first + rising.first, level.last + rising.first) for level in stairs]


def _is_flat(values: FloatArray, levels: list[Level]) -> bool:
    """Whether the load rises between the levels rather than inside of them."""
    if len(levels) < 2:
        return False
    inside = 0.0
    for level in levels:
        part = values[level.first : level.last]
        change = relative_change(part)
        inside += abs(change) * float(np.median(part)) if np.isfinite(change) else float(np.ptp(part))
    return inside <= FLAT_SHARE * float(np.ptp(values))


def _segment(values: FloatArray, noise: float) -> list[int]:
    """Rows at which the mean changes, with both ends: binary segmentation, the largest gain first."""
    count = len(values)
    penalty = PENALTY * np.log(count) * max(noise, SMALLEST_STEP * float(values.max())) ** 2
    shortest = max(SHORTEST_LEVEL, count // 60)
    cuts = [0, count]
    while len(cuts) <= MOST_LEVELS:
        gain, place = max(
            (_best_cut(values, a, b, shortest) for a, b in pairwise(cuts)),
            key=lambda found: found[0],
        )
        if gain <= penalty:
            break
        cuts = sorted([*cuts, place])
    return cuts


def _best_cut(values: FloatArray, first: int, last: int, shortest: int) -> tuple[float, int]:
    """Fall of the sum of squared errors, and the row that brings it."""
    part = values[first:last]
    count = len(part)
    if count < 2 * shortest:
        return 0.0, first
    left = np.arange(shortest, count - shortest + 1)
    sums = np.cumsum(part - part.mean())[left - 1]
    gains = sums**2 * count / (left * (count - left))
    best = int(np.argmax(gains))
    return float(gains[best]), first + int(left[best])
