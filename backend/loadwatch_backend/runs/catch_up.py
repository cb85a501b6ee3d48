"""Runs are analysed again when what could not be told at their end is known, whether or not anybody reads them.

Runs that have settled are then measured by what actions expect of them.

Runs that an older version analysed get what lists show of them since, one by one, while nothing else goes on.
"""

import math
import time
from collections.abc import Callable

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.analysis.reconciliation import LONGEST_DRAIN_MS
from loadwatch_backend.runs.registry.documents import is_silent
from loadwatch_backend.runs.registry.repository import (
    find_analysed_ms,
    find_ended_since,
    find_running,
    find_without_course,
)
from loadwatch_backend.runs.registry.tables import RunRow

DUE_SECONDS = 5.0
DUE_MS = 86_400_000
"""A run that ended longer ago is analysed again when somebody reads it."""
LOOK_SECONDS = 30.0
MOST_CORE = 0.02
"""Share of a core that it may cost: after a large run it waits longer."""
MOST_RUNS = 1_000
"""How many runs are brought up to date by one server before its next start: the newest, which lists show first."""


class CatchUp:
    """Any number of servers may do it: it does what a reader of the run's page sets off."""

    def __init__(
        self,
        relational: Relational,
        analyses: Analyses,
        clock: Clock,
        score: Callable[[], None],
        used: Callable[[], float] = time.thread_time,
    ) -> None:
        """`score` measures runs by actions; `used` gives the CPU time of the present thread, seconds."""
        self._relational = relational
        self._analyses = analyses
        self._clock = clock
        self._score = score
        self._used = used
        self._tried: set[str] = set()
        self._older_in = LOOK_SECONDS

    def turn(self) -> None:
        """Analyse and measure what is due, and bring one older run up to date when that has its turn.

        Raises:
            ProblemError, DatabaseError: the runs or their samples cannot be read.
        """
        self._older_in -= DUE_SECONDS
        self.analyse_due()
        self._score()
        if self._older_in <= 0:
            begun = self._used()
            goes_on = self.tick()
            self._older_in = max(LOOK_SECONDS, (self._used() - begun) / MOST_CORE) if goes_on else math.inf

    def analyse_due(self) -> None:
        """Analyse those again of which more is known by now: by what the database says, so also after a restart."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            due = [row.id for row in find_ended_since(session, now_ms - DUE_MS) if self._is_due(session, row, now_ms)]
        for run_id in due:
            self._analyses.refresh_for_reader(run_id, later=False)

    def _is_due(self, session: Session, row: RunRow, now_ms: int) -> bool:
        analysed_ms = find_analysed_ms(session, row.id)
        ended_ms = row.ended_ms or 0
        if analysed_ms is None or analysed_ms >= ended_ms + LONGEST_DRAIN_MS:
            return False
        is_recent = now_ms < ended_ms + LONGEST_DRAIN_MS
        return (is_recent and self._analyses.is_stale(row, analysed_ms)) or self._analyses.is_due(session, row)

    def tick(self) -> bool:
        """Analyse the newest run that lacks something, once in this server's life; whether there is more to do."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            if any(not is_silent(row, now_ms) for row in find_running(session, now_ms)):
                return True
            found = find_without_course(session, MOST_RUNS)
        waiting = [id for id in found if id not in self._tried]
        if not waiting or len(self._tried) >= MOST_RUNS:
            return False
        if self._analyses.refresh_for_reader(waiting[0], later=False):
            self._tried.add(waiting[0])
        return True
