"""News of runs: which have begun or ended of late. Read from the table, so that a killed server tells them later."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Stillness
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.registry.repository import find_news
from loadwatch_backend.runs.schemas import RunOut

LATE_MS = 900_000
"""Age beyond which an event is not reported any more."""
RESULT_MS = 30_000
"""A result file comes within this time after the end of a run, or there is none."""
ANALYSIS_MS = 120_000
"""How long after the end of a run the analysis of its result is waited for."""
STILL_SECONDS = 5.0
"""Seconds between two looks at the table while nobody writes and there is no news."""
OPEN_MS = 60_000
"""How long an overdue analysis that would tell whether rows are lost is waited for."""
OLD_RUN_MS = 3_600_000
"""A result that is imported later than this after the run's end is history."""


class RunEvent(StrEnum):
    STARTED = "started"
    FINISHED = "finished"


class RunNews(NamedTuple):
    """One event; the verdict of a run that finished is known."""

    event: RunEvent
    run: RunOut


class NewsDesk:
    """Gives each event once in the life of the process, and again after a restart if it is still news."""

    def __init__(self, relational: Relational, registry: Registry, clock: Clock) -> None:
        self._relational = relational
        self._registry = registry
        self._clock = clock
        self._delivered: set[tuple[str, RunEvent]] = set()
        self._still = Stillness(relational, STILL_SECONDS)

    def latest(self) -> Sequence[RunNews]:
        """What there is to tell; `delivered` must follow for each that was."""
        if self._still.holds:
            return []
        written = self._relational.written
        now_ms = self._clock()
        found = self._find(now_ms)
        self._still.note(None if found else written)
        self._delivered &= set(found)
        news: list[RunNews] = []
        for key in found:
            if key not in self._delivered:
                try:
                    run = self._registry.read(key[0])
                except RunNotFoundError:
                    continue
                if key[1] is RunEvent.STARTED or not _is_open(run, now_ms):
                    news.append(RunNews(event=key[1], run=run))
        return news

    def delivered(self, news: RunNews) -> None:
        self._delivered.add((news.run.id, news.event))

    def _find(self, now_ms: int) -> list[tuple[str, RunEvent]]:
        with self._relational.transaction() as session:
            began, ended = find_news(
                session,
                now=now_ms,
                late=now_ms - LATE_MS,
                waited=now_ms - RESULT_MS,
                analysed=now_ms - ANALYSIS_MS,
                old=now_ms - OLD_RUN_MS,
            )
        return [*((id, RunEvent.STARTED) for id in began), *((id, RunEvent.FINISHED) for id in ended)]


def _is_open(run: RunOut, now_ms: int) -> bool:
    again_ms = None if run.reconciliation is None else run.reconciliation.again_ms
    return again_ms is not None and now_ms < again_ms + OPEN_MS
