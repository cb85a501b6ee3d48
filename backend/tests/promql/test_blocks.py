"""Reductions by blocks against the obvious loop."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.series.promql.blocks import may_overflow, reduce_windows, sum_windows, two_sum

from backend.tests.promql.properties import PROPERTY

VALUES = st.lists(st.floats(-1e15, 1e15, allow_nan=False), min_size=1, max_size=70)


def _all_windows(length: int) -> tuple[np.ndarray, np.ndarray]:
    first, end = np.triu_indices(length + 1)
    return first.astype(np.int64), end.astype(np.int64)


@PROPERTY
@given(VALUES)
def test_sums_are_as_exact_as_a_sum_of_fractions(values: list[float]) -> None:
    array = np.array(values)
    first, end = _all_windows(len(values))
    sums = sum_windows(array, first, end)
    for start, stop, found in zip(first.tolist(), end.tolist(), sums.tolist(), strict=True):
        exact = sum((Fraction(value) for value in values[start:stop]), Fraction(0))
        size = sum(abs(value) for value in values[start:stop])
        assert abs(found - float(exact)) <= abs(float(exact)) * 2**-52 + size * 2**-98


def test_a_large_value_does_not_disturb_windows_without_it() -> None:
    values = np.array([1e300, 0.1, 0.2, 0.3])
    assert sum_windows(values, np.array([1]), np.array([4])).tolist() == [math.fsum([0.1, 0.2, 0.3])]


def test_infinities_stay_in_their_windows() -> None:
    values = np.array([1.0, np.inf, 2.0, -np.inf, 3.0])
    with np.errstate(all="ignore"):
        found = sum_windows(values, np.array([0, 0, 2, 1, 4]), np.array([1, 2, 4, 4, 4]))
    np.testing.assert_array_equal(found, [1.0, np.inf, -np.inf, np.nan, 0.0])


@PROPERTY
@given(st.lists(st.one_of(st.floats(allow_nan=True), st.just(math.nan)), min_size=1, max_size=40))
def test_extremes_are_those_of_the_numbers(values: list[float]) -> None:
    first, end = _all_windows(len(values))
    found = reduce_windows(np.array(values), first, end, np.fmax, np.nan)
    for start, stop, most in zip(first.tolist(), end.tolist(), found.tolist(), strict=True):
        numbers = [value for value in values[start:stop] if not math.isnan(value)]
        assert most == max(numbers) if numbers else math.isnan(most)


@PROPERTY
@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_two_sum_loses_nothing(left: float, right: float) -> None:
    total, lost = two_sum(np.array([left]), np.array([right]))
    assert Fraction(total[0]) + Fraction(lost[0]) == Fraction(left) + Fraction(right)


def test_overflow_is_foreseen_among_finite_values_only() -> None:
    assert may_overflow(np.array([1e300, np.inf]), 10**8)
    assert not may_overflow(np.array([1.0, np.inf, np.nan]), 10**8)
    assert not may_overflow(np.empty(0), 0)
