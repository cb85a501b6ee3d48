"""How many of all statements are told apart by their text: by the server's own count of what it executed. Pure."""

from collections import deque
from collections.abc import Mapping

WINDOW_MS = 60_000
ENOUGH = 0.95
LEAST_EXECUTED = 100
"""Of fewer statements in a minute no share is complained about."""

STATUSES = tuple(
    """
    Com_select Com_insert Com_insert_select Com_update Com_update_multi Com_delete Com_delete_multi Com_replace
    Com_replace_select Qcache_hits
    """.split()
)
"""What is executed. A prepared statement counts here too, when it is executed (in `Com_stmt_execute` once more, which
must therefore not be added), and so does one within a stored procedure, which no table of digests shows."""
WORDS = frozenset(("select", "insert", "update", "delete", "replace", "with", "values", "table"))
"""First words of statements that those statuses count."""


class Coverage:
    """Counts what was executed and what was told apart.

    Attributes:
        executed, explained: since the collector began.
    """

    def __init__(self) -> None:
        self.executed = 0.0
        self.explained = 0.0
        self._before: Mapping[str, float] | None = None
        self._steps: deque[tuple[int, float, float]] = deque()

    def update(self, now_ms: int, statuses: Mapping[str, float], explained: float) -> None:
        """Count one reading: the statuses as they are, and what was told apart since the last one."""
        if self._before is None:
            self._before = statuses
            return
        executed = 0.0
        for name in STATUSES:
            now, before = statuses.get(name, 0.0), self._before.get(name, 0.0)
            executed += now - before if now >= before else now
        self._before = statuses
        self.executed += executed
        self.explained += explained
        self._steps.append((now_ms, executed, explained))
        while self._steps and now_ms - self._steps[0][0] >= WINDOW_MS:
            self._steps.popleft()

    @property
    def ratio(self) -> float | None:
        """Of the last minute, at most 1; None where nothing was executed."""
        executed = sum(step[1] for step in self._steps)
        return min(sum(step[2] for step in self._steps) / executed, 1.0) if executed > 0 else None

    @property
    def is_low(self) -> bool:
        """Whether so much is missing that the table of statements misleads."""
        ratio = self.ratio
        return ratio is not None and ratio < ENOUGH and sum(step[1] for step in self._steps) >= LEAST_EXECUTED
