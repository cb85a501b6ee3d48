"""A range in slices is the range as a whole, to the bit of presence and to rounding in values."""

from typing import Any

import numpy as np
import pytest
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql.admission import MemoryPool
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.promql.errors import QueryMemoryError
from loadwatch_backend.series.promql.value import Matrix
from loadwatch_backend.series.store.port import SampleStore

BASE_MS = 1_700_000_400_000
MINUTE = 60_000
AT = BASE_MS + 20 * MINUTE


def _answer(engine: Engine, query: dict[str, Any]) -> Matrix | str:
    try:
        return engine.range(query["text"], query["start"], query["end"], query["step"])
    except ProblemError as error:
        return error.detail


def test_slices_give_what_the_whole_gives(golden: dict[str, Any], golden_store: SampleStore) -> None:
    """Of each expression of the golden file."""
    lookback = golden["lookback_ms"]
    whole = Engine(golden_store, EngineSettings(lookback_ms=lookback))
    sliced = Engine(golden_store, EngineSettings(lookback_ms=lookback, slice_samples=60, slice_cells=9))
    queries = {query["text"]: query for query in golden["queries"] if query["step"]}
    assert len(queries) > 100
    for query in queries.values():
        expected, found = _answer(whole, query), _answer(sliced, query)
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected, query["text"]
            continue
        assert list(found.labels) == list(expected.labels), query["text"]
        np.testing.assert_array_equal(found.present, expected.present, query["text"])
        np.testing.assert_allclose(
            found.values[found.present], expected.values[expected.present], rtol=1e-12, err_msg=query["text"]
        )
    assert whole.memory.used_bytes == sliced.memory.used_bytes == 0


def test_a_query_with_little_memory_takes_smaller_slices(golden: dict[str, Any], golden_store: SampleStore) -> None:
    settings = EngineSettings(lookback_ms=golden["lookback_ms"])
    text = "sum by (job) (rate(requests_total[2m])) / on () group_left () count(temperature)"
    whole = Engine(golden_store, settings).range(text, AT, AT + 10 * MINUTE, 1_000)
    little = MemoryPool(400_000, 200_000)
    found = Engine(golden_store, settings, memory=little).range(text, AT, AT + 10 * MINUTE, 1_000)
    assert list(found.labels) == list(whole.labels)
    np.testing.assert_array_equal(found.present, whole.present)
    np.testing.assert_allclose(found.values[found.present], whole.values[whole.present], rtol=1e-12)
    assert (little.used_bytes, little.refused) == (0, 0)


def test_a_range_takes_its_memory_by_one_ticket(golden_store: SampleStore) -> None:
    """With two of them it would wait for what is kept for itself."""
    memory = MemoryPool(2_000_000, 2_000_000, wait_seconds=0.0)
    assert Engine(golden_store, memory=memory).range("temperature", AT, AT + MINUTE, 1_000).labels
    assert memory.used_bytes == 0


def test_a_result_without_room_is_refused(golden_store: SampleStore) -> None:
    memory = MemoryPool(100_000, 50_000)
    with pytest.raises(QueryMemoryError, match="LOADWATCH_QUERY_MEMORY_BYTES"):
        Engine(golden_store, memory=memory).range("temperature", AT, AT + 10 * MINUTE, 100)
    assert (memory.used_bytes, memory.refused) == (0, 1)
