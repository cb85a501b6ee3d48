"""Figures of routes as documents: what `loadwatch digest access --json` writes, and what is kept with a run. Pure."""

from collections.abc import Mapping
from typing import Any

from loadwatch_formats.access_logs.figures import RouteFigures
from loadwatch_formats.access_logs.routes import OTHER
from loadwatch_formats.access_logs.sketch import RELATIVE_ERROR
from loadwatch_formats.access_logs.tally import Key, Tally

QUANTILES: Mapping[str, float] = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def quantiles_of(figures: RouteFigures) -> dict[str, float | None]:
    """By name, in seconds; None where there are none."""
    return dict(zip(QUANTILES, figures.durations.quantiles(tuple(QUANTILES.values())), strict=True))


def route_document(key: Key, figures: RouteFigures) -> dict[str, Any]:
    """One method and route with all its figures."""
    method, route = key
    return {"route": route, "method": method, **figures_document(figures)}


def figures_document(figures: RouteFigures) -> dict[str, Any]:
    """All figures of one route; None where nothing tells."""
    durations = figures.durations
    return {
        "count": figures.count,
        "sum": durations.sum if durations.count else None,
        "min": durations.least,
        "mean": durations.mean,
        **quantiles_of(figures),
        "max": durations.greatest,
        "stddev": durations.deviation,
        "status": {status: figures.statuses[status] for status in sorted(figures.statuses)},
        "bytes": figures.bytes if figures.sized else None,
        "body": {
            "count": figures.sized,
            "min": figures.least_bytes,
            "mean": figures.bytes / figures.sized if figures.sized else None,
            "max": figures.most_bytes,
        },
    }


def lines_document(tally: Tally) -> dict[str, Any]:
    """What became of the lines."""
    return {
        "read": tally.lines.read,
        "unreadable": tally.lines.unreadable,
        "too_long": tally.lines.too_long,
        "without_duration": tally.without_duration,
        "other_routes": sum(figures.count for (_, route), figures in tally.figures.items() if route == OTHER),
        "percentile_error": RELATIVE_ERROR,
    }


def window_document(tally: Tally) -> dict[str, int] | None:
    """What the lines cover; None without any."""
    lines = tally.lines
    if lines.first_ms is None or lines.last_ms is None:
        return None
    return {"first_ms": lines.first_ms, "last_ms": lines.last_ms}
