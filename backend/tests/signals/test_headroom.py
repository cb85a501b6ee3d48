import numpy as np
import pytest
from loadwatch_backend.catalogue.signals.headroom import exhaustion_seconds, join_limits, least_squares_slope, state_of

NAN = np.nan


def test_limits_are_joined_by_all_labels_that_both_have():
    used = [{"i": "a", "pool": "x"}, {"i": "b", "pool": "x"}, {"i": "c"}]
    limits = [{"i": "a"}, {"i": "a", "pool": "x"}, {"i": "b", "pool": "y"}, {"j": "z", "__name__": "m"}]
    assert join_limits(used, limits) == [1, 3, 3]
    assert join_limits(used, limits[:3]) == [1, None, None]
    assert join_limits([], limits) == []
    assert join_limits([{}], [{}]) == [0]


def test_a_slope_is_least_squares_and_gaps_do_not_bend_it():
    assert least_squares_slope(np.array([0, 1, 2, 3.0]), 5) == pytest.approx(0.2)
    assert least_squares_slope(np.array([0, NAN, 2, NAN, NAN, 5.0]), 5) == pytest.approx(0.2)
    assert least_squares_slope(np.array([1.0, 3, 2]), 1) == pytest.approx(np.polyfit([0, 1, 2], [1, 3, 2], 1)[0])
    assert least_squares_slope(np.array([NAN, 1, 2.0]), 1) is None


def rising(last: float, slope: float, points: int = 7) -> np.ndarray:
    return last - slope * np.arange(points - 1, -1, -1)


def test_time_to_exhaustion():
    assert exhaustion_seconds(rising(0.7, 0.05), 5) == pytest.approx(30)
    assert exhaustion_seconds(rising(0.7, -0.05), 5) is None
    assert exhaustion_seconds(np.full(7, 0.5), 5) is None
    assert exhaustion_seconds(np.array([0.9, 1.0, 1.1]), 5) == 0.0
    assert exhaustion_seconds(np.array([NAN, NAN, 0.5]), 5) is None


def test_a_forecast_needs_half_of_the_limit_half_a_minute_and_no_more_than_an_hour():
    assert exhaustion_seconds(rising(0.49, 0.05), 5) is None, "less than half is used: an idle pool that begins to work"
    assert exhaustion_seconds(rising(0.7, 0.05, 6), 5) is None, "25 s are no tendency"
    assert exhaustion_seconds(np.array([0.4, *[NAN] * 5, 0.7]), 5) is None, "nor are two points"
    assert exhaustion_seconds(rising(0.7, 0.0005), 5) == pytest.approx(3_000)
    assert exhaustion_seconds(rising(0.7, 0.0004), 5) is None, "beyond an hour"


def test_states():
    assert [state_of(ratio) for ratio in (0.0, 0.79, 0.8, 0.99, 1.0, 1.5)] == [
        "ok",
        "ok",
        "near",
        "near",
        "exhausted",
        "exhausted",
    ]
    assert [state_of(ratio, 0.9) for ratio in (0.89, 0.9, 0.995)] == ["ok", "near", "exhausted"]
