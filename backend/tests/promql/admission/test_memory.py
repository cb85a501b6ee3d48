import gc
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from loadwatch_backend.core.cancellation import CancelledError
from loadwatch_backend.series.promql.admission import MemoryPool
from loadwatch_backend.series.promql.errors import QueryBusyError, QueryMemoryError


def test_one_query_has_its_part_and_gives_it_back() -> None:
    pool = MemoryPool(1_000, 400)
    ticket = pool.ticket()
    ticket.take(300)
    with ticket.working(100):
        assert (pool.used_bytes, ticket.room_bytes) == (400, 0)
        with pytest.raises(QueryMemoryError, match="LOADWATCH_QUERY_MEMORY_BYTES"):
            ticket.take(1)
    assert pool.used_bytes == 300
    ticket.close()
    ticket.close()
    assert pool.used_bytes == 0


def test_who_came_later_leaves_room_for_the_oldest() -> None:
    pool = MemoryPool(1_000, 600, wait_seconds=0.01)
    first, second = pool.ticket(), pool.ticket()
    first.take(100)
    second.take(400)
    # 500 of the 600 that the first may have are still to come, and only they are left.
    with pytest.raises(QueryBusyError, match="ask again"):
        second.take(1)
    first.take(500)
    first.close()
    second.take(1)
    second.close()
    assert pool.used_bytes == 0


def test_one_that_only_sends_its_answer_needs_no_room() -> None:
    pool = MemoryPool(1_000, 600, wait_seconds=0.01)
    first, second = pool.ticket(), pool.ticket()
    first.take(100)
    first.settle()
    second.take(600)
    first.close()
    second.close()


def test_waiting_for_memory_ends_when_nobody_wants_the_result() -> None:
    pool = MemoryPool(1_000, 1_000, wait_seconds=600)
    holder, waiter = pool.ticket(), pool.ticket()
    holder.take(1_000)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(waiter.take, 1)
        waiter.cancellation.cancel("gone")
        with pytest.raises(CancelledError, match="gone"):
            waiting.result(120)


def test_what_is_begun_after_the_end_is_cancelled_from_the_start() -> None:
    pool = MemoryPool(1_000, 1_000)
    before = pool.ticket()
    pool.cancel("stopping")
    for ticket in (before, pool.ticket()):
        with pytest.raises(CancelledError, match="stopping"):
            ticket.cancellation.check()


def test_many_that_all_want_the_most_are_all_served() -> None:
    """Each takes its part in four steps; half of all they want is there, so that without an order they would block."""
    pool = MemoryPool(1_200, 400, wait_seconds=120)
    highest = 0
    lock = threading.Lock()

    def query() -> None:
        nonlocal highest
        ticket = pool.ticket()
        for _ in range(4):
            ticket.take(100)
            with lock:
                highest = max(highest, pool.used_bytes)
        ticket.close()

    with ThreadPoolExecutor(8) as threads:
        done, _ = wait([threads.submit(query) for _ in range(200)], timeout=120)
    assert len(done) == 200
    assert all(one.exception() is None for one in done)
    assert pool.used_bytes == 0
    assert highest <= 1_200
    gc.collect()
