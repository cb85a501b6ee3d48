"""Forecasts held against later runs that went higher."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from loadwatch_backend.findings.forecast.model import Interval

SAME_LIMIT = 0.01


class ScoreResult(StrEnum):
    """How a forecast did."""

    HIT = "hit"
    """It was full at a rate inside of the interval."""
    TOO_HIGH = "too-high"
    """It was full below the interval: the forecast promised too much."""
    TOO_LOW = "too-low"
    """It was full above the interval, or was not full above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What was said of a resource, by its key; `limit` as it was then."""

    key: str
    limit: float
    full: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A resource in a later run: `full_rate` when it was full, None where it never was."""

    limit: float
    full_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """A later run: the highest rate that it held, and its resources by key."""

    run: str
    top_rate: float
    seen: Mapping[str, Seen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One forecast of one resource against one run.

    `truth` is the rate at which it was full; None where it was not full at any that was tried, of which `top_rate` is
    the highest. `error` is (said - truth) / truth; None without a truth.
    """

    key: str
    run: str
    result: ScoreResult
    truth: float | None
    top_rate: float
    error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """How forecasts did so far; `bias` is the median error, None without any: above zero they promise too much."""

    hits: int
    too_high: int
    too_low: int
    bias: float | None


def score(said: Said, later: Later) -> Score | None:
    """None where the run tells nothing: it did not go high enough, did not measure it, or had another limit."""
    seen = later.seen.get(said.key)
    if seen is None or abs(seen.limit - said.limit) > SAME_LIMIT * said.limit:
        return None
    truth = seen.full_rate
    if truth is None:
        if later.top_rate <= said.full.high:
            return None
        return Score(
            key=said.key, run=later.run, result=ScoreResult.TOO_LOW, truth=None, top_rate=later.top_rate, error=None
        )
    if truth < said.full.low:
        result = ScoreResult.TOO_HIGH
    else:
        result = ScoreResult.HIT if truth <= said.full.high else ScoreResult.TOO_LOW
    error = said.full.value / truth - 1 if truth > 0 else None
    return Score(key=said.key, run=later.run, result=result, truth=truth, top_rate=later.top_rate, error=error)


def sum_up(scores: Sequence[Score]) -> Record:
    """All scores together."""
    errors = [one.error for one in scores if one.error is not None]
    counts = {result: sum(one.result is result for one in scores) for result in ScoreResult}
    return Record(
        hits=counts[ScoreResult.HIT],
        too_high=counts[ScoreResult.TOO_HIGH],
        too_low=counts[ScoreResult.TOO_LOW],
        bias=statistics.median(errors) if errors else None,
    )
