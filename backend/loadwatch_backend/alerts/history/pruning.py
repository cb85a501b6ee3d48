"""Deletes alerts of long ago."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, and_, delete, or_, select
from sqlalchemy.orm import Session

from loadwatch_backend.alerts.history.tables import EpisodeRow, TransitionRow
from loadwatch_backend.alerts.schemas import AlertState

PRUNED_AT_ONCE = 1_000


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
