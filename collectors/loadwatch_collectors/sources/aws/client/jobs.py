"""One job at a time for each key, all keys side by side; none waits for one that hangs."""

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
class _Job(Generic[_T]):
    thread: threading.Thread | None = None
    result: list[_T] = field(default_factory=list[_T])
    error: BaseException | None = None


class KeyedJobs(Generic[_K, _T]):
    """Runs one job for each key, each in a thread of its own.

    A job that is not over when its poll ends goes on; its key is not started again before it is, and its result comes
    with the poll in which it ends.
    """

    def __init__(self) -> None:
        self._under_way: dict[_K, _Job[_T]] = {}
        self._changed = threading.Condition()

    def start(self, key: _K, job: Callable[[], _T]) -> bool:
        """Start the job of a key; False when its last one is still under way."""
        with self._changed:
            if key in self._under_way:
                return False
            running: _Job[_T] = _Job()
            self._under_way[key] = running
        running.thread = threading.Thread(target=self._run, args=(running, job), name=f"aws-{key}", daemon=True)
        running.thread.start()
        return True

    def gather(self, deadline: float, ailing: Container[_K] = ()) -> dict[_K, _T]:
        """The results of all that is over, at the latest at `deadline` (monotonic); what is not goes on.

        The `ailing` are hardly waited for where there are others, so that these have their results in time.

        Raises:
            Exception: a job's own fault; the first one.
        """
        with self._changed:
            healthy = [running for key, running in self._under_way.items() if key not in ailing]
            self._wait(healthy, deadline)
            patience = min(deadline, time.monotonic() + PATIENCE_SECONDS) if healthy else deadline
            self._wait(list(self._under_way.values()), patience)
            over = {key: running for key, running in self._under_way.items() if _is_over(running)}
            for key in over:
                del self._under_way[key]
        for running in over.values():
            if running.error is not None:
                raise running.error
        return {key: running.result[0] for key, running in over.items()}

    def _wait(self, waited: Sequence[_Job[_T]], deadline: float) -> None:
        while any(not _is_over(running) for running in waited):
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def under_way(self) -> list[_K]:
        """The keys whose job is not over."""
        with self._changed:
            return [key for key, running in self._under_way.items() if not _is_over(running)]

    def _run(self, running: _Job[_T], job: Callable[[], _T]) -> None:
        try:
            result = job()
        except BaseException as error:  # Handed to the thread that gathers; a job must always end.
            with self._changed:
                running.error = error
                self._changed.notify_all()
        else:
            with self._changed:
                running.result.append(result)
                self._changed.notify_all()


def _is_over(running: _Job[_T]) -> bool:
    return bool(running.result) or running.error is not None
