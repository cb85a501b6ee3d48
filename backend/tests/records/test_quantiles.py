import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.evidence.records.quantiles import quantile, rank, ranks, select

QS = (0.5, 0.9, 0.95, 0.99)


@pytest.mark.parametrize(
    ("count", "q", "expected"),
    [(1, 0.5, 1), (2, 0.5, 1), (3, 0.5, 2), (20, 0.95, 19), (100, 0.99, 99), (101, 0.99, 100)],
)
def test_rank_is_exact_in_decimals(count: int, q: float, expected: int) -> None:
    assert rank(count, q) == expected


def test_ranks_agree_with_rank() -> None:
    for count in (1, 2, 7, 20, 100, 1_000_003):
        assert ranks(count) == [rank(count, q) for q in QS]


def test_quantile_is_a_value_that_was_measured() -> None:
    assert quantile(np.array([1, 2, 3, 1000]), 0.5) == 2
    assert quantile(np.array([1, 2, 3, 1000]), 0.99) == 1000


@given(
    st.lists(st.integers(0, 2**61) | st.integers(0, 50) | st.integers(10**9, 10**9 + 100), min_size=1, max_size=300),
    st.integers(1, 5),
    st.sampled_from([1, 4_000_000]),
)
def test_select_finds_what_sorting_finds(values: list[int], groups: int, gathered: int) -> None:
    array = np.array(values, dtype=np.int64)
    group = (np.arange(len(array)) % (groups + 1) - 1).astype(np.int32)  # -1 belongs to nobody
    counts = np.bincount(group[group >= 0], minlength=groups)
    halves = [(array[:7], group[:7]), (array[7:], group[7:])]
    found = select(lambda: halves, counts, gathered=gathered)
    for at in range(groups):
        mine = np.sort(array[group == at])
        expected = [int(mine[math.ceil(round(q * 100) * len(mine) / 100) - 1]) if len(mine) else -1 for q in QS]
        assert found[at].tolist() == expected


def test_select_of_one_group_without_labels() -> None:
    values = np.random.default_rng(1).integers(0, 10**10, 50_000)
    found = select(lambda: [(values[:20_000], None), (values[20_000:], None)], np.array([50_000]))
    assert found[0].tolist() == [quantile(np.sort(values), q) for q in QS]


def test_millions_of_equal_values_need_no_room() -> None:
    values = np.full(10_000, 2_000_000, dtype=np.int64)
    values[:10] = 7
    found = select(lambda: [(values, None)] * 3, np.array([30_000]), gathered=100)
    assert found[0].tolist() == [2_000_000] * 4
