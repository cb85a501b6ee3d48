import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from loadwatch_backend.core.cancellation import CancelledError, ClientGoneError
from loadwatch_backend.series.promql.admission import MemoryPool, QueryQueue, QueueSettings, Refusal, Ticket
from loadwatch_backend.series.promql.errors import QueryBusyError


async def _stays() -> None:
    await asyncio.Event().wait()


def _queue(**settings: Any) -> QueryQueue:
    return QueryQueue("test", QueueSettings(at_once=1, **settings), MemoryPool(1_000, 1_000))


class _Held:
    """Work that goes on until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()

    def __call__(self, ticket: Ticket) -> str:
        ticket.take(10)
        self.begun.set()
        while not self.go.wait(0.01):
            ticket.cancellation.check()
        return "done"


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not holds():
            await asyncio.sleep(0.001)


def _ask(queue: QueryQueue, user: str, order: list[str]) -> Awaitable[None]:
    async def ask() -> None:
        _, ticket = await queue.run(user, _stays, lambda _ticket: order.append(user))
        queue.close(ticket)

    return asyncio.ensure_future(ask())


def test_users_take_turns_however_much_each_asks() -> None:
    async def scene() -> list[str]:
        queue, held, order = _queue(), _Held(), list[str]()
        first = asyncio.ensure_future(queue.run("greedy", _stays, held))
        await _until(held.begun.is_set)
        asked = [_ask(queue, user, order) for user in ("greedy",) * 5 + ("modest",) * 2 + ("single",)]
        await _until(lambda: queue.waiting == 8)
        held.go.set()
        await asyncio.gather(first, *asked)
        assert (queue.running, queue.waiting, queue.counts.queries) == (0, 0, 9)
        (await first)[1].close()
        assert queue.memory.used_bytes == 0
        queue.stop()
        return order

    assert asyncio.run(scene()) == [
        "greedy", "modest", "single", "greedy", "modest", "greedy", "greedy", "greedy",
    ]  # fmt: skip


def test_too_many_and_too_long_are_told_to_come_again() -> None:
    async def scene() -> None:
        queue, held = _queue(wait_seconds=0.05, most_waiting_of_user=1, most_waiting=2), _Held()
        first = asyncio.ensure_future(queue.run("a", _stays, held))
        await _until(held.begun.is_set)
        waits = asyncio.ensure_future(queue.run("a", _stays, held))
        await _until(lambda: queue.waiting == 1)
        with pytest.raises(QueryBusyError, match="1 queries of yours and 1 in all are waiting"):
            await queue.run("a", _stays, held)
        with pytest.raises(QueryBusyError, match="s for its turn"):
            await waits
        assert queue.counts.refused == {Refusal.FULL: 1, Refusal.WAITED: 1}
        held.go.set()
        (await first)[1].close()
        queue.stop()

    asyncio.run(scene())


@pytest.mark.parametrize("runs", [True, False])
def test_a_client_that_goes_frees_its_place(*, runs: bool, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        queue, held, gone = _queue(), _Held(), asyncio.Event()

        async def leaves() -> None:
            await gone.wait()

        async def never() -> None:
            await asyncio.Event().wait()

        first = asyncio.ensure_future(queue.run("a", leaves if runs else never, held))
        await _until(held.begun.is_set)
        second = asyncio.ensure_future(queue.run("b", never if runs else leaves, lambda _ticket: "second"))
        await _until(lambda: queue.waiting == 1)
        gone.set()
        with pytest.raises(ClientGoneError):
            await (first if runs else second)
        if runs:
            assert (await second)[0] == "second"
        else:
            assert queue.waiting == 0
            held.go.set()
            assert (await first)[0] == "done"
        assert queue.counts.refused == {Refusal.GONE: 1}
        await _until(lambda: queue.running == 0)
        for future in (first, second):
            if not future.exception():
                future.result()[1].close()
        assert queue.memory.used_bytes == 0
        queue.stop()

    asyncio.run(scene())
    gc.collect()
    assert not caplog.records, "who goes is no fault to be logged"


def test_the_end_of_the_server_ends_all() -> None:
    async def scene() -> None:
        queue, held = _queue(), _Held()
        asked = [asyncio.ensure_future(queue.run("a", _stays, held)) for _ in range(5)]
        await _until(lambda: held.begun.is_set() and queue.waiting == 4)
        queue.stop()
        for one in asked:
            with pytest.raises(CancelledError, match="stopping"):
                await one
        with pytest.raises(CancelledError, match="stopping"):
            await queue.run("a", _stays, held)
        await _until(lambda: queue.memory.used_bytes == 0)

    asyncio.run(scene())


def test_a_request_that_is_cancelled_gives_its_turn_back() -> None:
    async def scene() -> None:
        queue, held = _queue(), _Held()
        first = asyncio.ensure_future(queue.run("a", _stays, held))
        await _until(held.begun.is_set)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        result, ticket = await queue.run("b", _stays, lambda _ticket: "after")
        assert result == "after"
        ticket.close()
        await _until(lambda: queue.memory.used_bytes == 0)
        queue.stop()

    asyncio.run(scene())
