"""Where reading alerts, and what people say to them, meets the database."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from loadwatch_backend.alerts.history.journal import OPEN
from loadwatch_backend.alerts.history.tables import EpisodeRow, EvaluationRow, RequestRow, TransitionRow
from loadwatch_backend.alerts.schemas import AlertState


def find_open(session: Session) -> Sequence[EpisodeRow]:
    """All alerts of now."""
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
    """One alert."""
    return session.get(EpisodeRow, alert_id)


def find_earlier(session: Session, row: EpisodeRow, limit: int) -> Sequence[EpisodeRow]:
    """Earlier episodes of the same alert, the newest first."""
    return session.scalars(
        select(EpisodeRow)
        .where(EpisodeRow.identity == row.identity, EpisodeRow.active_ms < row.active_ms)
        .where(EpisodeRow.id != row.id)
        .order_by(EpisodeRow.active_ms.desc())
        .limit(limit)
    ).all()


def find_transitions(session: Session, alert_id: str) -> Sequence[TransitionRow]:
    """What happened to an alert, in order."""
    return session.scalars(
        select(TransitionRow).where(TransitionRow.alert_id == alert_id).order_by(TransitionRow.id)
    ).all()


def last_evaluation(session: Session) -> int | None:
    """When any server last evaluated rules."""
    return session.scalar(select(EvaluationRow.evaluated_ms))


def write_acknowledgement(session: Session, alert_id: str, by: str | None, at_ms: int | None, comment: str) -> bool:
    """Note it, if the alert is open; False when it is not. Locks the row until the transaction ends."""
    done: Any = session.execute(
        update(EpisodeRow)
        .where(EpisodeRow.id == alert_id, EpisodeRow.state.in_(OPEN))
        .values(acknowledged_by=by, acknowledged_ms=at_ms, acknowledged_comment=comment)
        .execution_options(synchronize_session=False)
    )
    return done.rowcount == 1


def add_transition(session: Session, values: Mapping[str, Any]) -> None:
    """Note what happened."""
    session.add(TransitionRow(**values))


def ask_to_dismiss(session: Session, alert_id: str, by: str) -> int:
    """Ask the server that evaluates; returns the request's id."""
    row = RequestRow(alert_id=alert_id, asked_by=by)
    session.add(row)
    session.flush()
    return row.id


def is_asked(session: Session, request_id: int) -> bool:
    """Whether a request is still waiting."""
    return session.get(RequestRow, request_id) is not None


def withdraw(session: Session, request_id: int) -> None:
    """Nobody has taken it."""
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
