"""Runs laid over each other by elapsed time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, Seconds
from loadwatch_backend.runs.compare.schemas import CompareSeries
from loadwatch_backend.runs.schemas import RunOut

FloatArray = npt.NDArray[np.float64]
MOST_POINTS = 600
PARTIAL_MS = 50
P50, P95, P99 = 0, 2, 3
"""Columns of `Seconds.latency`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One run: its seconds, and the run's second that is elapsed time zero (a whole number)."""

    seconds: Seconds
    zero: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Elapsed seconds of the first bucket, the bucket's length, and how many there are."""

    start: int
    step: int
    count: int


def common_axis(lanes: Sequence[Lane]) -> Axis:
    """From the earliest beginning to the latest end, in at most `MOST_POINTS` buckets; empty without lanes."""
    if not lanes:
        return Axis(start=0, step=1, count=0)
    start = min(-lane.zero for lane in lanes)
    end = max(len(lane.seconds.outcomes) - lane.zero for lane in lanes)
    step = max(-(-(end - start) // MOST_POINTS), 1)
    return Axis(start=start, step=step, count=-(-(end - start) // step))


def mean_on_axis(values: FloatArray, lane: Lane, axis: Axis) -> FloatArray:
    """Means of per-second values in each bucket; NaN where the run has no second."""
    laid = _laid(values, lane, axis)
    counts: npt.NDArray[np.int64] = axis.step - np.isnan(laid).sum(axis=1)
    sums = np.nansum(laid, axis=1)
    return np.divide(sums, counts, out=np.full(axis.count, np.nan), where=counts > 0)


def max_on_axis(values: FloatArray, lane: Lane, axis: Axis) -> FloatArray:
    """Largest of per-second values in each bucket, so that a slow second stays; NaN where there is none."""
    return np.fmax.reduce(_laid(values, lane, axis), axis=1, initial=np.nan)


def lane_rates(seconds: Seconds) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Requests, good answers and failures of each second."""
    requests = seconds.requests.astype(np.float64)
    good = seconds.outcomes[:, OUTCOME_CODES[Outcome.OK]].astype(np.float64)
    return requests, good, requests - good


def without_partial(values: FloatArray, seconds: Seconds, started_ms: int) -> FloatArray:
    """Rates without the run's first and last second where they are cut: half a second has half the requests."""
    cut = values.copy()
    if started_ms - seconds.start_ms > PARTIAL_MS:
        cut[:1] = np.nan
    if len(cut) > 1:
        cut[-1:] = np.nan
    return cut


def run_series(run: RunOut, lane: Lane, axis: Axis) -> CompareSeries:
    """A run's seconds on the common axis."""
    requests, good, failures = (without_partial(one, lane.seconds, run.started_ms) for one in lane_rates(lane.seconds))
    latency = lane.seconds.latency
    empty = np.full(len(requests), np.nan)
    p50, p95, p99 = (empty if latency is None else latency[:, column] for column in (P50, P95, P99))
    return CompareSeries(
        run=run.id,
        offset_seconds=lane.zero,
        rate=_listed(mean_on_axis(requests, lane, axis)),
        ok_rate=_listed(mean_on_axis(good, lane, axis)),
        failures=_listed(mean_on_axis(failures, lane, axis)),
        p50=_listed(max_on_axis(p50, lane, axis)),
        p95=_listed(max_on_axis(p95, lane, axis)),
        p99=_listed(max_on_axis(p99, lane, axis)),
    )


def _laid(values: FloatArray, lane: Lane, axis: Axis) -> FloatArray:
    """[bucket, second of the bucket], NaN outside of the run."""
    laid = np.full(axis.count * axis.step, np.nan)
    begin = -lane.zero - axis.start
    laid[begin : begin + len(values)] = values
    return laid.reshape(axis.count, axis.step)


def _listed(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
