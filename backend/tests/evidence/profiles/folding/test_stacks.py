import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.evidence.profiles.tree import add_up, joined, spread, stacks_of

from backend.tests.evidence.profiles.made import profile


def test_functions_of_one_name_are_one() -> None:
    stacks = stacks_of(profile([("a;b", [1])]))
    both = joined(stacks, stacks_of(profile([("b;c", [2])])))
    assert [one.name for one in both.functions] == ["a", "b", "c"]
    assert both.frames.tolist() == [0, 1, 1, 2]
    assert both.offsets.tolist() == [0, 2, 4]
    assert both.values.tolist() == [[1, 0], [0, 2]]
    assert both.sample_of.tolist() == [0, 0, 1, 1]


def test_nothing_joined_with_nothing() -> None:
    empty = stacks_of(profile([]))
    assert joined(empty, empty).offsets.tolist() == [0]


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 5)), max_size=20))
def test_spread_gives_each_range(ranges: list[tuple[int, int]]) -> None:
    begins = np.array([begin for begin, _ in ranges], np.int64)
    sizes = np.array([size for _, size in ranges], np.int64)
    assert spread(begins, sizes).tolist() == [begin + step for begin, size in ranges for step in range(size)]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-(2**60), 2**60)), max_size=3))
def test_sums_are_exact(found: list[tuple[int, int]]) -> None:
    places = np.array([place for place, _ in found], np.int64)
    values = np.array([value for _, value in found], np.int64).reshape(-1, 1)
    assert add_up(places, values, 5)[:, 0].tolist() == [
        sum(value for place, value in found if place == one) for one in range(5)
    ]
