"""Where reading alerts, and what people say to them, meets the database."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import (
    ColumnElement,
    Executable,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session, aliased

from loadwatch_backend.alerting.alerts.evaluation.explain import TrackedAlert, source_key
from loadwatch_backend.alerting.alerts.history.incidents import Acknowledged, Joining, UnderWay, ids_of
from loadwatch_backend.alerting.alerts.history.tables import EpisodeRow, EvaluationRow, RequestRow, TransitionRow
from loadwatch_backend.alerting.alerts.schemas import AlertState
from loadwatch_backend.alerting.notify.groups.repository import chunks
from loadwatch_backend.alerting.rules.model import SourceKey

OPEN = (str(AlertState.PENDING), str(AlertState.FIRING))
UPDATED_AT_ONCE = 200
PRUNED_AT_ONCE = 1_000

_TRANSITIONS: Any = TransitionRow.__table__
_EPISODES: Any = EpisodeRow.__table__
_EVALUATIONS: Any = EvaluationRow.__table__
_NOTE_EVALUATION = update(_EVALUATIONS).where(_EVALUATIONS.c.id == 1).values(evaluated_ms=bindparam("at_ms"))
_REQUESTS = select(RequestRow.id, RequestRow.alert_id, RequestRow.asked_by)
"""Built once: it is executed each second, and building it costs more than executing it."""


class Request(NamedTuple):
    id: int
    alert_id: str
    asked_by: str


def find_open(session: Session) -> Sequence[EpisodeRow]:
    return session.scalars(select(EpisodeRow).where(EpisodeRow.state.in_(OPEN))).all()


def find_over(session: Session, limit: int) -> Sequence[EpisodeRow]:
    """Alerts that fired and are over, the newest first."""
    return session.scalars(
        select(EpisodeRow)
        .where(EpisodeRow.state == str(AlertState.RESOLVED), EpisodeRow.fired_ms.is_not(None))
        .order_by(EpisodeRow.resolved_ms.desc())
        .limit(limit)
    ).all()


def find_history(
    session: Session, start_ms: int, end_ms: int, search: str, run_id: str, limit: int
) -> Sequence[EpisodeRow]:
    """Alerts that fired and overlap a span, the newest first."""
    query = (
        select(EpisodeRow)
        .where(EpisodeRow.fired_ms.is_not(None), EpisodeRow.active_ms <= end_ms)
        .where(or_(EpisodeRow.resolved_ms.is_(None), EpisodeRow.resolved_ms >= start_ms))
        .where(*(EpisodeRow.words.contains(word, autoescape=True) for word in search.lower().split()))
        .order_by(EpisodeRow.active_ms.desc(), EpisodeRow.id)
        .limit(limit)
    )
    return session.scalars(query.where(EpisodeRow.run_id == run_id) if run_id else query).all()


def find_episode(session: Session, alert_id: str) -> EpisodeRow | None:
    return session.get(EpisodeRow, alert_id)


def find_earlier(session: Session, row: EpisodeRow, limit: int) -> Sequence[EpisodeRow]:
    return session.scalars(
        select(EpisodeRow)
        .where(EpisodeRow.identity == row.identity, EpisodeRow.active_ms < row.active_ms)
        .where(EpisodeRow.id != row.id)
        .order_by(EpisodeRow.active_ms.desc())
        .limit(limit)
    ).all()


def find_transitions(session: Session, alert_id: str) -> Sequence[TransitionRow]:
    return session.scalars(
        select(TransitionRow).where(TransitionRow.alert_id == alert_id).order_by(TransitionRow.id)
    ).all()


def last_evaluation(session: Session) -> int | None:
    return session.scalar(select(EvaluationRow.evaluated_ms))


def write_acknowledgement(
    session: Session, alert_ids: Sequence[str], by: str | None, at_ms: int | None, comment: str
) -> None:
    """Note it of those that are open, also in rows that were read before. Locks them until the transaction ends."""
    for some in chunks(alert_ids, UPDATED_AT_ONCE):
        session.execute(
            update(EpisodeRow)
            .where(EpisodeRow.id.in_(some), EpisodeRow.state.in_(OPEN))
            .values(acknowledged_by=by, acknowledged_ms=at_ms, acknowledged_comment=comment)
            .execution_options(synchronize_session="evaluate")
        )


# Incidents ------------------------------------------------------------------------------------------------------------


def find_members(session: Session, row: EpisodeRow, limit: int) -> Sequence[EpisodeRow]:
    """All alerts of an alert's incident, in the order in which their conditions began to hold; the first of many."""
    if row.incident is None:
        return [row]
    query = select(EpisodeRow).where(EpisodeRow.incident == row.incident)
    return session.scalars(query.order_by(EpisodeRow.active_ms, EpisodeRow.id).limit(limit)).all()


def find_firing_members(session: Session, row: EpisodeRow) -> Sequence[EpisodeRow]:
    if row.incident is None:
        return [row] if row.state == AlertState.FIRING else []
    query = select(EpisodeRow).where(EpisodeRow.incident == row.incident, EpisodeRow.state == AlertState.FIRING)
    return session.scalars(query.order_by(EpisodeRow.active_ms, EpisodeRow.id)).all()


def count_members(session: Session, row: EpisodeRow) -> tuple[int, int, int]:
    """How many alerts an alert's incident has, how many of them fire, and how many of these are acknowledged."""
    of_incident = EpisodeRow.id == row.id if row.incident is None else EpisodeRow.incident == row.incident
    counts = session.execute(
        select(EpisodeRow.state, func.count(), func.count(EpisodeRow.acknowledged_by))
        .where(of_incident)
        .group_by(EpisodeRow.state)
    ).all()
    firing, seen = next(((total, seen) for state, total, seen in counts if state == AlertState.FIRING), (0, 0))
    return sum(total for _, total, _ in counts), firing, seen


def find_under_way(session: Session, keys: Sequence[str]) -> Sequence[UnderWay]:
    rows: list[Any] = []
    for some in chunks(keys, UPDATED_AT_ONCE):
        rows += session.execute(
            select(
                EpisodeRow.incident,
                EpisodeRow.acknowledged_by,
                EpisodeRow.acknowledged_ms,
                EpisodeRow.acknowledged_comment,
            )
            .where(EpisodeRow.state == str(AlertState.FIRING))
            .where(or_(*(EpisodeRow.incident.between(*ids_of(key)) for key in some)))
            .order_by(EpisodeRow.acknowledged_ms)
        )
    said: dict[str, list[Acknowledged | None]] = {}
    for id, by, at_ms, comment in rows:
        given = None if by is None else Acknowledged(by=by, at_ms=at_ms, comment=comment)
        said.setdefault(id, []).append(given)
    return [UnderWay(id=id, acknowledged=given[0] if all(given) else None) for id, given in said.items()]


def write_joining(session: Session, joining: Joining) -> None:
    for alert_id, incident in joining.merged.items():
        _set_incident(session, EpisodeRow.incident == alert_id, incident)
    by_incident: dict[str, list[str]] = {}
    for alert_id, incident in joining.joined.items():
        by_incident.setdefault(incident, []).append(alert_id)
    for incident, ids in by_incident.items():
        for some in chunks(ids, UPDATED_AT_ONCE):
            _set_incident(session, EpisodeRow.id.in_(some), incident)
    by_words: dict[Acknowledged, list[str]] = {}
    for alert_id, given in joining.acknowledged.items():
        by_words.setdefault(given, []).append(alert_id)
    for given, ids in by_words.items():
        write_acknowledgement(session, ids, given.by, given.at_ms, given.comment)


def find_returning(session: Session, joining: Joining) -> set[str]:
    """Alerts to acknowledge that nobody has to see anew: the same one was acknowledged in this incident, and ended.

    What somebody said of a load test holds for its run only.
    """
    before = aliased(EpisodeRow)
    found: set[str] = set()
    for some in chunks(sorted(joining.acknowledged), UPDATED_AT_ONCE):
        rows = session.execute(
            select(EpisodeRow.id, before.incident)
            .join(before, before.identity == EpisodeRow.identity)
            .where(EpisodeRow.id.in_(some), EpisodeRow.acknowledged_by.is_(None))
            .where(before.id != EpisodeRow.id, before.acknowledged_by.is_not(None))
            .where(before.run_id.is_not_distinct_from(EpisodeRow.run_id))
        )
        found.update(id for id, incident in rows if incident == joining.joined[id])
    return found


def find_acknowledged(session: Session, alert_ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for some in chunks(alert_ids, UPDATED_AT_ONCE):
        query = select(EpisodeRow.id).where(EpisodeRow.id.in_(some), EpisodeRow.acknowledged_by.is_not(None))
        found.update(session.scalars(query))
    return found


def _set_incident(session: Session, which: ColumnElement[bool], incident: str) -> None:
    session.execute(
        update(EpisodeRow).where(which).values(incident=incident).execution_options(synchronize_session=False)
    )


def ask_to_dismiss(session: Session, alert_id: str, by: str) -> int:
    row = RequestRow(alert_id=alert_id, asked_by=by)
    session.add(row)
    session.flush()
    return row.id


def find_requests(session: Session) -> Sequence[Request]:
    return [Request(*row) for row in session.execute(_REQUESTS)]


def is_asked(session: Session, request_id: int) -> bool:
    return session.get(RequestRow, request_id) is not None


def withdraw(session: Session, request_id: int) -> None:
    session.execute(delete(RequestRow).where(RequestRow.id == request_id))


def count_open(session: Session) -> Mapping[str, Mapping[str, tuple[int, int]]]:
    """By rule id and state: how many alerts, and how many of them without data."""
    rows = session.execute(
        select(EpisodeRow.rule_id, EpisodeRow.state, func.count(), func.count(EpisodeRow.no_data_since_ms))
        .where(EpisodeRow.state.in_(OPEN))
        .group_by(EpisodeRow.rule_id, EpisodeRow.state)
    ).all()
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for rule_id, state, count, without in rows:
        found.setdefault(rule_id, {})[state] = (count, without)
    return found


# What an evaluation changes -------------------------------------------------------------------------------------------


def write_episodes(
    session: Session,
    begun: Sequence[Mapping[str, Any]] = (),
    changed: Sequence[Executable] = (),
    transitions: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Episodes that begin, what `updates_of` made of others, and what happened, in this order."""
    if begun:
        session.execute(insert(_EPISODES), begun)
    for statement in changed:
        session.execute(statement)
    if transitions:
        session.execute(insert(_TRANSITIONS), transitions)


def updates_of(
    alerts: Sequence[TrackedAlert], values_of: Callable[[TrackedAlert], Mapping[str, Any]]
) -> list[Executable]:
    """Change many episodes with few statements: one for each 200, where a column is a constant or a choice by id."""
    statements: list[Executable] = []
    for some in chunks(alerts, UPDATED_AT_ONCE):
        rows = {alert.id: values_of(alert) for alert in some}
        columns: dict[str, Any] = {}
        for name in next(iter(rows.values())):
            by_id = {alert_id: row[name] for alert_id, row in rows.items()}
            values = set(by_id.values())
            columns[name] = values.pop() if len(values) == 1 else _choice(by_id, _EPISODES.c[name].type)
        statements.append(update(_EPISODES).where(_EPISODES.c.id.in_(list(rows))).values(columns))
    return statements


def _choice(by_id: Mapping[str, Any], type_: Any) -> Any:
    return case({alert_id: literal(value, type_) for alert_id, value in by_id.items()}, value=_EPISODES.c.id)


def note_evaluation(session: Session, now_ms: int) -> None:
    done: Any = session.execute(_NOTE_EVALUATION, {"at_ms": now_ms})
    if not done.rowcount:
        session.execute(insert(EvaluationRow).values(id=1, evaluated_ms=now_ms))


def read_swings(session: Session, since_ms: int) -> dict[str, dict[SourceKey, tuple[int, ...]]]:
    """Times at which alerts began or ceased to fire, in order, by rule id and source."""
    firing = str(AlertState.FIRING)
    rows = session.execute(
        select(EpisodeRow.rule_id, EpisodeRow.source, TransitionRow.at_ms)
        .join(TransitionRow, TransitionRow.alert_id == EpisodeRow.id)
        .where(TransitionRow.at_ms >= since_ms)
        .where(TransitionRow.to_state.in_((firing, str(AlertState.RESOLVED))))
        .where(_changes_firing(firing))
        .order_by(TransitionRow.id)
    ).all()
    found: dict[str, dict[SourceKey, tuple[int, ...]]] = {}
    for rule_id, source, at_ms in rows:
        key = source_key(orjson.loads(source))
        times = found.setdefault(rule_id, {})
        times[key] = (*times.get(key, ()), at_ms)
    return found


def _changes_firing(firing: str) -> Any:
    before = TransitionRow.from_state
    begins = (TransitionRow.to_state == firing) & (before.is_(None) | (before != firing))
    return begins | ((TransitionRow.to_state != firing) & (before == firing))


def prune(session: Session, over_before_ms: int, unfired_before_ms: int) -> int:
    """Delete old episodes, those that never fired sooner; at most 1,000, and returns how many."""
    old: ColumnElement[bool] = or_(
        EpisodeRow.resolved_ms < over_before_ms,
        and_(EpisodeRow.fired_ms.is_(None), EpisodeRow.resolved_ms < unfired_before_ms),
    )
    ids: Collection[str] = session.scalars(
        select(EpisodeRow.id)
        .where(EpisodeRow.state == str(AlertState.RESOLVED), old)
        .order_by(EpisodeRow.resolved_ms)
        .limit(PRUNED_AT_ONCE)
    ).all()
    if ids:
        session.execute(delete(TransitionRow).where(TransitionRow.alert_id.in_(ids)))
        session.execute(delete(EpisodeRow).where(EpisodeRow.id.in_(ids)))
    return len(ids)
