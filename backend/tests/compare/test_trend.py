import numpy as np
from loadwatch_backend.runs.compare.service import find_changes


def test_a_new_level_is_found_where_it_begins() -> None:
    noise = np.random.default_rng(4).normal(0, 8, 24)
    values = np.concatenate([np.full(12, 600.0), np.full(12, 900.0)]) + noise
    (change,) = find_changes(values.tolist())
    assert change.index == 12
    assert abs(change.before - 600) < 10
    assert abs(change.after - 900) < 10
    assert change.p_value < 0.01


def test_three_runs_on_each_side_are_enough_for_a_large_step() -> None:
    (change,) = find_changes([100.0, 101.0, 99.0, 200.0, 201.0, 199.0])
    assert change.index == 3


def test_noise_has_no_level() -> None:
    assert find_changes(np.random.default_rng(2).normal(500, 10, 30).tolist()) == []
    assert find_changes([5.0] * 12) == []


def test_too_few_runs_tell_nothing() -> None:
    assert find_changes([100.0, 200.0, 300.0]) == []
    assert find_changes([]) == []
