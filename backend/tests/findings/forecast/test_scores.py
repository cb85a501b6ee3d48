"""Forecasts against later runs."""

import pytest
from loadwatch_backend.findings.forecast.model import Interval
from loadwatch_backend.findings.forecast.scores import Later, Said, Score, ScoreResult, Seen, score, sum_up

SAID = Said(key="pool app-1", limit=30.0, full=Interval(value=1_000, low=900, high=1_100))


def later(top: float, full: float | None = None, *, limit: float = 30.0, key: str = "pool app-1") -> Later:
    """A run up to `top`, in which the pool was full at `full`."""
    return Later(run="r9", top_rate=top, seen={key: Seen(limit=limit, full_rate=full)})


@pytest.mark.parametrize(
    ("run", "result", "error"),
    [
        (later(1_050, 1_050.0), ScoreResult.HIT, 1_000 / 1_050 - 1),
        (later(800, 800.0), ScoreResult.TOO_HIGH, 0.25),
        (later(1_250, 1_250.0), ScoreResult.TOO_LOW, -0.2),
        (later(1_200), ScoreResult.TOO_LOW, None),
    ],
)
def test_how_a_forecast_did(run: Later, result: ScoreResult, error: float | None) -> None:
    found = score(SAID, run)
    assert found is not None
    assert found.result is result
    assert found.error == (None if error is None else pytest.approx(error))


@pytest.mark.parametrize(
    "run",
    [
        later(950),
        later(1_100),
        later(2_000, 800.0, limit=60.0),
        later(2_000, 800.0, key="pool app-2"),
    ],
)
def test_a_run_that_tells_nothing(run: Later) -> None:
    assert score(SAID, run) is None


def test_the_record_counts_and_the_bias_is_the_median_error() -> None:
    runs = [later(1_050, 1_000.0), later(800, 800.0), later(1_250, 1_250.0), later(1_200)]
    scores: list[Score] = [found for run in runs if (found := score(SAID, run)) is not None]
    record = sum_up(scores)
    assert (record.hits, record.too_high, record.too_low) == (1, 1, 2)
    assert record.bias == 0
    assert sum_up([]).bias is None
