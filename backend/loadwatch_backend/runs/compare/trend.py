"""Change points of a figure over runs; the method is that of Apache Otava (Fleming et al., "Hunter", ICPE 2023).

Otava is imported with the first question, for the sake of the server's start: it brings SciPy's statistics.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from loadwatch_backend.catalogue.signals.model import Orientation
from loadwatch_backend.runs.compare.schemas import ChangePoint, ComparisonOpinion, TrendPoint
from loadwatch_backend.runs.schemas import RunOut

LEAST_RUNS = 6
"""Three runs on each side: fewer cannot tell a new level from noise."""
MAX_P_VALUE = 0.001
LEAST_CHANGE = 0.02
"""Smaller steps are found on long series, and nobody acts on them."""
WINDOW = 30


class _Stats(Protocol):
    mean_1: float
    mean_2: float
    pvalue: float


class _Point(Protocol):
    index: int
    stats: _Stats


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange:
    """A new level begins at `index` of the series."""

    index: int
    before: float
    after: float
    p_value: float


def find_changes(values: Sequence[float]) -> list[LevelChange]:
    """Where the level of the series changes, in order; empty below `LEAST_RUNS` values."""
    if len(values) < LEAST_RUNS:
        return []
    found: list[_Point] = _otava().compute_change_points(
        list(values), window_len=WINDOW, max_pvalue=MAX_P_VALUE, min_magnitude=LEAST_CHANGE
    )[0]
    points = sorted(found, key=lambda point: point.index)
    return [
        LevelChange(
            index=int(point.index),
            before=float(point.stats.mean_1),
            after=float(point.stats.mean_2),
            p_value=float(point.stats.pvalue),
        )
        for point in points
    ]


def trend_point(run: RunOut, series: str, value: float | None) -> TrendPoint:
    """A run with its figure."""
    return TrendPoint(
        run=run.id,
        series=series,
        started_ms=run.started_ms,
        name=run.name,
        value=value,
        commit=run.commit,
        branch=run.branch,
        dirty=run.dirty,
        verdict=run.verdict,
        is_baseline=run.is_baseline,
    )


def level_changes(series: str, known: Sequence[tuple[RunOut, float]], orientation: Orientation) -> list[ChangePoint]:
    """Where the level of a series changes, with the commits around it."""
    return [
        ChangePoint(
            series=series,
            run=known[change.index][0].id,
            previous_run=known[change.index - 1][0].id,
            commit=known[change.index][0].commit,
            previous_commit=known[change.index - 1][0].commit,
            before=change.before,
            after=change.after,
            change=(change.after - change.before) / change.before if change.before else 0.0,
            p_value=change.p_value,
            opinion=_direction(change.before, change.after, orientation),
        )
        for change in find_changes([value for _, value in known])
    ]


def _direction(before: float, after: float, orientation: Orientation) -> ComparisonOpinion:
    if orientation is Orientation.NEUTRAL or before == after:
        return ComparisonOpinion.NEUTRAL
    return (
        ComparisonOpinion.BETTER
        if (after > before) == (orientation is Orientation.MORE_IS_BETTER)
        else ComparisonOpinion.WORSE
    )


@cache
def _otava() -> Any:
    from otava import analysis

    return analysis
