"""Runs that an older version analysed get what lists show of them since, one by one, while nothing else goes on."""

import threading
import time
from collections.abc import Callable

import structlog

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.registry.documents import is_silent
from loadwatch_backend.runs.registry.repository import find_running, find_without_course
from loadwatch_backend.store.relational import Relational

logger = structlog.get_logger(__name__)

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
        """End, after a run that is being analysed."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        pause: float | None = LOOK_SECONDS
        while pause is not None and not self._stopping.wait(pause):
            begun = self._used()
            try:
                goes_on = self.tick()
            except Exception as error:
                logger.warning("older runs cannot be brought up to date", error=type(error).__name__, detail=str(error))
                goes_on = True
            pause = max(LOOK_SECONDS, (self._used() - begun) / MOST_CORE) if goes_on else None

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
