import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.runs.analysis.load import COLUMNS, pooled_bounds

from backend.tests.runs.analysis.building import nearest_rank


@given(
    st.lists(st.lists(st.floats(0, 100), max_size=30), min_size=1, max_size=12),
    st.sampled_from([0.5, 0.75, 0.9, 0.95, 0.99, 1.0]),
)
def test_the_percentile_of_all_requests_lies_within_the_bounds(seconds: list[list[float]], quantile: float):
    latency = np.full((len(seconds), 5), np.nan)
    for row, values in enumerate(seconds):
        if values:
            latency[row] = [nearest_rank(values, column) for column in COLUMNS]
    counts = np.array([len(values) for values in seconds])
    bounds = pooled_bounds(counts, latency, quantile)
    pooled = [value for values in seconds for value in values]
    if not pooled:
        assert bounds is None
        return
    assert bounds is not None
    assert bounds.low <= nearest_rank(pooled, quantile) <= bounds.high
    assert bounds.low <= bounds.middle <= bounds.high


def test_one_second_is_exact_at_its_own_quantiles():
    latency = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    for quantile, value in zip(COLUMNS, latency[0], strict=True):
        bounds = pooled_bounds(np.array([1_000]), latency, quantile)
        assert bounds is not None
        assert (bounds.low, bounds.high) == (value, value)


def test_seconds_that_tell_only_part_of_it_are_left_out():
    latency = np.array([[1.0, 2, 3, 4, 5], [np.nan, 1, 1, 1, 1], [9.0, 9, 9, 9, 9]])
    bounds = pooled_bounds(np.array([1_000, 1_000, 0]), latency, 1.0)
    assert bounds is not None
    assert bounds.high == 5


def test_percentiles_that_contradict_each_other_still_give_a_range():
    bounds = pooled_bounds(np.array([10]), np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]), 1.0)
    assert bounds is not None
    assert bounds.low <= bounds.high
