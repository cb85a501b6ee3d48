"""Whoever asks while a query of its own is open is never kept waiting by that one."""

import pytest
from loadwatch_backend.series.promql.admission import Queries

QUERIES = Queries(memory_bytes=64 << 20, at_once=2, wait_seconds=0.0)


@pytest.mark.parametrize("name", QUERIES.memory)
def test_a_query_within_a_query_has_room(name: str) -> None:
    pool = QUERIES.memory[name]
    outer, inner = pool.ticket(), pool.ticket()
    try:
        outer.take(1_000)
        inner.take(pool.query_bytes)
        outer.take(pool.query_bytes - 1_000)
    finally:
        inner.close()
        outer.close()
    assert pool.used_bytes == 0
