"""Lines and curves through points."""

import numpy as np
import pytest
from loadwatch_backend.runs.compare.forecasts.model import deviation, fit_curve, fit_line, weighted_median

RATES = np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0])
EQUAL = np.ones(7)


def test_a_line_is_found_whatever_two_of_seven_points_say() -> None:
    uses = 3 + 0.5 * RATES
    uses[2], uses[5] = 90.0, 0.0
    idle, demand = fit_line(RATES, uses, EQUAL)
    assert float(demand) == pytest.approx(0.5)
    assert float(idle) == pytest.approx(3)


def test_many_at_once_are_the_same_as_each() -> None:
    draw = np.random.default_rng(0)
    rates, uses = RATES + draw.normal(size=(5, 7)), 2 * RATES + draw.normal(size=(5, 7))
    idles, demands = fit_line(rates, uses, EQUAL)
    for place in range(5):
        idle, demand = fit_line(rates[place], uses[place], EQUAL)
        assert (idles[place], demands[place]) == (idle, demand)


def test_equal_rates_have_no_line() -> None:
    assert np.isnan(fit_line(np.full(4, 5.0), np.arange(4.0), np.ones(4))[1])


def test_a_weighted_median_is_the_middle_of_the_weight() -> None:
    assert weighted_median(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 5.0])) == 9
    assert weighted_median(np.array([4.0, 1.0, 3.0, 2.0]), np.ones(4)) == 2.5
    assert np.isnan(weighted_median(np.array([1.0, 2.0]), np.zeros(2)))


def test_a_deviation_is_not_moved_by_one_point() -> None:
    draw = np.random.default_rng(0)
    apart = np.abs(draw.normal(0, 2, 2_000))
    apart[0] = 1e9
    assert deviation(apart) == pytest.approx(2, rel=0.1)


def test_a_parabola_is_found_with_its_errors() -> None:
    draw = np.random.default_rng(0)
    exact, covariance = fit_curve(RATES, 1 + 0.2 * RATES + 0.003 * RATES**2, EQUAL)
    assert exact == pytest.approx([1, 0.2, 0.003])
    assert np.abs(covariance).max() < 1e-12
    found = [fit_curve(RATES, 0.2 * RATES + draw.normal(0, 1, 7), EQUAL) for _ in range(400)]
    bends = np.array([coefficients[2] for coefficients, _ in found])
    told = np.array([one[2, 2] for _, one in found])
    assert float(bends.var()) == pytest.approx(float(told.mean()), rel=0.2)
