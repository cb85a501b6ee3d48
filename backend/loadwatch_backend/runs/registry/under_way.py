"""The runs that go on, for what happens meanwhile."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.documents import end_of, is_silent
from loadwatch_backend.runs.registry.repository import find_just_ended, find_known, find_running

LATELY_MS = 3_600_000


class UnderWay(NamedTuple):
    id: str
    started_ms: int
    planned_seconds: float | None


def runs_under_way(relational: Relational, clock: Clock) -> Sequence[UnderWay]:
    """The runs that go on, the newest first; one of which nothing is heard does not."""
    now_ms = clock()
    with relational.transaction() as session:
        return [
            UnderWay(id=row.id, started_ms=row.started_ms, planned_seconds=row.target_duration_seconds)
            for row in find_running(session, now_ms)
            if not is_silent(row, now_ms)
        ]


class RunFacts(NamedTuple):
    """A run; `ended_ms` is None while it goes on, or its last sign of life where it fell silent."""

    title: str
    started_ms: int
    ended_ms: int | None
    finished: bool


def read_runs(relational: Relational, clock: Clock, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
    """The runs that go on, and those of `run_ids` that are known, by id."""
    now_ms = clock()
    with relational.transaction() as session:
        rows = {row.id: row for row in (*find_running(session, now_ms), *find_known(session, run_ids))}
        return {
            id: RunFacts(
                title=row.name or row.scenario or row.tool or id,
                started_ms=row.started_ms,
                ended_ms=end_of(row, now_ms) if row.state != RunState.RUNNING or is_silent(row, now_ms) else None,
                finished=row.state != RunState.RUNNING,
            )
            for id, row in rows.items()
        }


def latest_began_ms(relational: Relational, clock: Clock) -> int | None:
    """Earliest start of the runs under way, else the latest of those that just ended or fell silent."""
    now_ms = clock()
    with relational.transaction() as session:
        running = find_running(session, now_ms)
        going_on = [row.started_ms for row in running if not is_silent(row, now_ms)]
        if going_on:
            return min(going_on)
        last = find_just_ended(session, now_ms - LATELY_MS, now_ms)
        return max((row.started_ms for row in (*running, last) if row is not None), default=None)
