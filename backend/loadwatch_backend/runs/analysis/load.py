"""The load of a run as the analysis sees it, whichever source it comes from, and figures as documents.

Percentiles cannot be averaged. By nearest rank, though, the k-th smallest latency of a second is known at five ranks,
and lies between its neighbours at all others; so the percentile of any span lies between two bounds that hold whatever
the requests in between were. Pure but for `records`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from loadwatch_formats.outcomes import OUTCOMES, Outcome

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.records.model import (
    QUANTILES,
    Endpoint,
    Figures,
    FloatArray,
    IntArray,
    Latency,
    Seconds,
)
from loadwatch_backend.runs.analysis.schemas import EndpointOut, FiguresOut, LatencyOut

COLUMNS: tuple[float, ...] = (0.5, 0.9, 0.95, 0.99, 1.0)
"""Quantiles of the columns of `Seconds.latency`."""


class Bounds(NamedTuple):
    """The percentile is at least `low` and at most `high`; seconds."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The estimate: half of the width is the most that it can be wrong by."""
        return (self.low + self.high) / 2


def pooled_bounds(requests: IntArray, latency: FloatArray, quantile: float) -> Bounds | None:
    found = bounds_of(requests, latency, (quantile,))
    return found[0] if found else None


def bounds_of(requests: IntArray, latency: FloatArray, quantiles: Sequence[float]) -> list[Bounds]:
    """Bounds of quantiles over all requests of the seconds.

    Args:
        requests: [second].
        latency: [second, 5], seconds, NaN where there is none; the quantiles of `COLUMNS`.
        quantiles: of 0 to 1.

    Returns:
        One for each; empty where no second has both requests and latencies.
    """
    known = (requests > 0) & ~np.isnan(latency).any(axis=1)
    if not known.any():
        return []
    counts, values = requests[known], latency[known]
    # At least ranks[i, k] of second i's requests are as fast as values[i, k] or faster.
    ranks = np.ceil(np.array(COLUMNS) * counts[:, None] - 1e-9).astype(np.int64)
    slowest = np.diff(ranks, axis=1, prepend=0)
    # The request at rank ranks[i, k] is values[i, k] itself; those after it, up to the next known one, are no faster.
    fastest = np.diff(ranks, axis=1, append=counts[:, None] + 1)
    unknown = int((ranks[:, 0] - 1).sum())
    order = np.argsort(values, axis=None)
    ordered = values.ravel()[order]
    upto_high, upto_low = np.cumsum(slowest.ravel()[order]), unknown + np.cumsum(fastest.ravel()[order])
    total = int(counts.sum())
    found: list[Bounds] = []
    for quantile in quantiles:
        rank = max(int(np.ceil(quantile * total - 1e-9)), 1)
        high = float(ordered[int(np.searchsorted(upto_high, rank))])
        low = 0.0 if rank <= unknown else float(ordered[int(np.searchsorted(upto_low, rank))])
        # Percentiles of another rule than nearest rank can contradict each other in seconds of few requests.
        found.append(Bounds(low=min(low, high), high=max(low, high)))
    return found


SECOND_MS = 1_000
MAX_COLUMN = 4

WindowPercentiles = Callable[[Sequence[float], int, int], Sequence[float] | None]
"""Exact percentiles (quantiles of 0 to 1) of the requests that started in [from, to), seconds; None without any."""
WindowFigures = Callable[[int, int], Figures]
"""Exact figures of the requests that started in [from, to), nanoseconds of the records' own clock."""


class Origin(StrEnum):
    RESULT = "result"
    STREAM = "stream"
    """`loadtest_*` series, sent while the run was under way."""
    K6 = "k6"
    """k6's own series, sent by its remote write."""
    NONE = "none"


class Span(NamedTuple):
    """From `from_ms` up to, not including, `to_ms`; milliseconds since the epoch on the generator's clock."""

    from_ms: int
    to_ms: int

    @property
    def seconds(self) -> float:
        return (self.to_ms - self.from_ms) / SECOND_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Figures and per-second series of one run.

    Attributes:
        span: from the run's start to its end, requests outside of it included.
        whole: figures of all requests; None where there is no source.
        seconds: its times are `offset_ms` before those of the run (a file without a wall clock).
        target: rate asked for in each second, requests per second, NaN where unknown; as long as `seconds`.
        records, percentiles: None where single requests are not kept.
    """

    origin: Origin
    span: Span
    whole: Figures | None
    seconds: Seconds | None
    offset_ms: int = 0
    target: FloatArray | None = None
    records: WindowFigures | None = None
    percentiles: WindowPercentiles | None = None

    @property
    def start_ms(self) -> int:
        """Time of the first row of `seconds`; the start of the run where there are none."""
        return self.span.from_ms if self.seconds is None else self.seconds.start_ms + self.offset_ms

    def records_ns(self, span: Span) -> tuple[int, int]:
        """A span in nanoseconds of the records' own clock."""
        return (span.from_ms - self.offset_ms) * 1_000_000, (span.to_ms - self.offset_ms) * 1_000_000

    def rows(self, span: Span) -> slice:
        if self.seconds is None:
            return slice(0, 0)
        count = len(self.seconds.outcomes)
        first, last = (-(-(time - self.start_ms) // SECOND_MS) for time in (span.from_ms, span.to_ms))
        return slice(min(max(first, 0), count), min(max(last, 0), count))

    def covers_all(self, span: Span) -> bool:
        if span.from_ms <= self.span.from_ms and span.to_ms >= self.span.to_ms:
            return True
        if self.seconds is None:
            return False
        end_ms = self.start_ms + SECOND_MS * len(self.seconds.outcomes)
        return span.from_ms <= self.start_ms and span.to_ms >= end_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowLoad:
    """Figures of a window; `bounds` has an entry for each percentile that is an estimate.

    `percentile` is asked for any other (its quantile, 0 to 1): exact ones have equal bounds, None where nothing tells.
    """

    figures: Figures
    bounds: Mapping[str, Bounds]
    percentile: Callable[[float], Bounds | None] | None = None


def figures_over(load: Load, span: Span) -> WindowLoad | None:
    """Figures of the requests that started in a span; None where nothing tells.

    Exact from single requests; otherwise counts are exact to the second, and percentiles estimates with bounds.
    """

    def any_percentile(quantile: float) -> Bounds | None:
        found = percentiles_in(load, span, (quantile,))
        return found[0] if found else None

    if load.whole is not None and load.covers_all(span):
        bounds: Mapping[str, Bounds] = {} if load.origin is Origin.RESULT else _whole_bounds(load)
        return WindowLoad(figures=load.whole, bounds=bounds, percentile=any_percentile)
    exact = _from_records(load, span)
    if exact is not None:
        return WindowLoad(figures=exact, bounds={}, percentile=any_percentile)
    if load.seconds is None:
        return None
    return replace(summarise_seconds(load.seconds, load.rows(span), span.seconds), percentile=any_percentile)


def percentiles_in(load: Load, span: Span, quantiles: Sequence[float]) -> Sequence[Bounds]:
    """Exact from single requests, else within what the seconds' own leave open; empty where nothing tells."""
    if load.percentiles is not None:
        first, last = load.records_ns(span)
        with suppress(ProblemError, OSError):
            exact = load.percentiles(quantiles, first, last)
            return [Bounds(low=value, high=value) for value in exact or ()]
    if load.seconds is None or load.seconds.latency is None:
        return []
    rows = load.rows(span)
    return bounds_of(load.seconds.requests[rows], load.seconds.latency[rows], quantiles)


def _from_records(load: Load, span: Span) -> Figures | None:
    if load.records is None:
        return None
    try:
        return load.records(*load.records_ns(span))
    except (ProblemError, OSError):
        # The records are gone or damaged; the series of seconds, which the analysis has at hand, still tell most.
        return None


def summarise_seconds(seconds: Seconds, rows: slice, duration_seconds: float) -> WindowLoad:
    by_outcome = seconds.outcomes[rows].sum(axis=0)
    counts = seconds.requests[rows]
    total = int(counts.sum())
    outcomes = {outcome: int(count) for outcome, count in zip(OUTCOMES, by_outcome, strict=True) if count}
    latency = None if seconds.latency is None else seconds.latency[rows]
    bounds = {} if latency is None else percentile_bounds(counts, latency)
    slowest = None if latency is None else _extreme(latency[:, MAX_COLUMN], np.fmax)
    fastest = None if seconds.fastest is None else _extreme(seconds.fastest[rows], np.fmin)
    figures = Figures(
        requests=total,
        duration_seconds=duration_seconds,
        rate=total / duration_seconds if duration_seconds > 0 else None,
        success_ratio=outcomes.get(Outcome.OK, 0) / total if total else None,
        latency=Latency(**{name: bound.middle for name, bound in bounds.items()}, min=fastest, max=slowest),
        outcomes=outcomes,
        status_codes={},
        bytes_in=_sum(seconds.bytes_in, rows),
        bytes_out=_sum(seconds.bytes_out, rows),
        # Tools without single requests count by the end of each; of the others the last answer's end is not kept.
        throughput=outcomes.get(Outcome.OK, 0) / duration_seconds
        if duration_seconds > 0 and not seconds.exact
        else None,
    )
    return WindowLoad(figures=figures, bounds=bounds)


def percentile_bounds(requests: IntArray, latency: FloatArray) -> dict[str, Bounds]:
    """Bounds of p50, p90, p95 and p99; empty where there are no latencies."""
    found = bounds_of(requests, latency, [quantile for _, quantile in QUANTILES])
    return {name: bounds for (name, _), bounds in zip(QUANTILES, found, strict=bool(found))}


def _whole_bounds(load: Load) -> Mapping[str, Bounds]:
    if load.seconds is None or load.seconds.latency is None:
        return {}
    return percentile_bounds(load.seconds.requests, load.seconds.latency)


def _extreme(values: FloatArray, pick: np.ufunc) -> float | None:
    known = values[~np.isnan(values)]
    return float(pick.reduce(known)) if len(known) else None


def _sum(values: IntArray | None, rows: slice) -> int | None:
    return None if values is None else int(values[rows].sum())


SPARKLINE_VALUES = 60


def latency_out(latency: Latency) -> LatencyOut:
    """Seconds, NaN as null."""
    names = ("min", "mean", "p50", "p90", "p95", "p99", "max")
    return LatencyOut(**{name: _finite(getattr(latency, name)) for name in names})


def figures_out(figures: Figures) -> FiguresOut:
    return FiguresOut(
        requests=figures.requests,
        duration_seconds=figures.duration_seconds,
        rate=_finite(figures.rate),
        success_ratio=_finite(figures.success_ratio),
        latency_seconds=latency_out(figures.latency),
        outcomes={outcome.value: count for outcome, count in figures.outcomes.items()},
        status_codes=dict(figures.status_codes),
        bytes_in=figures.bytes_in,
        bytes_out=figures.bytes_out,
        wait_seconds=figures.wait_seconds,
        throughput=_finite(figures.throughput),
    )


def endpoint_out(endpoint: Endpoint) -> EndpointOut:
    figures = figures_out(endpoint.figures)
    return EndpointOut(name=endpoint.name, **{name: getattr(figures, name) for name in FiguresOut.model_fields})


def sparkline(requests: FloatArray) -> list[float | None]:
    """Requests per second, at most 60 means of equal parts, the last perhaps of fewer seconds."""
    return [round(float(part.mean()), 3) for part in _parts(requests)]


def worst_sparkline(seconds: FloatArray) -> list[float | None]:
    """A figure of each second, at most 60 parts as `sparkline` has them: the highest of each, None where none is."""
    highest = (float(np.fmax.reduce(part)) for part in _parts(seconds))
    return [None if math.isnan(value) else float(f"{value:.4g}") for value in highest]


def _parts(seconds: FloatArray) -> Sequence[FloatArray]:
    width = max(-(-len(seconds) // SPARKLINE_VALUES), 1)
    return [seconds[start : start + width] for start in range(0, len(seconds), width)]


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
