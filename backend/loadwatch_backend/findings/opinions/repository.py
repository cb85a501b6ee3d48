"""Where opinions meet the database."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from loadwatch_backend.findings.opinions.tables import OpinionRow


def find_marks(session: Session, run_ids: Sequence[str]) -> Sequence[OpinionRow]:
    """Opinions on the findings of runs."""
    return session.scalars(select(OpinionRow).where(OpinionRow.run_id.in_(run_ids)).order_by(OpinionRow.id)).all()


def find_mutes(session: Session, limit: int) -> Sequence[OpinionRow]:
    """Mutes, the newest first."""
    query = select(OpinionRow).where(OpinionRow.run_id.is_(None)).order_by(OpinionRow.id.desc()).limit(limit)
    return session.scalars(query).all()


def find_mute(session: Session, mute_id: int) -> OpinionRow | None:
    """One mute."""
    row = session.get(OpinionRow, mute_id)
    return None if row is None or row.run_id is not None else row


def count_opinions(session: Session) -> Sequence[tuple[str, str, int]]:
    """Finding, opinion, and how many there are."""
    query = select(OpinionRow.finding_id, OpinionRow.opinion, func.count()).group_by(
        OpinionRow.finding_id, OpinionRow.opinion
    )
    return [(finding, opinion, number) for finding, opinion, number in session.execute(query).all()]


def add_opinion(session: Session, row: OpinionRow) -> None:
    """Write a new one; it has its id then."""
    session.add(row)
    session.flush()


def delete_opinion(session: Session, row: OpinionRow) -> None:
    """Take one back."""
    session.delete(row)
    session.flush()
