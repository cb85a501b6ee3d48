"""Forecasts held against later runs that went higher."""

import statistics
from collections.abc import Sequence
from enum import StrEnum

from loadwatch_backend.runs.compare.forecasts.read import RunPoints
from loadwatch_backend.runs.compare.forecasts.schemas import ForecastResource, RecordOut, ScoreOut

SAME_LIMIT = 0.01


class ScoreResult(StrEnum):
    """How a forecast did."""

    HIT = "hit"
    """It was full at a rate inside of the interval."""
    TOO_HIGH = "too-high"
    """It was full below the interval: the forecast promised too much."""
    TOO_LOW = "too-low"
    """It was full above the interval, or was not full above it."""


def score(forecast: ForecastResource, later: RunPoints) -> ScoreOut | None:
    """None where the run tells nothing: it did not go high enough, did not measure it, or had another limit."""
    law, measured = forecast.law, later.resources.get(forecast.key)
    if law is None or measured is None or abs(measured.limit - forecast.limit) > SAME_LIMIT * forecast.limit:
        return None
    truth = measured.full_rate
    if truth is None and later.top_rate <= law.high:
        return None
    if truth is None or truth > law.high:
        result = ScoreResult.TOO_LOW
    else:
        result = ScoreResult.TOO_HIGH if truth < law.low else ScoreResult.HIT
    return ScoreOut(
        key=forecast.key,
        title=forecast.title,
        run=later.run,
        result=result,
        rate=law.rate,
        low=law.low,
        high=law.high,
        truth=truth,
        top_rate=later.top_rate,
        error=law.rate / truth - 1 if truth else None,
    )


def sum_up(scores: Sequence[ScoreOut]) -> RecordOut:
    """All scores together."""
    errors = [one.error for one in scores if one.error is not None]
    counts = {result: sum(one.result == result for one in scores) for result in ScoreResult}
    return RecordOut(
        hits=counts[ScoreResult.HIT],
        too_high=counts[ScoreResult.TOO_HIGH],
        too_low=counts[ScoreResult.TOO_LOW],
        bias=statistics.median(errors) if errors else None,
    )
