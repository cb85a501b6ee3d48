"""The steady window of a run, found or set by hand, and its ramp. Pure.

1. The edges in which the rate is below 80 % of the plateau are cut off.
2. MSER-5 on the rate and on p95 says how much at the start differs from the rest (White, "An effective truncation
   heuristic for bias reduction in simulation output", SIMULATION 1997); a second before that stays if it and those
   after it already are where the rest is, so that a spike cuts nothing off.
3. What is left must not drift (robust slope); otherwise there is no steady part.
"""

from dataclasses import dataclass

import numpy as np
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, Seconds
from loadwatch_backend.runs.analysis.load import SECOND_MS, Load, Span
from loadwatch_backend.runs.analysis.own_figures import Subject
from loadwatch_backend.runs.analysis.phases.levels import (
    Level,
    Offered,
    block_means,
    fill_gaps,
    offered_load,
    rank_correlation,
    relative_change,
    rising_rows,
    running_median,
    spread,
    trend_score,
)
from loadwatch_backend.runs.analysis.phases.ramp import P95
from loadwatch_backend.runs.analysis.schemas import SteadyWindow, WindowSource
from loadwatch_backend.runs.fields import Window

SHORTEST_RUN = 10
"""Seconds; below it nothing can be told from chance."""
SHORTEST_WINDOW = 5
LEAST_RATE = 1.0
"""Requests a second, on average; of fewer, those that an edge cuts off may be the ones that tell."""
LONGEST_GAP, LONGEST_GAP_SHARE = 10, 0.1
"""Seconds in a row without requests that the steady part may hold, at least, and as a share of it."""
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


@dataclass(frozen=True, slots=True)
class SteadyRows:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How the load of a run went: its steady part, and its ramp if it has one."""

    window: SteadyWindow
    steady: Span
    offered: Offered | None
    rising: Level | None


def find_shape(subject: Subject, load: Load) -> Shape:
    """The steady window, found or set by hand, and the ramp."""
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
