"""The run that is going on, or has just ended, for what happens meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.runs.registry.documents import is_silent
from loadwatch_backend.runs.registry.repository import find_ends, find_just_ended, find_running
from loadwatch_backend.store.relational import Relational

AFTERMATH_MS = 300_000
"""What a load leaves behind (a backlog, rows that are lost, a writer that hangs) shows within minutes of its end."""
LATELY_MS = 3_600_000


def ends_of(relational: Relational, run_ids: Sequence[str]) -> Mapping[str, int]:
    """When runs ended, by id; nothing of those that go on, or that are not known."""
    with relational.transaction() as session:
        return find_ends(session, run_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """A run that goes on; `planned_seconds` is what was said beforehand of its duration."""

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


def run_under_way(relational: Relational, clock: Clock) -> tuple[str, str] | None:
    """Id and name of the run that was last begun and is going on, else of the one that ended within `AFTERMATH_MS`.

    A run of which nothing is heard does not go on.
    """
    now_ms = clock()
    with relational.transaction() as session:
        going_on = next((row for row in find_running(session, now_ms) if not is_silent(row, now_ms)), None)
        found = going_on or find_just_ended(session, now_ms - AFTERMATH_MS, now_ms)
        return None if found is None else (found.id, found.name)


def latest_began_ms(relational: Relational, clock: Clock) -> int | None:
    """When the first of the runs began that are going on, else the last one that ended or fell silent; else None."""
    now_ms = clock()
    with relational.transaction() as session:
        running = find_running(session, now_ms)
        going_on = [row.started_ms for row in running if not is_silent(row, now_ms)]
        if going_on:
            return min(going_on)
        last = find_just_ended(session, now_ms - LATELY_MS, now_ms)
        return max((row.started_ms for row in (*running, last) if row is not None), default=None)
