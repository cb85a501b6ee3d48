from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import Tree, side_by_side, stacks_of, tree_of

from backend.tests.evidence.profiles.folding.test_table import STACKS
from backend.tests.evidence.profiles.made import go, profile
from bench.profiles import large_profile


def shown(tree: Tree) -> dict[str, tuple[list[int], list[int], int]]:
    """Path from the root: total, own, hidden."""
    paths = [""]
    for node in range(1, len(tree)):
        place = int(tree.function[node])
        name = tree.functions[place].name if place >= 0 else "(other)"
        paths.append(f"{paths[int(tree.parent[node])]}/{name}")
    return {
        path: (tree.total[node].tolist(), tree.own[node].tolist(), int(tree.hidden[node]))
        for node, path in enumerate(paths)
    }


def check(tree: Tree, most: int) -> None:
    """What holds of every tree."""
    assert len(tree) <= most
    assert tree.parent[0] == -1
    assert (tree.parent[1:] < np.arange(1, len(tree))).all()
    below = np.zeros_like(tree.total)
    np.add.at(below, tree.parent[1:], tree.total[1:])
    assert (tree.own + below == tree.total).all()
    assert int(tree.hidden.sum()) + len(tree) - int((tree.hidden > 0).sum()) == tree.nodes


def test_stacks_become_a_tree_from_the_root_with_the_largest_first() -> None:
    tree = tree_of(stacks_of(profile([("c;b;a", [1]), ("b;a", [2]), ("d;a", [9]), ("c;b;a", [3]), ("e", [4])])))
    assert shown(tree) == {
        "": ([19], [0], 0),
        "/a": ([15], [0], 0),
        "/e": ([4], [4], 0),
        "/a/d": ([9], [9], 0),
        "/a/b": ([6], [2], 0),
        "/a/b/c": ([4], [4], 0),
    }
    assert list(shown(tree)) == ["", "/a", "/e", "/a/d", "/a/b", "/a/b/c"]


def test_the_small_ones_are_summed_up_where_they_were() -> None:
    stacks: list[tuple[str, Any]] = [(f"small{number};a", [1]) for number in range(10)]
    tree = tree_of(stacks_of(profile([("big;a", [50]), ("deep;small0;a", [2]), *stacks])), most_nodes=4)
    assert shown(tree) == {
        "": ([62], [0], 0),
        "/a": ([62], [0], 0),
        "/a/big": ([50], [50], 0),
        "/a/(other)": ([12], [12], 11),
    }
    assert tree.nodes == 14


def test_the_depth_is_bounded_and_said() -> None:
    tree = tree_of(stacks_of(profile([(";".join(["a"] * 40), [3]), ("a", [1])])), deepest=10)
    assert (len(tree), tree.deeper) == (11, 1)
    assert tree.own[-1].tolist() == [3]
    check(tree, 100)


@given(STACKS, st.integers(min_value=3, max_value=30))
def test_totals_are_the_sum_of_what_is_below(found: list[tuple[str, int]], most: int) -> None:
    tree = tree_of(stacks_of(profile([(stack, [value]) for stack, value in found])), most_nodes=most)
    check(tree, most)
    assert tree.total[0].tolist() == [sum(value for _, value in found)]


def test_a_difference_is_one_tree_with_both_sides() -> None:
    tree = tree_of(side_by_side(profile([("b;a", [5])]), profile([("b;a", [2]), ("c;a", [4])])).stacks)
    assert shown(tree) == {
        "": ([5, 6], [0, 0], 0),
        "/a": ([5, 6], [0, 0], 0),
        "/a/b": ([5, 2], [5, 2], 0),
        "/a/c": ([0, 4], [0, 4], 0),
    }


def test_real_ones_and_a_large_one() -> None:
    for profile_ in (go("00-cpu-now"), go("01-heap-now"), read_profile(large_profile(20_000))):
        whole = tree_of(stacks_of(profile_), most_nodes=10**9)
        check(whole, 10**9)
        check(tree_of(stacks_of(profile_)), 2_000)
        assert whole.total[0].tolist() == profile_.values.sum(axis=0).tolist()
    assert whole.nodes >= 20_000
