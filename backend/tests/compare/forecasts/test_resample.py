"""Sweeps drawn again."""

import numpy as np
import pytest
from loadwatch_backend.runs.compare.forecasts.utilisation import DRAWS, draw_uses, points_of

from backend.tests.compare.forecasts.made import made_step, made_sweep

RATES = (100.0, 200.0, 300.0, 400.0, 500.0)


def test_what_is_drawn_lies_about_the_steps_and_is_the_same_again() -> None:
    steps = made_sweep(RATES, 0.1, noise=0.05)
    points = points_of(steps)
    rates, uses = draw_uses(steps, points, 0.0, 0.1)
    assert uses.shape == (DRAWS, 5)
    assert uses.mean(axis=0) == pytest.approx(points.uses, rel=0.02)
    again = draw_uses(steps, points, 0.0, 0.1)
    assert (again[0] == rates).all()
    assert (again[1] == uses).all()


def test_steps_that_scatter_more_than_their_blocks_make_it_less_sure() -> None:
    sure = [made_step(rate, 0.1 * rate) for rate in RATES]
    unsure = [made_step(rate, 0.1 * rate * (1 + 0.1 * (-1) ** place)) for place, rate in enumerate(RATES)]
    spreads = [draw_uses(steps, points_of(steps), 0.0, 0.1)[1].std(axis=0).mean() for steps in (sure, unsure)]
    assert spreads[1] > 3 * spreads[0]


def test_steps_of_one_block_are_drawn_from_the_scatter_about_the_line() -> None:
    steps = [made_step(rate, 0.1 * rate + 2 * (-1) ** place) for place, rate in enumerate(RATES)]
    single = [
        type(step)(
            run=step.run,
            from_ms=0,
            to_ms=5_000,
            block_seconds=5.0,
            rates=step.rates[:1],
            uses=np.array([step.use]),
        )
        for step in steps
    ]
    _, uses = draw_uses(single, points_of(single), 0.0, 0.1)
    quartiles = np.quantile(uses, [0.25, 0.75], axis=0)
    # Half of a normal distribution lies within 0.67 deviations to each side.
    assert (quartiles[1] - quartiles[0]).mean() == pytest.approx(2 * 0.67 * 2.6, rel=0.25)


def test_points_without_any_scatter_are_drawn_as_they_are() -> None:
    steps = [made_step(rate, 0.1 * rate, noise=0.0) for rate in RATES]
    _, uses = draw_uses(steps, points_of(steps), 0.0, 0.1)
    assert uses.std(axis=0).max() < 1e-6
