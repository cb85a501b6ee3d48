"""Where marks meet the database."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from loadwatch_backend.findings.tables import OpinionRow

MOST_MUTES = 500


def find_marks(session: Session, run_ids: Sequence[str]) -> Sequence[OpinionRow]:
    return session.scalars(select(OpinionRow).where(OpinionRow.run_id.in_(run_ids)).order_by(OpinionRow.id)).all()


def find_mutes(session: Session) -> Sequence[OpinionRow]:
    """Mutes, the newest first."""
    query = select(OpinionRow).where(OpinionRow.run_id.is_(None)).order_by(OpinionRow.id.desc()).limit(MOST_MUTES)
    return session.scalars(query).all()


def find_newest(session: Session) -> Sequence[OpinionRow]:
    return session.scalars(select(OpinionRow).order_by(OpinionRow.id.desc()).limit(MOST_MUTES)).all()


def find_mark(session: Session, mark_id: int) -> OpinionRow | None:
    return session.get(OpinionRow, mark_id)


def add_mark(session: Session, row: OpinionRow) -> None:
    """Add the row and flush it, so that it has an id."""
    session.add(row)
    session.flush()


def delete_mark(session: Session, row: OpinionRow) -> None:
    session.delete(row)
    session.flush()
