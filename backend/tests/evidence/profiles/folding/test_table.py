from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.evidence.profiles.tree import Order, ordered, stacks_of, table_of

from backend.tests.evidence.profiles.made import GO, KINDS, profile
from bench.profiles import compared

STACKS = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcdef"), max_size=8).map(";".join), st.integers(min_value=-(2**40), max_value=2**40)
    ),
    max_size=30,
)


@pytest.mark.parametrize("kind", KINDS)
def test_all_tables_are_those_of_go_tool_pprof(kind: str) -> None:
    # The column that is meant; the benchmark compares all.
    found = compared(GO / f"{kind}-base.pb.gz", GO / f"{kind}-now.pb.gz", all_types=False)
    assert [what for what, equal, _ in found if not equal] == []
    assert sum(rows for _, _, rows in found) > 20


def test_a_function_that_calls_itself_counts_once() -> None:
    table = table_of(stacks_of(profile([("fib;fib;main;fib", [5]), ("main", [2]), ("", [1])])))
    assert {one.name: table.cum[place].tolist() for place, one in enumerate(table.functions)} == {
        "fib": [5],
        "main": [7],
    }
    assert table.total == (8,)
    assert int(table.flat.sum()) == 7


@given(STACKS)
def test_what_the_leaves_have_adds_up_to_all_stacks_and_nothing_has_more_in_it_than_there_is(
    found: list[tuple[str, int]],
) -> None:
    made = profile([(stack, [value]) for stack, value in found])
    table = table_of(stacks_of(made))
    assert int(table.flat.sum()) == sum(value for stack, value in found if stack)
    for place, one in enumerate(table.functions):
        assert int(table.cum[place, 0]) == sum(value for stack, value in found if one.name in stack.split(";"))
    assert table.total[0] == sum(abs(value) for _, value in found)


@given(STACKS)
def test_the_order_is_by_size_and_leaves_out_what_is_nothing(found: list[tuple[str, int]]) -> None:
    table = table_of(stacks_of(profile([(stack, [value]) for stack, value in found])))
    flat, cum = table.flat[:, 0], table.cum[:, 0]
    columns: list[tuple[Order, Any]] = [("flat", flat), ("cum", cum)]
    for order, first in columns:
        places = ordered(table, flat, cum, order)
        assert len(places) == int(np.count_nonzero((flat != 0) | (cum != 0)))
        assert all(abs(first[one]) >= abs(first[after]) for one, after in pairwise(places))
