"""The utilisation law: numbers, refusals, and how often the interval holds the truth."""

from dataclasses import replace

import numpy as np
import pytest
from loadwatch_backend.runs.compare.forecasts.model import Interval, Law, Refusal, Refused, Step
from loadwatch_backend.runs.compare.forecasts.utilisation import forecast_use

from backend.tests.compare.forecasts.made import made_step, made_sweep
from bench.forecast.judge import judge_swept

RATES = (100.0, 200.0, 300.0, 400.0, 500.0, 600.0)


def law_of(steps: list[Step], limit: float) -> Law:
    """What is said of steps that have a number."""
    found = forecast_use(steps, limit)
    assert isinstance(found, Law)
    return found


def refusal_of(steps: list[Step], limit: float) -> Refusal:
    """Why steps have no number."""
    found = forecast_use(steps, limit)
    assert isinstance(found, Refused)
    return found.refusal


def test_the_rate_at_which_a_resource_is_full() -> None:
    law = law_of(made_sweep(RATES, 0.05, idle=2.0), 50.0)
    assert law.full.value == pytest.approx(960, rel=0.03)
    assert law.full.low < 960 < law.full.high
    assert law.demand == pytest.approx(0.05, rel=0.05)
    assert law.idle == pytest.approx(2, abs=0.5)
    assert (law.points, law.top_rate, law.reached, law.curved) == (6, 600, None, False)


def test_one_disturbed_step_moves_little() -> None:
    steps = made_sweep(RATES, 0.05)
    steps[2] = made_step(RATES[2], 40.0)
    assert law_of(steps, 50.0).full.value == pytest.approx(1_000, rel=0.05)


def test_a_rate_that_was_reached_is_said() -> None:
    steps = [*made_sweep(RATES, 0.05), made_step(900.0, 49.5)]
    assert law_of(steps, 50.0).reached == pytest.approx(900)


@pytest.mark.parametrize(
    ("steps", "limit", "refusal"),
    [
        (made_sweep(RATES[:3], 0.05), 50.0, Refusal.FEW_STEPS),
        ([], 50.0, Refusal.FEW_STEPS),
        (made_sweep((100.0, 110.0, 120.0, 130.0), 0.05), 20.0, Refusal.NARROW),
        (made_sweep((0.0, 0.0, 0.0, 0.0), 0.05), 20.0, Refusal.NARROW),
        (made_sweep(RATES, 0.05), 500.0, Refusal.UNDERLOADED),
        (made_sweep(RATES, 0.0, idle=30.0), 50.0, Refusal.FLAT),
        (made_sweep(RATES, -0.02, idle=30.0), 50.0, Refusal.FLAT),
    ],
)
def test_no_number_where_nothing_tells(steps: list[Step], limit: float, refusal: Refusal) -> None:
    assert refusal_of(steps, limit) is refusal


def test_what_fills_with_time_has_no_number() -> None:
    steps = [replace(step, uses=step.uses + np.linspace(0, 20, len(step.uses))) for step in made_sweep(RATES, 0.05)]
    assert refusal_of(steps, 100.0) is Refusal.DRIFTS


def test_a_bend_that_was_seen_widens_the_interval_and_one_too_early_has_no_number() -> None:
    bent = [made_step(rate, 0.02 * rate + 0.00008 * rate**2) for rate in RATES]
    law = law_of(bent, 60.0)
    truth = (-0.02 + np.sqrt(0.02**2 + 4 * 0.00008 * 60)) / (2 * 0.00008)
    assert law.curved
    assert law.full.value == pytest.approx(truth, rel=0.05)
    assert law.full.low <= truth <= law.full.high
    assert refusal_of(bent, 160.0) is Refusal.NOT_CONSTANT


def test_the_unit_the_time_and_the_names_change_nothing() -> None:
    steps = made_sweep(RATES, 0.05, noise=0.1)
    law = law_of(steps, 50.0)
    moved = [replace(step, run="other", from_ms=step.from_ms + 7_777) for step in steps]
    assert law_of(moved, 50.0) == law
    scaled = [replace(step, uses=step.uses * 1_024) for step in steps]
    assert law_of(scaled, 50.0 * 1_024).full.high == pytest.approx(law.full.high)
    faster = [replace(step, rates=step.rates * 8) for step in steps]
    assert law_of(faster, 50.0).full.low == pytest.approx(8 * law.full.low)


def test_an_interval_holds_its_value() -> None:
    full = law_of(made_sweep(RATES, 0.05, noise=0.2), 50.0).full
    assert isinstance(full, Interval)
    assert full.low <= full.value <= full.high


@pytest.mark.parametrize("kind", ["M/M/c", "M/G/1"])
def test_the_interval_holds_the_truth_of_simulated_systems(kind: str) -> None:
    judged = judge_swept(kind, range(20_000, 20_080))
    assert judged.answered >= 75
    # Of 80 by 0.9: fewer than 64, or all, would come by chance once in a thousand times.
    assert 0.8 <= judged.held / judged.answered < 1
    assert float(np.median(np.abs(judged.errors))) < 0.05
