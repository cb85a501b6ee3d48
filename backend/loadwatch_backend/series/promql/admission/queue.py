"""The queue of queries: so many at once, the others in turn by user, none for longer than a while.

Waiting costs no thread: it is done on the event loop, and only whose turn it is gets one of the threads that are kept
for queries alone.
"""

import asyncio
import os
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TypeVar

from loadwatch_backend.core.cancellation import CancelledError, ClientGoneError
from loadwatch_backend.series.promql.admission.memory import MemoryPool, Ticket
from loadwatch_backend.series.promql.errors import QueryBusyError

STOPPING = "the server is stopping; ask again in a moment"
GONE = "whoever asked has closed the connection"


class Refusal(StrEnum):
    """Why a query was not answered, apart from what is wrong with it."""

    FULL = "full"
    """Too many of its user's, or of all, were waiting already."""
    WAITED = "waited"
    """Its turn did not come in time."""
    GONE = "gone"
    """Its client closed the connection."""
    STOPPING = "stopping"
    """The server was stopping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings:
    """Limits of one queue."""

    at_once: int
    """Queries that are evaluated at once."""
    wait_seconds: float = 30.0
    """How long one may wait for its turn."""
    most_waiting: int = 1_000
    """Queries that may wait in all."""
    most_waiting_of_user: int = 100
    """Queries of one user that may wait."""


@dataclass(slots=True)
class QueueCounts:
    """What the queue has done since the start; read by /metrics."""

    queries: int = 0
    wait_seconds: float = 0.0
    refused: Counter[Refusal] = field(default_factory=Counter[Refusal])


Result = TypeVar("Result")

Gone = Callable[[], Awaitable[None]]
"""Returns when the client has closed its connection."""


class QueryQueue:
    """For the coroutines of one event loop; counts may be read from any thread."""

    def __init__(self, name: str, settings: QueueSettings, memory: MemoryPool) -> None:
        self.settings = settings
        self.memory = memory
        self.counts = QueueCounts()
        self._running: set[Ticket] = set()
        self._sending: set[Ticket] = set()
        self._used = 0
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._stopping = False
        self._threads = ThreadPoolExecutor(settings.at_once, thread_name_prefix=f"query-{name}")
        self._writers = ThreadPoolExecutor(1, thread_name_prefix=f"answer-{name}")

    @property
    def running(self) -> int:
        """Queries that have their turn."""
        return self._used

    @property
    def waiting(self) -> int:
        """Queries that wait for it."""
        return sum(len(one) for one in list(self._waiting.values()))

    async def run(self, user: str, gone: Gone, work: Callable[[Ticket], Result]) -> tuple[Result, Ticket]:
        """Run `work` in a thread when its turn has come; the ticket, which the caller closes, holds its memory.

        Raises:
            QueryBusyError: there are too many, or too many before it for too long.
            CancelledError: the client has gone, or the server is stopping.
        """
        watch = asyncio.ensure_future(gone())
        try:
            await self._turn(user, watch)
            # From here on the turn is given back by the thread's end, whatever becomes of this coroutine.
            ticket = self.memory.ticket()
            self._running.add(ticket)
            self.counts.queries += 1
            try:
                future = self._threads.submit(work, ticket)
            except BaseException:
                self._end(ticket)
                ticket.close()
                raise
            loop = asyncio.get_running_loop()
            future.add_done_callback(lambda _done: _call(loop, partial(self._end, ticket)))
            return await self._result(future, ticket, watch), ticket
        finally:
            watch.cancel()

    async def next_piece(self, pieces: Iterator[bytes], ticket: Ticket) -> bytes:
        """One more piece of an answer, empty at its end; written in a thread for the ends of all answers.

        Raises:
            CancelledError: the server is stopping, or somebody else ended it.
        """
        ticket.cancellation.check()
        self._sending.add(ticket)
        return await asyncio.get_running_loop().run_in_executor(self._writers, next, pieces, b"")

    def close(self, ticket: Ticket) -> None:
        """The answer has been sent, or never will be."""
        self._sending.discard(ticket)
        ticket.close()

    async def _result(self, future: "Future[Result]", ticket: Ticket, watch: "asyncio.Future[None]") -> Result:
        waiting = asyncio.wrap_future(future)
        # How it ended is known, also where nobody waits for it any more; asyncio would log it as a fault.
        waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await asyncio.wait((waiting, watch), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                ticket.cancellation.cancel(GONE)
                await asyncio.wait((waiting,))
                raise self._refused(Refusal.GONE, GONE)
            return waiting.result()
        except BaseException:
            ticket.cancellation.cancel(GONE)
            # The thread may still be at it: it has the last word on the ticket.
            future.add_done_callback(lambda _done: ticket.close())
            raise

    async def _turn(self, user: str, watch: "asyncio.Future[None]") -> None:
        if self._stopping:
            raise self._refused(Refusal.STOPPING, STOPPING)
        if self._used < self.settings.at_once:
            self._used += 1
            return
        mine = self._waiting.get(user, ())
        if len(mine) >= self.settings.most_waiting_of_user or self.waiting >= self.settings.most_waiting:
            raise self._refused(
                Refusal.FULL,
                f"{len(mine)} queries of yours and {self.waiting} in all are waiting already, and at most"
                f" {self.settings.most_waiting_of_user} and {self.settings.most_waiting} may",
            )
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        began = loop.time()
        try:
            await asyncio.wait((turn, watch), timeout=self.settings.wait_seconds, return_when=asyncio.FIRST_COMPLETED)
            if turn.done():
                turn.result()
                return
            if watch.done():
                raise self._refused(Refusal.GONE, GONE)
            raise self._refused(
                Refusal.WAITED,
                f"{self._used} queries are being answered, as many as may be at once, and this one has waited"
                f" {self.settings.wait_seconds:g} s for its turn; ask again in a moment",
            )
        except BaseException:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._next()
            raise
        finally:
            self.counts.wait_seconds += loop.time() - began
            self._leave(user, turn)

    def _refused(self, reason: Refusal, text: str) -> Exception:
        self.counts.refused[reason] += 1
        match reason:
            case Refusal.GONE:
                return ClientGoneError(text)
            case Refusal.STOPPING:
                return CancelledError(text)
            case _:
                return QueryBusyError(text)

    def _leave(self, user: str, turn: "asyncio.Future[None]") -> None:
        mine = self._waiting.get(user)
        if mine is not None:
            if turn in mine:
                mine.remove(turn)
            if not mine:
                self._waiting.pop(user, None)

    def _end(self, ticket: Ticket) -> None:
        self._running.discard(ticket)
        self._next()

    def _next(self) -> None:
        """Hand a turn on: to the first of the user who has waited longest since their last turn."""
        while self._waiting:
            user, mine = next(iter(self._waiting.items()))
            turn = mine.popleft()
            if mine:
                self._waiting.move_to_end(user)
            else:
                del self._waiting[user]
            if not turn.done():
                turn.set_result(None)
                return
        self._used -= 1

    def stop(self) -> None:
        """End all queries, those that wait and those that run, and take no more. From the event loop."""
        self._stopping = True
        waiting = [turn for mine in self._waiting.values() for turn in mine]
        self._waiting.clear()
        for turn in waiting:
            if not turn.done():
                turn.set_exception(self._refused(Refusal.STOPPING, STOPPING))
        for ticket in (*self._running, *self._sending):
            ticket.cancellation.cancel(STOPPING)
        self._threads.shutdown(wait=False)
        self._writers.shutdown(wait=False)


def _call(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(what)
    except RuntimeError:
        pass  # the loop has ended, and with it whoever waited


def cores() -> int:
    """How many threads of this process can run at once."""
    return len(os.sched_getaffinity(0))
