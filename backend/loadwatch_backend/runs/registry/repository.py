"""Where runs meet the database."""

from collections.abc import Collection, Sequence
from typing import Any

from loadwatch_formats.run_facts import FACTS, FILTERS
from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Row,
    Select,
    String,
    and_,
    bindparam,
    cast,
    delete,
    func,
    or_,
    select,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.schemas import LAST_MILLISECOND
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.documents import Context
from loadwatch_backend.runs.registry.tables import (
    ReviewActionRow,
    RunAnalysisRow,
    RunBaselineRow,
    RunParameterRow,
    RunReviewRow,
    RunRow,
    RunShareRow,
    RunSnapshotRow,
    RunTagRow,
)
from loadwatch_backend.runs.reviews.schemas import ActionState
from loadwatch_backend.runs.schemas import FacetValue, LimitState, RunFacets, RunQuery, RunSort

FACET_LIMIT = 200
MOST_NEWS = 100
_SORT_COLUMNS = {RunSort.STARTED: "started_ms", RunSort.P95: "p95_seconds"}
"""Sort orders that are not named like their column."""


def find_run(session: Session, run_id: str, *, lock: bool = False) -> RunRow:
    """One run; with `lock` nobody else changes it before the transaction ends (SQLite has one writer anyway).

    Raises:
        RunNotFoundError: there is none.
    """
    query = select(RunRow).where(RunRow.id == run_id)
    row = session.scalars(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise RunNotFoundError(f"There is no run {run_id}; it may have been deleted.")
    return row


def has_run(session: Session, run_id: str) -> bool:
    return session.get(RunRow, run_id) is not None


def add_run(session: Session, row: RunRow) -> None:
    session.add(row)
    session.flush()


def keep(session: Session, row: RunAnalysisRow | RunReviewRow | RunSnapshotRow) -> None:
    """Write what belongs to a run, in the place of what is there."""
    session.merge(row)


def delete_run(session: Session, run_id: str) -> None:
    """Delete a run's rows; foreign keys take all that belongs to it.

    Raises:
        RunNotFoundError: there is none.
    """
    found = session.scalar(select(RunRow.id).where(RunRow.id == run_id))
    if found is None:
        raise RunNotFoundError(f"There is no run {run_id}; it may have been deleted.")
    session.execute(delete(RunRow).where(RunRow.id == run_id))


def find_analysis(session: Session, run_id: str) -> RunAnalysisRow | None:
    return session.get(RunAnalysisRow, run_id)


def find_analysed_ms(session: Session, run_id: str) -> int | None:
    return session.scalar(select(RunAnalysisRow.analysed_ms).where(RunAnalysisRow.run_id == run_id))


def find_snapshots(session: Session, run_id: str) -> Sequence[RunSnapshotRow]:
    return session.scalars(select(RunSnapshotRow).where(RunSnapshotRow.run_id == run_id)).all()


def find_taken(session: Session, run_id: str) -> set[str]:
    return set(session.scalars(select(RunSnapshotRow.taken).where(RunSnapshotRow.run_id == run_id)))


def find_spans(session: Session) -> Sequence[Row[str, int, int | None, int, float | None]]:
    """State, start, end, last sign of life and planned seconds of all runs."""
    columns = (RunRow.state, RunRow.started_ms, RunRow.ended_ms, RunRow.seen_ms, RunRow.target_duration_seconds)
    return session.execute(select(*columns)).all()


def find_running(session: Session, now_ms: int) -> Sequence[RunRow]:
    """Runs that nobody has ended, the newest first; no more than 10."""
    return _newest(session, RunRow.started_ms, 10, RunRow.state == RunState.RUNNING, RunRow.started_ms <= now_ms)


def _newest(
    session: Session, by: InstrumentedAttribute[Any], most: int | None, *where: ColumnElement[bool]
) -> Sequence[RunRow]:
    return session.scalars(select(RunRow).where(*where).order_by(by.desc(), RunRow.id.desc()).limit(most)).all()


def find_without_course(session: Session, most: int) -> Sequence[str]:
    """Runs that have ended and were analysed before lists showed the course of p95, the newest first."""
    return session.scalars(
        select(RunRow.id)
        .where(RunRow.p95_sparkline.is_(None), RunRow.state != RunState.RUNNING)
        .order_by(RunRow.started_ms.desc())
        .limit(most)
    ).all()


def find_ended_since(session: Session, after_ms: int) -> Sequence[RunRow]:
    """Runs that were watched and have ended after a time, the newest first."""
    watched = RunRow.state.in_([RunState.FINISHED, RunState.ABORTED])
    return _newest(session, RunRow.ended_ms, None, RunRow.ended_ms > after_ms, watched)


def find_just_ended(session: Session, after_ms: int, now_ms: int) -> RunRow | None:
    found = _newest(session, RunRow.ended_ms, 1, RunRow.ended_ms > after_ms, RunRow.ended_ms <= now_ms)
    return next(iter(found), None)


def find_known(session: Session, run_ids: Collection[str]) -> Sequence[RunRow]:
    return session.scalars(select(RunRow).where(RunRow.id.in_(run_ids))).all() if run_ids else ()


def find_runs(session: Session, wanted: RunQuery) -> tuple[Sequence[RunRow], int]:
    """A page of runs with how many there are on all pages; runs without the figure sorted by come last."""
    conditions = _conditions(wanted)
    total = session.scalar(select(func.count()).select_from(RunRow).where(*conditions)) or 0
    column = getattr(RunRow, _SORT_COLUMNS.get(wanted.sort, wanted.sort.value))
    sorted_by = column.desc() if wanted.descending else column.asc()
    query = select(RunRow).where(*conditions)
    query = query.order_by(column.is_(None), sorted_by, RunRow.started_ms.desc(), RunRow.id)
    return session.scalars(query.limit(wanted.limit).offset(wanted.offset)).all(), total


def _conditions(wanted: RunQuery) -> list[ColumnElement[bool]]:
    conditions = [RunRow.started_ms <= wanted.end_ms]
    conditions.append(func.coalesce(RunRow.ended_ms, LAST_MILLISECOND) >= wanted.start_ms)
    equal = [(getattr(RunRow, name), getattr(wanted, name)) for name in ("state", *(fact.name for fact in FILTERS))]
    conditions += [column == str(value) for column, value in equal if value is not None]
    if wanted.verdict is not None:
        conditions.append(RunRow.verdict.is_(None) if wanted.verdict == "none" else RunRow.verdict == wanted.verdict)
    if wanted.finding in (LimitState.NONE, LimitState.CANNOT_TELL):
        conditions.append(RunRow.limits.startswith(f'{{"state":"{wanted.finding}"'))
    elif wanted.finding is not None:
        conditions.append(RunRow.limits.contains(f'"id":"{wanted.finding}', autoescape=True))
    if wanted.open_actions:
        of_open = select(ReviewActionRow.run_id).where(ReviewActionRow.state == ActionState.OPEN.value)
        conditions.append(RunRow.id.in_(of_open))
    if wanted.commit is not None:
        conditions.append(RunRow.commit.startswith(wanted.commit, autoescape=True))
    conditions += [RunRow.tags.any(RunTagRow.tag == tag) for tag in dict.fromkeys(wanted.tag)]
    conditions += [_has_word(word) for word in wanted.q.split()[:20]]
    return conditions


def _has_word(word: str) -> ColumnElement[bool]:
    columns = (RunRow.name, RunRow.scenario, RunRow.tool, RunRow.commit, RunRow.author, RunRow.branch, RunRow.id)
    parameter = RunParameterRow.name + "=" + RunParameterRow.value
    return or_(
        *(column.icontains(word, autoescape=True) for column in columns),
        RunRow.tags.any(RunTagRow.tag.icontains(word, autoescape=True)),
        RunRow.parameters.any(parameter.icontains(word, autoescape=True)),
    )


def find_of_scenario(session: Session, scenario: str, version: str | None, limit: int) -> Sequence[RunRow]:
    """Ended runs of a scenario in order of their start; the newest ones."""
    where = [RunRow.scenario == scenario, RunRow.state != RunState.RUNNING]
    where += [] if version is None else [RunRow.scenario_version == version]
    return _newest(session, RunRow.started_ms, limit, *where)[::-1]


def find_before(session: Session, row: RunRow, most: int, *where: ColumnElement[bool]) -> Sequence[RunRow]:
    """Runs of the same version of a scenario that ended before this one began, newest first."""
    return _newest(
        session,
        RunRow.ended_ms,
        most,
        RunRow.scenario == row.scenario,
        RunRow.scenario_version == row.scenario_version,
        RunRow.state != RunState.RUNNING,
        RunRow.id != row.id,
        RunRow.ended_ms <= row.started_ms,
        *where,
    )


def find_siblings(session: Session, row: RunRow, most: int) -> Sequence[RunRow]:
    return find_before(session, row, most, RunRow.commit == row.commit)


def find_others(session: Session, row: RunRow, most: int) -> Sequence[RunRow]:
    """All other runs of its scenario, newer ones too, newest first; at most so many. None without a scenario."""
    if not row.scenario:
        return []
    return _newest(session, RunRow.started_ms, most, RunRow.scenario == row.scenario, RunRow.id != row.id)


def contexts(session: Session, rows: Sequence[RunRow]) -> dict[str, Context]:
    """What other tables say of the rows, in three queries however many there are."""
    ids = [row.id for row in rows]
    scenarios = {row.scenario for row in rows}
    pinned = dict(
        session.execute(
            select(RunBaselineRow.scenario, RunBaselineRow.run_id).where(RunBaselineRow.scenario.in_(scenarios))
        ).all()
    )
    snapshots = _those_in(session, select(RunSnapshotRow.run_id).where(RunSnapshotRow.run_id.in_(ids)))
    reviews = _those_in(session, select(RunReviewRow.run_id).where(RunReviewRow.run_id.in_(ids)))
    return {
        row.id: Context(
            baseline=pinned.get(row.scenario), has_snapshots=row.id in snapshots, reviewed=row.id in reviews
        )
        for row in rows
    }


def _those_in(session: Session, query: Select[str]) -> Collection[str]:
    return set(session.scalars(query.distinct()))


def find_facets(session: Session) -> RunFacets:
    """Values in use with how many runs have each, the most frequent first; empty ones left out."""
    columns = {fact.name: getattr(RunRow, fact.name) for fact in FACTS if fact.facet} | _APART
    return RunFacets.model_validate({fact.facet: _facet(session, columns[fact.name]) for fact in FACTS if fact.facet})


_APART = {"tags": RunTagRow.tag, "parameters": RunParameterRow.name}


def _facet(session: Session, column: InstrumentedAttribute[str]) -> list[FacetValue]:
    count = func.count()
    query = select(cast(column, String(200)), count).where(column != "").group_by(column)
    rows = session.execute(query.order_by(count.desc(), column).limit(FACET_LIMIT))
    return [FacetValue(value=value, count=number) for value, number in rows]


def pin(session: Session, scenario: str, run_id: str) -> None:
    session.execute(delete(RunBaselineRow).where(RunBaselineRow.scenario == scenario))
    session.execute(delete(RunBaselineRow).where(RunBaselineRow.run_id == run_id))
    session.add(RunBaselineRow(scenario=scenario, run_id=run_id))


def unpin(session: Session, run_id: str) -> None:
    session.execute(delete(RunBaselineRow).where(RunBaselineRow.run_id == run_id))


def find_baseline(session: Session, scenario: str) -> str | None:
    return session.scalar(select(RunBaselineRow.run_id).where(RunBaselineRow.scenario == scenario))


def count_of(session: Session, table: type[RunReviewRow | RunSnapshotRow | RunShareRow], run_id: str) -> int:
    return session.scalar(select(func.count()).select_from(table).where(table.run_id == run_id)) or 0


def all_tokens(relational: Relational) -> list[tuple[str, str | None]]:
    with relational.transaction() as session:
        return list(session.execute(select(RunRow.id, RunRow.result_token)))


def find_neighbours(session: Session, row: RunRow) -> tuple[int | None, int | None]:
    """End of the last run that ended before this one began, and start of the first that began after its end."""
    previous = select(func.max(RunRow.ended_ms)).where(RunRow.ended_ms <= row.started_ms, RunRow.id != row.id)
    if row.ended_ms is None:
        return session.scalar(previous), None
    following = select(func.min(RunRow.started_ms)).where(RunRow.started_ms >= row.ended_ms, RunRow.id != row.id)
    return session.scalar(previous), session.scalar(following)


# News -----------------------------------------------------------------------------------------------------------------


def _time(name: str) -> BindParameter[int]:
    return bindparam(name, type_=BigInteger)


# Made once: to put them together costs more than to ask them, every two seconds.
_BEGAN = (
    select(RunRow.id)
    .where(RunRow.state == RunState.RUNNING.value, RunRow.created_ms.between(_time("late"), _time("now")))
    .order_by(RunRow.created_ms)
    .limit(MOST_NEWS)
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
    .limit(MOST_NEWS)
)


def find_news(
    session: Session, *, now: int, late: int, waited: int, analysed: int, old: int
) -> tuple[Sequence[str], Sequence[str]]:
    """Ids of runs that have begun since `late`, and of those that have ended since and of which all is known.

    A result file is waited for until `waited` is after the end, and its analysis until `analysed` is; a run that was
    imported is news if it ended after `old`.
    """
    times = {"now": now, "late": late, "waited": waited, "analysed": analysed, "old": old}
    return session.scalars(_BEGAN, times).all(), session.scalars(_ENDED, times).all()
