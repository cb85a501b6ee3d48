"""The memory of queries: one budget for many, of which each has a part of its own at most.

What a query takes is reckoned from the shapes of its arrays before they are made, not measured; `COSTS` below are
upper bounds for what numpy, DuckDB and the evaluator were seen to take at their highest.
"""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.promql.errors import QueryBusyError, QueryMemoryError

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
        self._used = 0
        self._changed = threading.Condition()
        self._takers: dict[int, Ticket] = {}
        self._last = 0
        self._cancelled = ""

    @property
    def used_bytes(self) -> int:
        """What all queries hold now."""
        return self._used

    def ticket(self) -> "Ticket":
        """For one query; it has to be closed."""
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
        """See `Ticket.take`."""
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
            self._used += count
            ticket.held_bytes += count

    def _may_take(self, ticket: "Ticket", count: int) -> bool:
        oldest = next(iter(self._takers.values()), ticket)
        needed = 0 if oldest is ticket else max(0, self.query_bytes - oldest.held_bytes)
        return self._used + count + needed <= self.total_bytes

    def give(self, ticket: "Ticket", count: int) -> None:
        """See `Ticket.give`."""
        with self._changed:
            self._used -= count
            ticket.held_bytes -= count
            self._changed.notify_all()

    def settle(self, number: int) -> None:
        """See `Ticket.settle`."""
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
        """What it may still take."""
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
        """Give back what is no longer used."""
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
    def lent(self, count: int) -> Generator[None]:
        """Memory for the time of a block."""
        self.take(count)
        try:
            yield
        finally:
            self.give(count)

    def settle(self) -> None:
        """It will take no more; what it holds it keeps until it is closed."""
        self._pool.settle(self._number)

    def close(self) -> None:
        """Give back everything. Calling it again does nothing."""
        self.give(self.held_bytes)
        self.settle()
