"""The run that is going on, for what happens meanwhile."""

from sqlalchemy import select

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.runs.documents import is_silent
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.tables import RunRow
from loadwatch_backend.store.relational import Relational


def run_under_way(relational: Relational, clock: Clock) -> tuple[str, str] | None:
    """Id and name of the run that was last begun and is going on; one of which nothing is heard does not count."""
    now_ms = clock()
    with relational.transaction() as session:
        rows = session.scalars(
            select(RunRow)
            .where(RunRow.state == RunState.RUNNING, RunRow.started_ms <= now_ms)
            .order_by(RunRow.started_ms.desc())
            .limit(10)
        ).all()
        return next(((row.id, row.name) for row in rows if not is_silent(row, now_ms)), None)
