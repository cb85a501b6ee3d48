"""Against SciPy's own tests on independent values, and against many made runs whose truth is known."""

import math
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from loadwatch_backend.compare.distributions import normal_tail, student_quantile, student_tail
from loadwatch_backend.compare.statistics import (
    autocorrelation_time,
    block_means,
    compare_repeats,
    compare_seconds,
    effective_count,
    mann_whitney,
    mean_interval,
    repeats_interval,
    spread,
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
    assert normal_tail(1.96) == pytest.approx(stats.norm.sf(1.96))
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


def test_mann_whitney_of_independent_values_is_near_scipys() -> None:
    base, other = white(1, 300), white(2, 280, mean=101.0)
    expected = float(stats.mannwhitneyu(base, other, use_continuity=False, method="asymptotic").pvalue)
    assert mann_whitney(base, other) == pytest.approx(expected, rel=0.5)


def test_mann_whitney_with_ties_is_near_scipys() -> None:
    base, other = np.round(white(1, 400) / 5), np.round(white(2, 400, mean=101.0) / 5)
    expected = float(stats.mannwhitneyu(base, other, use_continuity=False, method="asymptotic").pvalue)
    assert mann_whitney(base, other) == pytest.approx(expected, rel=0.5)
    assert mann_whitney(np.full(5, 1.0), np.full(7, 1.0)) == 1.0


def test_equal_runs_with_a_memory_rarely_look_different() -> None:
    """The uncorrected test calls most of such pairs different; ours must stay near its 5 %."""
    pairs = [(red(seed, 300, 0.9), red(seed + 1_000, 300, 0.9)) for seed in range(200)]
    ours = np.mean([mann_whitney(base, other) < 0.05 for base, other in pairs])
    plain = np.mean([stats.mannwhitneyu(base, other).pvalue < 0.05 for base, other in pairs])
    assert plain > 0.4
    assert ours < 0.12


def test_the_interval_of_a_mean_holds_the_truth_about_as_often_as_it_says() -> None:
    for memory in (0.0, 0.8):
        intervals = [mean_interval(red(seed, 300, memory)) for seed in range(200)]
        held = np.mean([one is not None and one.low <= 100 <= one.high for one in intervals])
        assert held > 0.85


def test_the_difference_of_two_runs_is_found_with_its_size() -> None:
    found = compare_seconds(red(1, 300, 0.5), red(2, 300, 0.5, mean=110.0))
    assert found is not None
    assert found.delta == pytest.approx(0.10, abs=0.01)
    assert found.low < 0.10 < found.high
    assert found.p_value < 0.001


def test_the_same_runs_give_the_same_interval_again() -> None:
    assert compare_seconds(white(1, 100), white(2, 100)) == compare_seconds(white(1, 100), white(2, 100))


def test_a_difference_from_zero_has_a_sign_and_a_certainty_but_no_ratio() -> None:
    for found in (compare_seconds(np.zeros(60), white(1, 60)), compare_repeats(np.zeros(3), np.array([1.0, 1.1, 0.9]))):
        assert found is not None
        assert found.delta == math.inf
        assert found.p_value < 0.05
    both = compare_seconds(np.zeros(60), np.zeros(60))
    assert both is not None
    assert (both.delta, both.p_value) == (0.0, 1.0)
    assert compare_seconds(np.empty(0), white(1, 20)) is None


def test_few_seconds_have_an_open_interval() -> None:
    found = compare_seconds(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    assert found is not None
    assert math.isinf(found.low)
    assert math.isinf(found.high)


def test_repeats_are_compared_by_welchs_test() -> None:
    base, other = np.array([100.0, 104.0, 98.0]), np.array([120.0, 118.0, 125.0, 121.0])
    found = compare_repeats(base, other)
    assert found is not None
    welch = stats.ttest_ind(other, base, equal_var=False)
    assert found.p_value == pytest.approx(float(welch.pvalue))
    ends = welch.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((float(ends.low) / base.mean(), float(ends.high) / base.mean()))


def test_repeats_without_spread() -> None:
    same, other = compare_repeats(np.ones(3), np.ones(3)), compare_repeats(np.ones(3), np.full(3, 2.0))
    assert same is not None
    assert same.p_value == 1.0
    assert other is not None
    assert (other.delta, other.p_value) == (1.0, 0.0)


def test_one_repeat_proves_nothing_between_runs() -> None:
    assert compare_repeats(np.array([1.0]), np.array([2.0, 2.1])) is None
    alone = repeats_interval(np.array([7.0]))
    assert alone is not None
    assert (alone.low, alone.value, alone.high) == (7.0, 7.0, 7.0)
    assert repeats_interval(np.empty(0)) is None


def test_the_interval_of_repeats_is_students() -> None:
    values = np.array([10.0, 12.0, 11.0, 13.0])
    found = repeats_interval(values)
    assert found is not None
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx((float(low), float(high)))


def test_spread_is_relative_to_the_mean() -> None:
    assert spread(np.array([90.0, 110.0])) == pytest.approx(0.2)
    assert spread(np.array([90.0])) is None
    assert spread(np.array([-1.0, 1.0])) is None


def test_blocks_go_round_so_that_every_second_counts_the_same() -> None:
    values = np.zeros(40)
    values[-1] = 40.0
    assert block_means(values, np.random.default_rng(1)).mean() == pytest.approx(1.0, abs=0.15)
