"""Which query may begin, and how much memory it may take.

What a query takes is reckoned from the shapes of its arrays before they are made, not measured; `COSTS` below are
upper bounds for what numpy, DuckDB and the evaluator were seen to take at their highest.

Waiting costs no thread: it is done on the event loop, and only whose turn it is gets one of the threads that are kept
for queries alone.
"""

import asyncio
import os
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TypeVar, cast

from loadwatch_backend.core.cancellation import Cancellation, CancelledError, ClientGoneError
from loadwatch_backend.series.promql.errors import QueryBusyError, QueryMemoryError
from loadwatch_backend.series.store.levels import MINUTE_SAMPLES, Level, Span
from loadwatch_backend.series.store.port import LevelledSelect, Matcher, Select, Selection

MEBIBYTE = 1 << 20

READ_BYTES = 110
"""A sample while it is read: from DuckDB's result over sorted keys to the columns."""
SAMPLE_BYTES = 42
"""A sample that was read: time, value, the key that look-ups search in, and a copy without stale markers."""
CELL_BYTES = 9
"""A value of a vector at one step, and whether it is there."""
WORK_BYTES = 160
"""A cell while an operation makes it: the widest are rates, with their rows, times and differences."""
LABELS_BYTES = 700
"""A label set of an operation's result: a dictionary of some labels, and what groups are found by."""

_LOOK_SECONDS = 0.2
"""How often one that waits for memory looks whether it is still wanted."""


class MemoryPool:
    """Bytes that any number of queries share; safe to use from any thread.

    Deadlock is impossible, because there is always room enough for the oldest query to reach its own maximum: all
    others wait before they would take of that (the banker's algorithm, with age as the order).
    """

    def __init__(self, total_bytes: int, query_bytes: int, wait_seconds: float = 30.0) -> None:
        self.total_bytes = total_bytes
        self.query_bytes = min(query_bytes, total_bytes)
        self.refused = 0
        """Queries that failed because they needed more than one may have, even in the smallest slices."""
        self._wait_seconds = wait_seconds
        self.used_bytes = 0
        self._changed = threading.Condition()
        self._takers: dict[int, Ticket] = {}
        self._last = 0
        self._cancelled = ""

    def ticket(self) -> "Ticket":
        """Opens a ticket for one query; the caller has to close it."""
        with self._changed:
            self._last += 1
            ticket = self._takers[self._last] = Ticket(self, self._last)
            if self._cancelled:
                ticket.cancellation.cancel(self._cancelled)
        return ticket

    def cancel(self, reason: str) -> None:
        """End all queries, and those to come."""
        with self._changed:
            self._cancelled = reason
            for ticket in self._takers.values():
                ticket.cancellation.cancel(reason)

    def take(self, ticket: "Ticket", count: int) -> None:
        if ticket.held_bytes + count > self.query_bytes:
            raise QueryMemoryError(
                f"the query needs more than the {self.query_bytes // MEBIBYTE} MiB of memory that one query may have:"
                " ask for fewer series, a shorter range or a larger step, or raise LOADWATCH_QUERY_MEMORY_BYTES, of"
                " which a query may have a quarter at most"
            )
        deadline = time.monotonic() + self._wait_seconds
        with self._changed:
            while not self._may_take(ticket, count):
                ticket.cancellation.check()
                if time.monotonic() > deadline:
                    raise QueryBusyError(
                        f"other queries hold the {self.total_bytes // MEBIBYTE} MiB that all may have together"
                        " (LOADWATCH_QUERY_MEMORY_BYTES); ask again in a moment"
                    )
                self._changed.wait(_LOOK_SECONDS)
            self.used_bytes += count
            ticket.held_bytes += count

    def _may_take(self, ticket: "Ticket", count: int) -> bool:
        oldest = next(iter(self._takers.values()), ticket)
        needed = 0 if oldest is ticket else max(0, self.query_bytes - oldest.held_bytes)
        return self.used_bytes + count + needed <= self.total_bytes

    def give(self, ticket: "Ticket", count: int) -> None:
        with self._changed:
            self.used_bytes -= count
            ticket.held_bytes -= count
            self._changed.notify_all()

    def settle(self, number: int) -> None:
        with self._changed:
            self._takers.pop(number, None)
            self._changed.notify_all()


class Ticket:
    """What one query holds, and whether it is still wanted. For one thread at a time, `cancellation` for any."""

    def __init__(self, pool: MemoryPool, number: int) -> None:
        self._pool = pool
        self._number = number
        self.held_bytes = 0
        self.cancellation = Cancellation()

    @property
    def room_bytes(self) -> int:
        return self._pool.query_bytes - self.held_bytes

    def take(self, count: int) -> None:
        """Take memory before it is used, waiting for others to give some back where need be.

        Raises:
            QueryMemoryError: it would be more than one query may have.
            QueryBusyError: others hold it, and have not given it back for too long.
            CancelledError: nobody wants the result any more.
        """
        self._pool.take(self, count)

    def give(self, count: int) -> None:
        self._pool.give(self, count)

    @contextmanager
    def counting(self) -> Generator[None]:
        """Counts a query that fails for want of memory."""
        try:
            yield
        except QueryMemoryError:
            self._pool.refused += 1
            raise

    @contextmanager
    def working(self, count: int) -> Generator[None]:
        """Takes memory for a block, and gives it back at its end with what was taken within."""
        before = self.held_bytes
        try:
            self.take(count)
            yield
        finally:
            self.give(self.held_bytes - before)

    def settle(self) -> None:
        """It will take no more; what it holds it keeps until it is closed."""
        self._pool.settle(self._number)

    def close(self) -> None:
        """Give back everything. Calling it again does nothing."""
        self.give(self.held_bytes)
        self.settle()


STOPPING = "the server is stopping; ask again in a moment"
GONE = "whoever asked has closed the connection"


class Refusal(StrEnum):
    FULL = "full"
    """Too many of its user's, or of all, were waiting already."""
    WAITED = "waited"
    """Its turn did not come in time."""
    GONE = "gone"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings:
    at_once: int
    wait_seconds: float = 30.0
    most_waiting: int = 1_000
    most_waiting_of_user: int = 100


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
        return self._used

    @property
    def waiting(self) -> int:
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
        """Must be called once the answer has been sent, or never will be."""
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
                f"as many queries as may be at once ({self._used}) are being answered, and this one has waited"
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
        kinds = {Refusal.GONE: ClientGoneError, Refusal.STOPPING: CancelledError}
        return kinds.get(reason, QueryBusyError)(text)

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
    return len(os.sched_getaffinity(0))


API_SHARE, PAGES_SHARE, SERVER_SHARE, RULES_SHARE = 4, 1, 1, 2
"""Shares of the memory of all queries, in eighths."""


class Queries:
    """All queues and budgets of one server.

    - `api`: the Prometheus API. Whoever storms it waits for nobody but others there.
    - `exports`: samples out again, which takes long: in threads of its own, out of the memory of the API.
    - `pages`: signals and headroom, so that a page goes on while the API is busy.
    - `server`: what the server asks for an answer of another kind: runs, comparisons, reports. Without a queue.
    - `rules`: has memory of its own and waits for nobody.

    `at_once` queries of the API at once; 0 is one for each core.
    """

    def __init__(self, *, memory_bytes: int, at_once: int = 0, wait_seconds: float = 30) -> None:
        def pool(share: int) -> MemoryPool:
            part = memory_bytes * share // 8
            # What the oldest may still take is kept for it: were that all there is, whoever asks while it asks for
            # another (a rule whose text asks a query) would wait for itself.
            return MemoryPool(part, min(memory_bytes // 4, part // 2), wait_seconds)

        threads = at_once or cores()
        self.api = QueryQueue("api", QueueSettings(at_once=threads, wait_seconds=wait_seconds), pool(API_SHARE))
        self.exports = QueryQueue("export", QueueSettings(at_once=1, wait_seconds=wait_seconds), self.api.memory)
        self.pages = QueryQueue(
            "page", QueueSettings(at_once=max(1, threads // 2), wait_seconds=wait_seconds), pool(PAGES_SHARE)
        )
        self.server = pool(SERVER_SHARE)
        self.rules = pool(RULES_SHARE)

    @property
    def queues(self) -> Mapping[str, QueryQueue]:
        return {"api": self.api, "exports": self.exports, "pages": self.pages}

    @property
    def memory(self) -> Mapping[str, MemoryPool]:
        return {"api": self.api.memory, "pages": self.pages.memory, "server": self.server, "rules": self.rules}

    def stop(self) -> None:
        """End all queries but those of rules, which end with their evaluator. From the event loop."""
        self.api.stop()
        self.exports.stop()
        self.pages.stop()
        self.server.cancel(STOPPING)


class SliceTooLargeError(QueryMemoryError):
    """More samples than a slice may have; `found` of them at least."""

    def __init__(self, found: int) -> None:
        super().__init__(
            f"a single step of the query reads {found} samples or more, for which a query has not memory enough:"
            " ask for fewer series or a shorter range, or raise LOADWATCH_QUERY_MEMORY_BYTES"
        )
        self.found = found


@dataclass(slots=True)
class SliceReading:
    """What a slice may read: `loadwatch_backend.series.store.port.Reading`."""

    ticket: Ticket
    most_samples: int

    @property
    def cancellation(self) -> Cancellation:
        return self.ticket.cancellation

    def reserve(self, samples: int) -> None:
        if samples > self.most_samples:
            raise SliceTooLargeError(samples)
        self.ticket.take(samples * READ_BYTES)


def read_within(
    ticket: Ticket, most_samples: int, read: Callable[[SliceReading], Sequence[Selection]]
) -> Sequence[Selection]:
    """Selections for which the ticket has taken memory.

    Raises:
        SliceTooLargeError: there are more than `most_samples`.
        QueryMemoryError, QueryBusyError, CancelledError: see `Ticket.take`.
    """
    before = ticket.held_bytes
    try:
        selections = read(SliceReading(ticket, most_samples))
    except BaseException:
        ticket.give(ticket.held_bytes - before)
        raise
    kept = sum(
        len(one.timestamps) * SAMPLE_BYTES * (1 if one.minutes is None else MINUTE_SAMPLES)
        + len(one.labels) * LABELS_BYTES
        for one in selections
    )
    rest = ticket.held_bytes - before - kept
    if rest >= 0:
        ticket.give(rest)
    else:
        ticket.take(-rest)
    return selections


def select_within(
    select: Select, ticket: Ticket, most_samples: int, source: tuple[Sequence[Matcher], Level], span: Span
) -> Selection:
    """`select` at a level, within memory that the ticket takes; raises as `read_within`."""
    matchers, level = source
    # Stores without rollups know of no level, and are asked for none.
    levelled = cast("LevelledSelect", select)
    more = () if level is Level.RAW else (level,)
    (selection,) = read_within(ticket, most_samples, lambda reading: [levelled(matchers, *span, reading, *more)])
    return selection
