"""News of runs: which have begun or ended of late. Read from the table, so that a killed server tells them later."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import BigInteger, BindParameter, and_, bindparam, or_, select

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.registry.tables import RunAnalysisRow, RunRow
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.store.relational import Relational

LATE_MS = 900_000
"""What could not be told for so long is no news any more."""
RESULT_MS = 30_000
"""A result file comes within this time after the end of a run, or there is none."""
ANALYSIS_MS = 120_000
"""And is read within this time."""
OLD_RUN_MS = 3_600_000
"""A result that is imported later than this after the run's end is history."""
MOST = 100


class RunEvent(StrEnum):
    """What became known of a run."""

    STARTED = "started"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNews:
    """One event; the verdict of a run that finished is known."""

    event: RunEvent
    run: RunOut


class NewsDesk:
    """Gives each event once in the life of the process, and again after a restart if it is still news."""

    def __init__(self, relational: Relational, registry: Registry, clock: Clock) -> None:
        self._relational = relational
        self._registry = registry
        self._clock = clock
        self._told: set[tuple[str, RunEvent]] = set()

    def latest(self) -> Sequence[RunNews]:
        """What there is to tell; `told` must follow for each that was."""
        now_ms = self._clock()
        found = self._find(now_ms)
        self._told &= set(found)
        news: list[RunNews] = []
        for key in found:
            if key not in self._told:
                try:
                    news.append(RunNews(event=key[1], run=self._registry.read(key[0])))
                except RunNotFoundError:
                    continue
        return news

    def told(self, news: RunNews) -> None:
        """It was told."""
        self._told.add((news.run.id, news.event))

    def _find(self, now_ms: int) -> list[tuple[str, RunEvent]]:
        times = {
            "now": now_ms,
            "late": now_ms - LATE_MS,
            "waited": now_ms - RESULT_MS,
            "analysed": now_ms - ANALYSIS_MS,
            "old": now_ms - OLD_RUN_MS,
        }
        with self._relational.transaction() as session:
            return [
                *((id, RunEvent.STARTED) for id in session.scalars(_BEGAN, times)),
                *((id, RunEvent.FINISHED) for id in session.scalars(_ENDED, times)),
            ]


def _time(name: str) -> BindParameter[int]:
    return bindparam(name, type_=BigInteger)


# Made once: to put them together costs more than to ask them, every two seconds.
_BEGAN = (
    select(RunRow.id)
    .where(RunRow.state == RunState.RUNNING.value, RunRow.created_ms.between(_time("late"), _time("now")))
    .order_by(RunRow.created_ms)
    .limit(MOST)
)
_READY = or_(
    and_(RunRow.result_token.is_not(None), RunAnalysisRow.analysed_ms >= RunRow.updated_ms),
    and_(RunRow.result_token.is_(None), RunRow.settled_ms <= _time("waited")),
    RunRow.settled_ms <= _time("analysed"),
)
_IS_NEWS = or_(
    RunRow.state.in_([RunState.FINISHED.value, RunState.ABORTED.value]),
    and_(RunRow.state == RunState.IMPORTED.value, RunRow.ended_ms >= _time("old")),
)
_ENDED = (
    select(RunRow.id)
    .outerjoin(RunAnalysisRow, RunAnalysisRow.run_id == RunRow.id)
    .where(RunRow.settled_ms.between(_time("late"), _time("now")), _READY, _IS_NEWS)
    .order_by(RunRow.settled_ms)
    .limit(MOST)
)
