"""How often a server is read, so that reading it costs a thousandth of a core at most."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

REST = 1_000
"""A reading is followed by a pause of so many times the server's part of it."""
LONGEST_PAUSE_SECONDS = 15.0
_READINGS = 10
_T = TypeVar("_T")


class Pace:
    """Measures questions, and says when the next reading is due.

    The server's part is estimated from outside: the time of a reading's questions, less that of the shortest for each
    of them, which is the way there and back. The least of the last readings counts, since a busy machine makes them
    longer and never shorter. It is above the processor's time in any case.
    """

    def __init__(self, every_seconds: float) -> None:
        """`every_seconds` is the least time between two readings."""
        self._every = every_seconds
        self._questions: list[float] = []
        self._took: deque[float] = deque(maxlen=_READINGS)
        self._due = 0.0

    def is_due(self, now: float) -> bool:
        """Whether it is time, `now` by `time.monotonic()`."""
        return now >= self._due

    def ask(self, query: Callable[[str], Sequence[_T]], sql: str) -> Sequence[_T]:
        """The rows, timed."""
        began = time.monotonic()
        rows = query(sql)
        self._questions.append(time.monotonic() - began)
        return rows

    def read(self, began: float) -> None:
        """A reading that began then is over."""
        asked, self._questions = self._questions, []
        if asked:
            self._took.append(sum(asked) - len(asked) * min(asked))
        self._due = began + max(self._every, min(min(self._took, default=0.0) * REST, LONGEST_PAUSE_SECONDS)) - 0.05

    def wait(self, began: float, seconds: float) -> None:
        """Read again after so long."""
        self._questions.clear()
        self._due = began + seconds
