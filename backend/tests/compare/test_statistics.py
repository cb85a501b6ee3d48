"""Against SciPy's own tests on independent values, and against many made runs whose truth is known."""

import math
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from loadwatch_backend.runs.compare.statistics import (
    DIFFERENCE_CONFIDENCE,
    LEAST_SCATTER,
    Between,
    Side,
    autocorrelation_time,
    between_runs,
    compare_sides,
    effective_count,
    from_log,
    relative,
    spread,
    student_quantile,
    student_tail,
    to_log,
    value_interval,
    variance_within,
    weigh,
)
from scipy import stats as scipy_stats

FloatArray = npt.NDArray[np.float64]
stats = cast(Any, scipy_stats)


def white(seed: int, count: int, mean: float = 100.0, deviation: float = 5.0) -> FloatArray:
    return np.random.default_rng(seed).normal(mean, deviation, count)


def red(seed: int, count: int, memory: float, mean: float = 100.0) -> FloatArray:
    """An AR(1) series, whose autocorrelation time is (1 + memory) / (1 - memory)."""
    shocks = np.random.default_rng(seed).normal(0, 1, count + 200)
    values = np.zeros(count + 200)
    for place in range(1, len(values)):
        values[place] = memory * values[place - 1] + shocks[place]
    return mean + values[200:]


def test_the_distributions_are_scipys() -> None:
    assert student_tail(2.5, 4.2) == pytest.approx(stats.t.sf(2.5, 4.2))
    assert student_quantile(0.975, 2) == pytest.approx(stats.t.ppf(0.975, 2))


def test_white_noise_counts_nearly_in_full_and_constants_in_full() -> None:
    assert effective_count(white(1, 600)) > 400
    assert autocorrelation_time(np.full(50, 3.0)) == 1.0
    assert effective_count(np.empty(0)) == 0.0


@pytest.mark.parametrize("memory", [0.5, 0.8, 0.9])
def test_a_series_with_a_memory_counts_as_theory_says(memory: float) -> None:
    times = [autocorrelation_time(red(seed, 2_000, memory)) for seed in range(20)]
    assert np.mean(times) == pytest.approx((1 + memory) / (1 - memory), rel=0.25)


def side(*figures: float, within: float = 0.0) -> Side:
    return Side(logs=np.log(np.array(figures)), within=np.full(len(figures), within))


STATED = between_runs([], 0.15)


def test_the_scatter_within_a_run_covers_the_truth_about_as_often_as_it_says() -> None:
    for memory in (0.0, 0.8):
        series = [red(seed, 300, memory) for seed in range(200)]
        reach = [1.96 * math.sqrt(variance_within(one, 0.0)) for one in series]
        held = np.mean([abs(math.log(one.mean() / 100)) <= far for one, far in zip(series, reach, strict=True)])
        assert held > 0.85


def test_a_few_seconds_tell_nothing() -> None:
    assert math.isnan(variance_within(np.array([1.0, 2.0]), 0.0))
    short = compare_sides(side(1.0, within=math.nan), side(2.0), STATED)
    assert short is not None
    assert (short.low, short.high) == (-math.inf, math.inf)


def test_repeats_are_compared_by_students_test_on_logarithms() -> None:
    base, other = np.array([100.0, 104.0, 98.0]), np.array([120.0, 118.0, 125.0, 121.0])
    found = compare_sides(side(*base), side(*other), STATED)
    assert found is not None
    student = stats.ttest_ind(np.log(other), np.log(base))
    ends = student.confidence_interval(DIFFERENCE_CONFIDENCE)
    assert found.p_value == pytest.approx(float(student.pvalue))
    assert (found.low, found.high) == pytest.approx((float(ends.low), float(ends.high)))


def test_a_single_run_is_widened_by_what_one_run_cannot_know() -> None:
    found = compare_sides(side(100.0), side(143.0), STATED)
    assert found is not None
    half = float(stats.norm.ppf((1 + DIFFERENCE_CONFIDENCE) / 2)) * 0.15 * math.sqrt(2)
    assert found.high - found.log == pytest.approx(half, rel=1e-3)
    assert found.low < 0 < found.high


def test_repeats_of_others_take_the_place_of_the_stated_scatter() -> None:
    repeats = [np.log(np.array([100.0, 101.0, 99.0])), np.log(np.array([50.0, 50.4, 49.7]))]
    between = between_runs(repeats, 0.15)
    assert between.freedom == 4
    assert math.sqrt(between.variance) == pytest.approx(0.0085, abs=0.001)
    found = compare_sides(side(100.0), side(143.0), between)
    assert found is not None
    assert found.low > math.log(1.2)
    few = between_runs(repeats[:1], 0.15)
    assert few.variance == pytest.approx(0.15**2)


def test_repeats_that_happen_to_agree_are_not_taken_for_certainty() -> None:
    found = compare_sides(side(100.0, 100.0, 100.0), side(100.0, 100.0, 100.0), STATED)
    assert found is not None
    assert found.log == 0
    assert found.high > LEAST_SCATTER
    assert between_runs([np.zeros(5)], 0.1).variance == LEAST_SCATTER**2


def test_nothing_is_compared_with_nothing() -> None:
    assert compare_sides(side(), side(1.0), STATED) is None
    assert value_interval(side(), STATED, 0.0) is None


def test_the_interval_of_repeats_is_students_on_logarithms() -> None:
    logs = np.log(np.array([10.0, 12.0, 11.0, 13.0]))
    found = value_interval(Side(logs=logs, within=np.zeros(4)), STATED, 0.0)
    assert found is not None
    low, high = stats.t.interval(0.95, 3, loc=logs.mean(), scale=stats.sem(logs))
    assert (found.low, found.high) == pytest.approx((math.exp(float(low)), math.exp(float(high))))


def test_runs_count_by_the_inverse_of_their_variance() -> None:
    logs, within = np.log(np.array([10.0, 10.1, 9.9, 14.0])), np.array([1e-4, 1e-4, 1e-4, 0.09])
    (weighed,) = weigh([Side(logs=logs, within=within)])
    assert weighed.weights is not None
    assert weighed.weights[3] < 0.05 * weighed.weights[0]
    assert math.exp(weighed.centre) == pytest.approx(10.0, rel=0.02)
    found = value_interval(weighed, STATED, 0.0)
    assert found is not None
    assert found.high < 12
    # Runs of which nothing is known but their figures count the same.
    (alike,) = weigh([Side(logs=logs, within=np.full(4, math.nan))])
    assert alike.weights is not None
    assert np.ptp(alike.weights) == 0


def test_ratios_are_symmetric_and_never_below_minus_one() -> None:
    assert relative(2.0, math.log(2), 0.0) == pytest.approx(1.0)
    assert relative(2.0, -math.log(2), 0.0) == pytest.approx(-0.5)
    assert relative(0.3, -50.0, 0.001) == -1.0
    assert relative(0.3, -math.inf, 0.001) == -math.inf
    assert relative(0.0, 1.0, 0.001) == math.inf
    assert relative(0.0, 0.0, 0.001) == 0.0


def test_a_figure_survives_the_logarithm() -> None:
    for value in (0.0, 0.0004, 3.0):
        assert from_log(float(to_log(np.array([value]), 0.001)[0]), 0.001) == pytest.approx(value)
    assert from_log(float(to_log(np.zeros(3), 0.001).mean()), 0.001) == 0.0, "what rounding leaves is nothing"


def test_a_stated_scatter_is_as_sure_as_the_normal_distribution() -> None:
    known = Between(variance=0.01, freedom=STATED.freedom)
    found = compare_sides(side(1.0), side(1.0), known)
    assert found is not None
    quantile = float(stats.norm.ppf((1 + DIFFERENCE_CONFIDENCE) / 2))
    assert found.high == pytest.approx(quantile * math.sqrt(0.02), rel=1e-4)


def test_spread_is_relative_to_the_mean() -> None:
    assert spread(np.array([90.0, 110.0])) == pytest.approx(0.2)
    assert spread(np.array([90.0])) is None
    assert spread(np.array([-1.0, 1.0])) is None
