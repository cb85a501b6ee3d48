import math

import numpy as np
import pytest
from loadwatch_backend.runs.analysis.phases import (
    block_means,
    block_medians,
    fill_gaps,
    rank_correlation,
    relative_change,
    running_median,
    spread,
    trend_score,
)

NAN = math.nan


def test_gaps_are_bridged():
    np.testing.assert_array_equal(fill_gaps(np.array([NAN, 2, NAN, 4, NAN])), [2, 2, 3, 4, 4])
    np.testing.assert_array_equal(fill_gaps(np.array([NAN, NAN])), [0, 0])


def test_a_running_median_forgets_a_spike():
    np.testing.assert_array_equal(running_median(np.array([1.0, 1, 9, 1, 2, 2]), 3), [1, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(running_median(np.array([1.0, 9]), 3), [1, 9])


def test_blocks():
    np.testing.assert_array_equal(block_means(np.arange(7.0), 3), [1, 4])
    np.testing.assert_array_equal(block_means(np.array([2.0, 4]), 3), [3])
    assert block_means(np.empty(0), 3).shape == (0,)
    np.testing.assert_array_equal(block_medians(np.arange(10.0), 3), [1.5, 5.5])
    assert block_medians(np.empty(0), 3).shape == (0,)


def test_the_spread_is_that_of_the_middle():
    values = np.random.default_rng(1).normal(5, 2, 2_000)
    values[:100] = 1e6
    assert spread(values) == pytest.approx(2, rel=0.1)
    assert spread(np.empty(0)) == 0


def test_the_slope_is_theil_sens_and_the_correlation_kendalls():
    values = 10 + 0.1 * np.arange(100) + np.random.default_rng(2).normal(0, 1, 100)
    pairs = [(first, second) for first in range(100) for second in range(first + 1, 100)]
    slopes = [(values[second] - values[first]) / (second - first) for first, second in pairs]
    assert relative_change(values) == pytest.approx(np.median(slopes) * 99 / np.median(values))
    assert rank_correlation(values) == pytest.approx(np.mean(np.sign(slopes)))
    assert trend_score(values) > 3
    assert abs(trend_score(np.random.default_rng(3).normal(0, 1, 100))) < 3


def test_too_little_says_nothing():
    for values in (np.empty(0), np.array([1.0]), np.array([1.0, 2.0])):
        assert (relative_change(values), rank_correlation(values), trend_score(values)) == (0, 0, 0)
    assert (relative_change(np.zeros(9)), rank_correlation(np.zeros(9)), trend_score(np.zeros(9))) == (0, 0, 0)
