"""Runs are analysed again when what could not be told at their end is known, whether or not anybody reads them.

Runs that an older version analysed get what lists show of them since, one by one, while nothing else goes on.
"""

import math
import threading
import time
from collections.abc import Callable

import structlog

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.runs.analyses import CLOSE_SECONDS, Analyses
from loadwatch_backend.runs.analysis.reconciliation import LONGEST_DRAIN_MS
from loadwatch_backend.runs.registry.documents import is_silent
from loadwatch_backend.runs.registry.repository import (
    find_analysed_ms,
    find_ended_since,
    find_running,
    find_without_course,
)
from loadwatch_backend.runs.registry.tables import RunRow
from loadwatch_backend.store.relational import Relational, Session

logger = structlog.get_logger(__name__)

DUE_SECONDS = 5.0
DUE_MS = 86_400_000
"""A run that ended longer ago is analysed again when somebody reads it."""
LOOK_SECONDS = 30.0
MOST_CORE = 0.02
"""Share of a core that it may cost: after a large run it waits longer."""
MOST_RUNS = 1_000
"""How many runs are brought up to date by one server before its next start: the newest, which lists show first."""


class CatchUp:
    """A thread of its own. Any number of servers may do it: it does what a reader of the run's page sets off."""

    def __init__(
        self, relational: Relational, analyses: Analyses, clock: Clock, used: Callable[[], float] = time.thread_time
    ) -> None:
        """`used` tells the CPU time of the present thread, seconds."""
        self._relational = relational
        self._analyses = analyses
        self._clock = clock
        self._used = used
        self._tried: set[str] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="run-catch-up", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End, after a run that is being analysed if that is soon."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        older_in = LOOK_SECONDS
        while not self._stopping.wait(DUE_SECONDS):
            older_in -= DUE_SECONDS
            try:
                self.analyse_due()
                if older_in <= 0:
                    begun = self._used()
                    goes_on = self.tick()
                    older_in = max(LOOK_SECONDS, (self._used() - begun) / MOST_CORE) if goes_on else math.inf
            except Exception as error:
                logger.warning("runs cannot be analysed again", error=type(error).__name__, detail=str(error))

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
