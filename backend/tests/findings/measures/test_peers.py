"""Who is far from its equals, and that no one is where they do not agree."""

import numpy as np
from loadwatch_backend.findings.measures.peers import Peers, far_above, peers

from backend.tests.findings.windows import window


def test_one_that_is_far_from_all_others_is_found() -> None:
    assert np.flatnonzero(far_above(np.array([1.0, 1.2, 0.9, 9.0]), 0.5)).tolist() == [3]


def test_scattered_levels_and_half_of_them_are_not() -> None:
    assert not far_above(np.array([1.0, 4.0, 8.0, 12.0]), 0.5).any()
    assert not far_above(np.array([0.0, 0.0, 9.0, 9.0]), 0.5).any()


def test_below_the_floor_nothing_is_far() -> None:
    assert not far_above(np.array([0.0, 0.0, 0.0, 0.4]), 0.5).any()


def test_three_that_are_known_in_half_of_the_time_are_peers() -> None:
    seen = window({})
    one = np.full(seen.grid.count, 1.0)
    silent = np.full(seen.grid.count, np.nan)
    assert peers(seen, "app", {"a": one, "b": one, "c": silent}) is None
    group = peers(seen, "app", {"c": one, "a": one, "b": one, "d": silent})
    assert group is not None
    assert group.instances == ["a", "b", "c"]


def test_the_others_need_two_that_are_known() -> None:
    values = np.array([[9.0, 9.0], [1.0, 1.0], [3.0, np.nan]])
    others = Peers(job="app", instances=["a", "b", "c"], values=values).others(0)
    assert others[0] == 2.0
    assert np.isnan(others[1])
