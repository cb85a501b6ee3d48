"""Forecasts against later runs."""

import pytest
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.findings.schemas import TextOut
from loadwatch_backend.runs.compare.forecasts.read import ResourcePoints, RunPoints
from loadwatch_backend.runs.compare.forecasts.schemas import ForecastResource, LawOut, ScoreOut
from loadwatch_backend.runs.compare.forecasts.service import ScoreResult, score, sum_up
from loadwatch_backend.runs.compare.forecasts.steps import Cut

TEXT = TextOut(en="", ja="")
LAW = LawOut(
    rate=1_000, low=900, high=1_100, demand=0.03, idle=0.0, curved=False, top_rate=500, top_use=15.0, reached=None
)
FORECAST = ForecastResource(
    key="pool app-1",
    resource="pool",
    title=TEXT,
    name="app-1",
    unit="count",
    limit=30.0,
    law=LAW,
    refused=None,
    text=TEXT,
    points=[],
)


def later(top: float, full: float | None = None, *, limit: float = 30.0, key: str = "pool app-1") -> RunPoints:
    """A run up to `top`, in which the pool was full at `full`."""
    pool = ResourcePoints(
        resource=shipped_catalogue().resources[0], name="app-1", limit=limit, cut=Cut(), full_rate=full
    )
    return RunPoints(run="r9", top_rate=top, resources={key: pool}, users=Cut(), little=None)


@pytest.mark.parametrize(
    ("run", "result", "error"),
    [
        (later(1_050, 1_050.0), ScoreResult.HIT, 1_000 / 1_050 - 1),
        (later(800, 800.0), ScoreResult.TOO_HIGH, 0.25),
        (later(1_250, 1_250.0), ScoreResult.TOO_LOW, -0.2),
        (later(1_200), ScoreResult.TOO_LOW, None),
    ],
)
def test_how_a_forecast_did(run: RunPoints, result: ScoreResult, error: float | None) -> None:
    found = score(FORECAST, run)
    assert found is not None
    assert found.result == result
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
def test_a_run_that_tells_nothing(run: RunPoints) -> None:
    assert score(FORECAST, run) is None


def test_a_resource_without_a_number_is_not_scored() -> None:
    refused = FORECAST.model_copy(update={"law": None, "refused": "few-steps"})
    assert score(refused, later(1_050, 1_050.0)) is None


def test_the_record_counts_and_the_bias_is_the_median_error() -> None:
    runs = [later(1_050, 1_000.0), later(800, 800.0), later(1_250, 1_250.0), later(1_200)]
    scores: list[ScoreOut] = [found for run in runs if (found := score(FORECAST, run)) is not None]
    record = sum_up(scores)
    assert (record.hits, record.too_high, record.too_low) == (1, 1, 2)
    assert record.bias == 0
    assert sum_up([]).bias is None
