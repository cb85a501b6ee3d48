"""Blocks behave like a dictionary from (series, time) to value, whatever they were built, merged and cut from."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_backend.series.store.embedded.block import (
    MOST_SERIES,
    Block,
    build_block,
    cut_block,
    drop_before,
    join_cuts,
    merge_blocks,
    series_spans,
)

Row = tuple[int, int, float]
ids = st.integers(0, 6) | st.sampled_from([MOST_SERIES - 1, MOST_SERIES, 2**32 - 1])
rows = st.lists(st.tuples(ids, st.integers(0, 20), st.floats(allow_nan=False)), min_size=1, max_size=40)
histories = st.lists(rows, min_size=1, max_size=6)


def block_of(content: Sequence[Row]) -> Block:
    return build_block(
        np.array([row[0] for row in content], np.uint32),
        np.array([row[1] for row in content], np.int64),
        np.array([row[2] for row in content], np.float64),
    )


def contents(blocks: Sequence[Block], wanted: Sequence[int], start: int, end: int) -> dict[tuple[int, int], float]:
    series = np.array(wanted, np.uint32)
    offsets, times, values = join_cuts([cut_block(block, series, start, end) for block in blocks], len(series))
    found: dict[tuple[int, int], float] = {}
    for place, one in enumerate(wanted):
        part = slice(offsets[place], offsets[place + 1])
        assert (np.diff(times[part]) > 0).all()
        found.update(
            {(one, time): value for time, value in zip(times[part].tolist(), values[part].tolist(), strict=True)}
        )
    assert len(found) == len(times)
    return found


def expected_of(history: Sequence[Sequence[Row]]) -> dict[tuple[int, int], float]:
    return {(series, time): value for content in history for series, time, value in content}


@given(histories, st.integers(0, 20), st.integers(0, 20))
@settings(max_examples=300, deadline=None)
def test_blocks_read_like_a_dictionary(history: list[list[Row]], start: int, end: int) -> None:
    expected = expected_of(history)
    wanted = sorted({series for series, _ in expected} | {3})
    inside = {key: value for key, value in expected.items() if start <= key[1] <= end}
    blocks = [block_of(content) for content in history]
    assert contents(blocks, wanted, start, end) == inside
    merged = blocks[0]
    for block in blocks[1:]:
        merged = merge_blocks(merged, block)
    assert contents([merged], wanted, start, end) == inside
    assert len(merged) == len(expected)
    assert (merged.first_ms, merged.last_ms) == (min(time for _, time in expected), max(time for _, time in expected))


@given(rows, st.integers(0, 21))
@settings(max_examples=200, deadline=None)
def test_a_block_without_its_oldest_samples(content: list[Row], cutoff: int) -> None:
    expected = {key: value for key, value in expected_of([content]).items() if key[1] >= cutoff}
    block = drop_before(block_of(content), cutoff)
    assert (block is None) == (expected == {})
    if block is not None:
        assert contents([block], sorted({series for series, _ in expected}), 0, 20) == expected
        assert block.first_ms == min(time for _, time in expected)


@given(rows)
@settings(max_examples=200, deadline=None)
def test_the_spans_of_the_series_of_a_block(content: list[Row]) -> None:
    block = block_of(content)
    first, last = series_spans(block)
    for series, one_first, one_last in zip(block.series.tolist(), first.tolist(), last.tolist(), strict=True):
        times = [time for one, time, _ in content if one == series]
        assert (one_first, one_last) == (min(times), max(times))


def test_many_series_over_many_blocks() -> None:
    wanted = list(range(200))
    blocks = [block_of([(series, time, float(series + time)) for series in wanted]) for time in (3, 1, 2)]
    found = contents(blocks, wanted, 1, 3)
    assert found == {(series, time): float(series + time) for series in wanted for time in (1, 2, 3)}
