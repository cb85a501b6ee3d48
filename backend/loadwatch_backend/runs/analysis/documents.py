"""From figures to documents. Pure."""

import math
from collections.abc import Sequence

import numpy as np

from loadwatch_backend.evidence.records.model import Endpoint, Figures, FloatArray, Latency
from loadwatch_backend.runs.analysis.schemas import EndpointOut, FiguresOut, LatencyOut

SPARKLINE_VALUES = 60


def latency_out(latency: Latency) -> LatencyOut:
    """Seconds, NaN as null."""
    names = ("min", "mean", "p50", "p90", "p95", "p99", "max")
    return LatencyOut(**{name: _finite(getattr(latency, name)) for name in names})


def figures_out(figures: Figures) -> FiguresOut:
    """Totals as a document."""
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
    """One endpoint as a document."""
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
