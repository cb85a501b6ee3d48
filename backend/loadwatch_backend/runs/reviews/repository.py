"""Where reviews, meetings and share links meet the database."""

from collections.abc import Sequence

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from loadwatch_backend.runs.registry.tables import MeetingRow, RunReviewRow, RunRow, RunShareRow


def add(session: Session, row: RunReviewRow | MeetingRow | RunShareRow) -> None:
    """Write a new one."""
    session.add(row)


def find_versions(session: Session, run_id: str) -> Sequence[RunReviewRow]:
    """All versions of a review, the oldest first."""
    query = select(RunReviewRow).where(RunReviewRow.run_id == run_id).order_by(RunReviewRow.version)
    return session.scalars(query).all()


def find_newest(session: Session, run_id: str) -> RunReviewRow | None:
    """The newest version of a review."""
    query = select(RunReviewRow).where(RunReviewRow.run_id == run_id).order_by(RunReviewRow.version.desc()).limit(1)
    return session.scalars(query).one_or_none()


def last_meeting_ms(session: Session) -> int | None:
    """When the last meeting about all scenarios ended."""
    query = select(MeetingRow.ended_ms).where(MeetingRow.scenario.is_(None))
    return session.scalar(query.order_by(MeetingRow.id.desc()).limit(1))


def last_ended_ms(session: Session) -> int | None:
    """When the last meeting ended, whatever it was about."""
    return session.scalar(select(MeetingRow.ended_ms).order_by(MeetingRow.id.desc()).limit(1))


def find_runs_to_meet(session: Session, scenario: str = "") -> Sequence[tuple[str, str]]:
    """Ids and scenarios of runs that came, or ended, after the last meeting about them; the newest first.

    Args:
        session: the transaction.
        scenario: whose runs; empty for those of all.
    """
    ended = select(MeetingRow.scenario, func.max(MeetingRow.ended_ms).label("ended_ms")).group_by(MeetingRow.scenario)
    own = ended.where(MeetingRow.scenario.is_not(None)).subquery()
    last = own.c.ended_ms
    query = (
        select(RunRow.id, RunRow.scenario)
        .outerjoin(own, own.c.scenario == RunRow.scenario)
        .where(or_(last.is_(None), RunRow.created_ms > last, RunRow.settled_ms > last))
        .order_by(RunRow.started_ms.desc(), RunRow.id.desc())
    )
    since_ms = last_meeting_ms(session)
    if since_ms is not None:
        query = query.where(or_(RunRow.created_ms > since_ms, RunRow.settled_ms > since_ms))
    if scenario:
        query = query.where(RunRow.scenario == scenario)
    return [(run, of) for run, of in session.execute(query)]


def find_shares(session: Session, run_id: str, now_ms: int) -> Sequence[RunShareRow]:
    """Links of a run that have not expired, the newest first."""
    query = (
        select(RunShareRow)
        .where(RunShareRow.run_id == run_id, RunShareRow.expires_ms > now_ms)
        .order_by(RunShareRow.created_ms.desc(), RunShareRow.id)
    )
    return session.scalars(query).all()


def find_share(session: Session, secret_hash: str) -> RunShareRow | None:
    """The link of a secret, expired or not."""
    return session.scalars(select(RunShareRow).where(RunShareRow.secret_hash == secret_hash)).one_or_none()


def delete_share(session: Session, share_id: str) -> bool:
    """Delete a link; whether there was one."""
    row = session.get(RunShareRow, share_id)
    if row is not None:
        session.delete(row)
    return row is not None


def forget_shares(session: Session, now_ms: int) -> None:
    """Delete links that have expired."""
    session.execute(delete(RunShareRow).where(RunShareRow.expires_ms <= now_ms))
