"""Where the audit log meets the database."""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from loadwatch_backend.access.tables import AuditRow


def find_entries(
    session: Session, start_ms: int, end_ms: int, actor: str, action: str, before: int | None, limit: int
) -> Sequence[AuditRow]:
    """Entries of the span, newest first; `action` is the whole or the part before a dot."""
    query = select(AuditRow).where(AuditRow.at_ms >= start_ms).where(AuditRow.at_ms <= end_ms)
    if actor:
        query = query.where(AuditRow.actor == actor)
    if action:
        query = query.where(
            (AuditRow.action == action) | AuditRow.action.startswith(f"{action.rstrip('.')}.", autoescape=True)
        )
    if before is not None:
        query = query.where(AuditRow.id < before)
    return session.scalars(query.order_by(AuditRow.id.desc()).limit(limit)).all()


def add_entry(session: Session, row: AuditRow) -> None:
    """Write an entry."""
    session.add(row)


def forget_entries(session: Session, before_ms: int) -> None:
    """Delete what is older."""
    session.execute(delete(AuditRow).where(AuditRow.at_ms < before_ms))
