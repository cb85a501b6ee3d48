"""What a run with rising load held, and from where on it did not. Pure.

A level is held when at least 99 % of what was offered was answered well, and p95 neither is ten times what lower levels
had nor runs away within the level. The knee is the hinge of two lines through p95 over time, the load rising evenly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, IntArray, Seconds
from loadwatch_backend.runs.analysis.phases.levels import Level, Offered, OfferedBy, cut_levels
from loadwatch_backend.runs.analysis.pooled import pooled_bounds
from loadwatch_backend.runs.analysis.schemas import RampOut, RampStep

HELD_SHARE = 0.99
MOST_FAILURES = 0.01
EXPLODED = 10.0
RUNNING_AWAY = 2.0
RAISED = 3.0
KNEE_FAILURES = 0.02
KNEE_POINTS = 40
LEAST_POINTS = 6
P95 = 2
"""Column of `Seconds.latency`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A part of the rising load."""

    level: Level
    offered: float
    ok: float
    failed: float
    p95: float
    """NaN where nothing tells."""


def describe_ramp(seconds: Seconds, offered: Offered, rising: Level, start_seconds: float) -> RampOut:
    """Steps, sustained rate and knee.

    Args:
        seconds: of the run.
        offered: as long as `seconds`.
        rising: the rows in which the load rises.
        start_seconds: of the first row, since the run's start.
    """
    points = [_point(seconds, offered, level) for level in cut_levels(offered, rising)]
    held = _held(seconds, points)
    steps = [
        RampStep(
            from_seconds=max(start_seconds + point.level.first, 0.0),
            to_seconds=max(start_seconds + point.level.last, 0.0),
            offered_rate=point.offered,
            ok_rate=point.ok,
            p95_seconds=None if np.isnan(point.p95) else point.p95,
            failure_ratio=point.failed,
            held=good,
        )
        for point, good in zip(points, held, strict=True)
    ]
    sustained = max((point.ok for point, good in zip(points, held, strict=True) if good), default=None)
    knee = find_knee(seconds, offered, rising)
    return RampOut(
        sustained_rate=sustained,
        knee_rate=None if knee is None else knee.offered,
        knee_seconds=None if knee is None else max(start_seconds + knee.level.last, 0.0),
        steps=steps,
    )


def find_knee(seconds: Seconds, offered: Offered, rising: Level) -> Point | None:
    """The last part of the ramp before failures or latency rise sharply; None where neither does."""
    count = min(KNEE_POINTS, (rising.last - rising.first) // 2)
    cuts = np.linspace(rising.first, rising.last, count + 1).astype(int).tolist()
    points = [_point(seconds, offered, Level(a, b)) for a, b in pairwise(cuts) if b > a]
    found = [
        place
        for place in (_failing_from([point.failed for point in points]), hinge([point.p95 for point in points]))
        if place is not None
    ]
    return points[min(found)] if found else None


def hinge(values: Sequence[float]) -> int | None:
    """Index of the last value before a series turns sharply upward.

    Of all pairs of lines that meet at a value, the pair with the least squared error; it counts when the second line
    rises more steeply and at the end doubles what the first one would give. What comes after the first value beyond
    half of the largest tells nothing of the turn and is left out: latencies stop rising at the client's timeout.
    """
    known = np.array(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if len(known) < len(values) or len(known) < LEAST_POINTS:
        return None
    beyond = int(np.argmax(known > known.max() / 2)) + 1
    used = known[: max(beyond, LEAST_POINTS)]
    times = np.arange(len(used), dtype=np.float64)
    best: tuple[float, int, float, float] | None = None
    for place in range(1, len(used) - 1):
        terms = np.column_stack([np.ones(len(used)), times, np.maximum(times - place, 0)])
        weights, _, _, _ = np.linalg.lstsq(terms, used, rcond=None)
        error = float(((terms @ weights - used) ** 2).sum())
        if best is None or error < best[0]:
            best = (error, place, float(weights[0] + weights[1] * times[-1]), float(weights[2]))
    if best is None:
        return None
    _, place, straight, turn = best
    return place if turn > 0 and float(used[-1]) > 2 * max(straight, float(np.median(used[: place + 1]))) else None


def _failing_from(failed: Sequence[float]) -> int | None:
    """Index of the last part before failures that stay."""
    shares = np.array(failed)
    for place in np.flatnonzero(shares > KNEE_FAILURES).tolist():
        if float(shares[place:].mean()) > KNEE_FAILURES:
            return max(place - 1, 0)
    return None


def _point(seconds: Seconds, offered: Offered, level: Level) -> Point:
    rows = slice(level.first, level.last)
    length = level.last - level.first
    requests = seconds.requests[rows]
    total = int(requests.sum())
    ok = int(seconds.outcomes[rows, OUTCOME_CODES[Outcome.OK]].sum())
    told = float(offered.values[rows].mean()) if offered.by is OfferedBy.TARGET else total / length
    return Point(
        level=level,
        offered=told,
        ok=ok / length,
        failed=(total - ok) / total if total else 0.0,
        p95=_p95(requests, None if seconds.latency is None else seconds.latency[rows]),
    )


def _p95(requests: IntArray, latency: FloatArray | None) -> float:
    if latency is None:
        return float("nan")
    bounds = pooled_bounds(requests, latency, 0.95)
    return float("nan") if bounds is None else bounds.middle


def _held(seconds: Seconds, points: Sequence[Point]) -> list[bool]:
    """For each level whether it was held."""
    held: list[bool] = []
    lowest = float("inf")
    for point in points:
        lowest = min(lowest, point.p95) if not np.isnan(point.p95) else lowest
        answered = point.ok > 0 and point.ok >= HELD_SHARE * point.offered and point.failed <= MOST_FAILURES
        held.append(answered and not _explodes(seconds, point, lowest))
    return held


def _explodes(seconds: Seconds, point: Point, lowest: float) -> bool:
    if seconds.latency is None or np.isnan(point.p95):
        return False
    if point.p95 > EXPLODED * lowest:
        return True
    middle = (point.level.first + point.level.last) // 2
    halves = [seconds.latency[point.level.first : middle, P95], seconds.latency[middle : point.level.last, P95]]
    if any(np.isnan(half).all() for half in halves):
        return False
    early, late = (float(np.nanmedian(half)) for half in halves)
    return late > RUNNING_AWAY * early and point.p95 > RAISED * lowest
