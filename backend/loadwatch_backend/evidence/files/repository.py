"""Where files meet the database."""

from collections.abc import Collection, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from loadwatch_backend.evidence.files.tables import EvidenceFileRow


def find_files(session: Session, run_id: str, kind: str | None = None) -> Sequence[EvidenceFileRow]:
    """Files of a run, the oldest first."""
    query = select(EvidenceFileRow).where(EvidenceFileRow.run_id == run_id)
    if kind is not None:
        query = query.where(EvidenceFileRow.kind == kind)
    order = (EvidenceFileRow.at_ms, EvidenceFileRow.kind, EvidenceFileRow.name, EvidenceFileRow.id)
    return session.scalars(query.order_by(*order)).all()


def find_file(session: Session, file_id: str) -> EvidenceFileRow | None:
    return session.get(EvidenceFileRow, file_id)


def find_same(session: Session, row: EvidenceFileRow) -> EvidenceFileRow | None:
    query = select(EvidenceFileRow).where(EvidenceFileRow.run_id == row.run_id, EvidenceFileRow.kind == row.kind)
    return session.scalars(query.where(EvidenceFileRow.name == row.name, EvidenceFileRow.sha256 == row.sha256)).first()


def find_taken(session: Session, file_ids: Collection[str]) -> set[str]:
    return set(session.scalars(select(EvidenceFileRow.id).where(EvidenceFileRow.id.in_(file_ids))))


def find_places(session: Session) -> set[tuple[str, str]]:
    """Run and id of all files."""
    rows = session.execute(select(EvidenceFileRow.run_id, EvidenceFileRow.id)).all()
    return {(run_id, file_id) for run_id, file_id in rows}


def count_files(session: Session, run_id: str) -> tuple[int, int]:
    """How many files a run has, and their bytes together."""
    query = select(func.count(), func.coalesce(func.sum(EvidenceFileRow.bytes), 0))
    number, size = session.execute(query.where(EvidenceFileRow.run_id == run_id)).one()
    return int(number), int(size)


def find_keepers(session: Session, run_ids: Collection[str], kind: str) -> set[str]:
    query = select(EvidenceFileRow.run_id).where(EvidenceFileRow.run_id.in_(run_ids), EvidenceFileRow.kind == kind)
    return set(session.scalars(query.distinct()))


def add_files(session: Session, rows: Sequence[EvidenceFileRow]) -> None:
    session.add_all(rows)
    session.flush()


def delete_file(session: Session, row: EvidenceFileRow) -> None:
    session.delete(row)
