"""How the load went: levels, ramp, and the steady window.

1. The edges in which the rate is below 80 % of the plateau are cut off.
2. MSER-5 on the rate and on p95 says how much at the start differs from the rest (White, "An effective truncation
   heuristic for bias reduction in simulation output", SIMULATION 1997); a second before that stays if it and those
   after it already are where the rest is, so that a spike cuts nothing off.
3. What is left must not drift (robust slope); otherwise there is no steady part.

A level is held when at least 99 % of what was offered was answered well, and p95 neither is ten times what lower levels
had nor runs away within the level. The knee is the hinge of two lines through p95 over time, the load rising evenly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from loadwatch_formats.outcomes import Outcome
from numpy.lib.stride_tricks import sliding_window_view

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, IntArray, Seconds
from loadwatch_backend.runs.analysis.load import SECOND_MS, Load, Span, pooled_bounds
from loadwatch_backend.runs.analysis.own_figures import Subject
from loadwatch_backend.runs.analysis.schemas import RampOut, RampStep, SteadyWindow, WindowSource
from loadwatch_backend.runs.fields import Window

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
RISING_TAU = 0.55
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


class Offered(NamedTuple):
    """Offered load in each second: requests per second, or users."""

    values: FloatArray
    by: OfferedBy


class Level(NamedTuple):
    """Rows `first` up to, not including, `last`."""

    first: int
    last: int


def offered_load(requests: FloatArray, target: FloatArray | None, users: FloatArray | None) -> Offered:
    """The target, else the users, where over 80 % is known, with gaps interpolated; else the requests."""
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
    return Level(first, last) if rank_correlation(rising) >= RISING_TAU else None


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
        gain, place = max((_best_cut(values, a, b, shortest) for a, b in pairwise(cuts)), key=lambda found: found[0])
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


SHORTEST_RUN = 10
"""Seconds; below it nothing can be told from chance."""
SHORTEST_WINDOW = 5
LEAST_RATE = 1.0
"""Requests a second, on average; of fewer, those that an edge cuts off may be the ones that tell."""
LONGEST_GAP, LONGEST_GAP_SHARE = 10, 0.1
"""Longest gap without requests in the steady part: this many seconds, or this share if longer."""
LEAST_SHARE = 0.2
"""Of the run that the steady part must cover."""
EDGE_RATE = 0.8
BATCH = 5
MOST_RATE_WARM_UP = 0.75
MOST_LATENCY_WARM_UP = 0.5
"""White's own bound; latency is too noisy to be trusted with more."""
LEAST_LATENCY = 1e-6
MOST_RAMP_DOWN = 0.25
RATE_BAND = 0.05
LATENCY_BAND = 0.1
"""Deviation from the later part that always counts as being there: relative, and of the logarithm."""
BAND_SIGMAS = 3.0
SETTLED_SHARE = 0.8
RATE_DRIFT = 0.15
LATENCY_DRIFT = 0.6
LEAST_TAU = 0.5
LEAST_SCORE = 3.0
FAILURE_STEP = 0.05


class SteadyRows(NamedTuple):
    """Rows `first` up to, not including, `last`; `steady` is False when they are the whole run for want of better."""

    first: int
    last: int
    steady: bool
    reason: str


def find_steady(requests: FloatArray, p95: FloatArray | None, failed: FloatArray, *, ramps: bool) -> SteadyRows:
    """The steady rows of a run.

    Args:
        requests: started in each second, [second].
        p95: seconds, NaN where there was no request; None where nothing tells.
        failed: share of failed requests in each second, 0 to 1.
        ramps: the offered load was raised all along, so no part of it stands for the run.

    Returns:
        Reason `stable`, or for a whole run `no-requests`, `too-short`, `too-few`, `ramp`, `trend`, `idle`.
    """
    count = len(requests)
    if not requests.any():
        return SteadyRows(0, count, False, "no-requests")
    if count < SHORTEST_RUN:
        return SteadyRows(0, count, False, "too-short")
    if requests.sum() < LEAST_RATE * count:
        return SteadyRows(0, count, False, "too-few")
    if ramps:
        return SteadyRows(0, count, False, "ramp")
    rate = running_median(requests, 3)
    first, last = cut_edges(rate, failed)
    latency = _log_latency(p95)
    start = settled_from(rate[first:last], MOST_RATE_WARM_UP, RATE_BAND * float(np.median(rate[first:last])))
    if latency is not None:
        start = max(start, settled_from(latency[first:last], MOST_LATENCY_WARM_UP, LATENCY_BAND))
    first += start
    if last - first < max(SHORTEST_WINDOW, LEAST_SHARE * count):
        return SteadyRows(0, count, False, "trend")
    # Of the series as they are: neighbours that share a median would look like a trend.
    if drifts(requests[first:last], RATE_DRIFT) or (
        p95 is not None and latency is not None and drifts(fill_gaps(p95)[first:last], LATENCY_DRIFT)
    ):
        return SteadyRows(0, count, False, "trend")
    busy = np.concatenate([[-1], np.flatnonzero(requests[first:last]), [last - first]])
    if int(np.diff(busy).max()) - 1 > max(LONGEST_GAP, LONGEST_GAP_SHARE * (last - first)):
        return SteadyRows(0, count, False, "idle")
    return SteadyRows(first, last, True, "stable")


def _log_latency(p95: FloatArray | None) -> FloatArray | None:
    """Logarithms, since latencies vary by factors; None where nothing tells."""
    if p95 is None or np.isnan(p95).all():
        return None
    return np.log(np.maximum(running_median(fill_gaps(p95), 5), LEAST_LATENCY))


def cut_edges(rate: FloatArray, failed: FloatArray) -> tuple[int, int]:
    """Rows from the first to the last at which the rate is near its plateau, the upper quartile of the busy seconds.

    A fall of the rate at the end that comes with failures is no ramp-down, and stays.
    """
    count = len(rate)
    plateau = float(np.quantile(rate[rate > 0], 0.75)) if (rate > 0).any() else 0.0
    near = np.flatnonzero(rate >= EDGE_RATE * plateau)
    if not len(near):
        return 0, count
    first, last = int(near[0]), int(near[-1]) + 1
    # The outermost seconds are cut by the clock, not by the load: they are partial.
    first, last = max(first, 1), min(last, count - 1)
    if last <= first or count - last > MOST_RAMP_DOWN * count:
        return min(first, count - 1), count
    tail, body = failed[last : count - 1], failed[first:last]
    if len(tail) and float(tail.mean()) > float(body.mean()) + FAILURE_STEP:
        return first, count - 1
    return first, last


def settled_from(values: FloatArray, most: float, least_band: float) -> int:
    """Row from which on a series is where its later part is; 0 when it is from the start.

    Args:
        values: no NaN.
        most: share of the series that may be cut.
        least_band: deviation from the later part that always counts as being there.
    """
    cut = mser(values, most)
    if cut == 0:
        return 0
    rest = values[cut:]
    band = max(BAND_SIGMAS * spread(rest), least_band)
    inside = np.abs(values - np.median(rest)) <= band
    length = max(SHORTEST_WINDOW, len(values) // 20)
    ahead = np.concatenate([[0], np.cumsum(inside)])
    for row in range(cut):
        end = min(row + length, len(values))
        if inside[row] and ahead[end] - ahead[row] >= SETTLED_SHARE * (end - row):
            return row
    return cut


def mser(values: FloatArray, most: float) -> int:
    """MSER-5's truncation point, in rows, at most a share of all: the cut that makes the rest's mean most certain."""
    batches = block_means(values, BATCH)
    count = len(batches)
    if count < 3:
        return 0
    cuts = np.arange(int(most * count) + 1)
    left = count - cuts
    # Of deviations from the mean, lest squares of large numbers cancel.
    centred = batches - batches.mean()
    sums = np.cumsum(centred[::-1])[::-1][cuts]
    squares = np.cumsum((centred**2)[::-1])[::-1][cuts]
    errors = np.maximum(squares - sums**2 / left, 0.0) / left**2
    # Rounding must not choose among equals.
    return int(cuts[np.argmin(np.round(errors, 12))]) * BATCH


def drifts(values: FloatArray, limit: float) -> bool:
    """Whether a series moves one way by more than a share of its median, and not by chance."""
    return (
        abs(relative_change(values)) > limit
        and abs(rank_correlation(values)) > LEAST_TAU
        and abs(trend_score(values)) > LEAST_SCORE
    )


class Shape(NamedTuple):
    window: SteadyWindow
    steady: Span
    offered: Offered | None
    rising: Level | None


def find_shape(subject: Subject, load: Load) -> Shape:
    seconds = load.seconds
    offered = rising = None
    rows = SteadyRows(0, 0, False, "no-seconds")
    if seconds is not None:
        requests = seconds.requests.astype(np.float64)
        offered = offered_load(requests, load.target, seconds.users)
        rising = rising_rows(offered)
        p95 = None if seconds.latency is None else seconds.latency[:, P95]
        rows = find_steady(requests, p95, _failed(seconds), ramps=rising is not None)
    elif load.whole is not None and not load.whole.requests:
        rows = SteadyRows(0, 0, False, "no-requests")
    found = _found_span(load, rows)
    if subject.steady is not None:
        by_hand = _span_of(subject.steady, subject.started_ms, load.span)
        shown = _window_of(found, subject.started_ms) if rows.steady else None
        window = _steady_window(by_hand, subject.started_ms, WindowSource.ADJUSTED, "by-hand", shown)
        return Shape(window=window, steady=by_hand, offered=offered, rising=rising)
    source = WindowSource.FOUND if rows.steady else WindowSource.WHOLE
    window = _steady_window(found, subject.started_ms, source, rows.reason, None)
    return Shape(window=window, steady=found, offered=offered, rising=rising)


def _found_span(load: Load, rows: SteadyRows) -> Span:
    if not rows.steady:
        return load.span
    first, last = (load.start_ms + row * SECOND_MS for row in (rows.first, rows.last))
    return Span(max(first, load.span.from_ms), min(last, load.span.to_ms))


def _span_of(window: Window, started_ms: int, whole: Span) -> Span:
    first, last = (started_ms + round(seconds * SECOND_MS) for seconds in (window.from_seconds, window.to_seconds))
    first = min(first, max(whole.to_ms - SECOND_MS, whole.from_ms))
    return Span(first, max(min(last, whole.to_ms), first))


def _window_of(span: Span, started_ms: int) -> Window:
    return Window(
        from_seconds=max((span.from_ms - started_ms) / SECOND_MS, 0.0),
        to_seconds=max((span.to_ms - started_ms) / SECOND_MS, 0.001),
    )


def _steady_window(
    span: Span, started_ms: int, source: WindowSource, reason: str, found: Window | None
) -> SteadyWindow:
    return SteadyWindow(
        from_seconds=max((span.from_ms - started_ms) / SECOND_MS, 0.0),
        to_seconds=max((span.to_ms - started_ms) / SECOND_MS, 0.0),
        from_ms=span.from_ms,
        to_ms=span.to_ms,
        source=source,
        reason=reason,
        found=found,
    )


def _failed(seconds: Seconds) -> FloatArray:
    """Share of failed requests in each second."""
    requests = seconds.requests
    ok = seconds.outcomes[:, OUTCOME_CODES[Outcome.OK]]
    share: FloatArray = (requests - ok) / np.maximum(requests, 1)
    return share
