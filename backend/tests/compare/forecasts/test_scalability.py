"""The Universal Scalability Law."""

import numpy as np
import pytest
from loadwatch_backend.runs.compare.forecasts.model import FloatArray, Peak, Refusal, Refused
from loadwatch_backend.runs.compare.forecasts.scalability import forecast_peak

from bench.forecast.judge import judge_scaled


def rates_of(users: FloatArray, coherency: float = 0.001) -> FloatArray:
    """995 for one user, 2 % of contention; after Gunther."""
    return 995.0 * users / (1 + 0.02 * (users - 1) + coherency * users * (users - 1))


def test_the_peak_of_a_sweep_beyond_it() -> None:
    users = np.array([1.0, 2, 4, 8, 16, 24, 32, 40])
    draw = np.random.default_rng(1)
    found = forecast_peak(users, rates_of(users) * np.exp(draw.normal(0, 0.01, 8)))
    assert isinstance(found, Peak)
    at = np.sqrt(0.98 / 0.001)
    truth = float(rates_of(np.array([at]))[0])
    assert found.users == pytest.approx(at, rel=0.1)
    assert found.rate.low <= truth <= found.rate.high
    assert found.contention == pytest.approx(0.02, abs=0.01)
    assert found.coherency == pytest.approx(0.001, rel=0.3)


@pytest.mark.parametrize(
    ("users", "refusal"),
    [
        (np.array([1.0, 2, 4, 8, 16]), Refusal.FEW_USERS),
        (np.array([1.0, 1, 2, 2, 4, 4, 8]), Refusal.FEW_USERS),
        (np.array([1.0, 2, 3, 4, 5, 6, 7]), Refusal.BEFORE_THE_BEND),
    ],
)
def test_no_peak_where_nothing_tells(users: FloatArray, refusal: Refusal) -> None:
    found = forecast_peak(users, rates_of(users))
    assert isinstance(found, Refused)
    assert found.refusal is refusal


def test_a_system_that_only_grows_has_no_peak() -> None:
    users = np.array([1.0, 2, 4, 8, 16, 32, 64])
    draw = np.random.default_rng(2)
    found = forecast_peak(users, rates_of(users, 0.0) * np.exp(draw.normal(0, 0.02, 7)))
    assert isinstance(found, Refused)
    assert found.refusal in {Refusal.GROWING, Refusal.BEFORE_THE_BEND, Refusal.BEND_UNSURE}
    assert forecast_peak(users, 100 * users) == Refused(refusal=Refusal.GROWING)


def test_the_interval_holds_the_truth_of_made_systems() -> None:
    judged = judge_scaled(range(20_000, 20_080))
    assert judged.answered >= 50
    assert 0.8 <= judged.held / judged.answered <= 1
    assert float(np.median(np.abs(judged.errors))) < 0.05
