"""One flight at a time for each place, all places side by side; none waits for a place that hangs."""

import threading
import time
from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")


PATIENCE_SECONDS = 2.0
"""How long is waited for those that are not waited for."""


@dataclass(slots=True, eq=False)
class _Flight(Generic[_T]):
    thread: threading.Thread | None = None
    result: list[_T] = field(default_factory=list[_T])
    error: BaseException | None = None


class Flights(Generic[_K, _T]):
    """Runs one job for each key, each in a thread of its own.

    A job that is not over when its poll ends goes on; its key is not started again before it is, and its result comes
    with the poll in which it ends.
    """

    def __init__(self) -> None:
        self._under_way: dict[_K, _Flight[_T]] = {}
        self._changed = threading.Condition()

    def start(self, key: _K, job: Callable[[], _T]) -> bool:
        """Start the job of a key; False when its last one is still under way."""
        with self._changed:
            if key in self._under_way:
                return False
            flight: _Flight[_T] = _Flight()
            self._under_way[key] = flight
        flight.thread = threading.Thread(target=self._run, args=(flight, job), name=f"aws-{key}", daemon=True)
        flight.thread.start()
        return True

    def gather(self, deadline: float, ailing: Container[_K] = ()) -> dict[_K, _T]:
        """The results of all that is over, at the latest at `deadline` (monotonic); what is not goes on.

        The `ailing` are hardly waited for where there are others, so that these have their results in time.

        Raises:
            Exception: a job's own fault; the first one.
        """
        with self._changed:
            healthy = [flight for key, flight in self._under_way.items() if key not in ailing]
            self._wait(healthy, deadline)
            patience = min(deadline, time.monotonic() + PATIENCE_SECONDS) if healthy else deadline
            self._wait(list(self._under_way.values()), patience)
            over = {key: flight for key, flight in self._under_way.items() if _is_over(flight)}
            for key in over:
                del self._under_way[key]
        for flight in over.values():
            if flight.error is not None:
                raise flight.error
        return {key: flight.result[0] for key, flight in over.items()}

    def _wait(self, flights: Sequence[_Flight[_T]], deadline: float) -> None:
        while any(not _is_over(flight) for flight in flights):
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def under_way(self) -> list[_K]:
        """The keys whose job is not over."""
        with self._changed:
            return [key for key, flight in self._under_way.items() if not _is_over(flight)]

    def _run(self, flight: _Flight[_T], job: Callable[[], _T]) -> None:
        try:
            result = job()
        except BaseException as error:  # Handed to the thread that gathers; a flight must always end.
            with self._changed:
                flight.error = error
                self._changed.notify_all()
        else:
            with self._changed:
                flight.result.append(result)
                self._changed.notify_all()


def _is_over(flight: _Flight[_T]) -> bool:
    return bool(flight.result) or flight.error is not None
