"""Where annotations meet the database."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from loadwatch_backend.annotations.tables import AnnotationRow, AnnotationTagRow


def find_overlapping(
    session: Session, start_ms: int, end_ms: int, tag: str | None, limit: int
) -> Sequence[AnnotationRow]:
    """Annotations that share at least an instant with the span, both ends included, in order of their start."""
    query = (
        select(AnnotationRow)
        .where(AnnotationRow.start_ms <= end_ms)
        .where(func.coalesce(AnnotationRow.end_ms, AnnotationRow.start_ms) >= start_ms)
        .order_by(AnnotationRow.start_ms, AnnotationRow.id)
        .limit(limit)
    )
    if tag is not None:
        query = query.where(AnnotationRow.tags.any(AnnotationTagRow.tag == tag))
    return session.scalars(query).all()


def find_annotation(session: Session, annotation_id: int) -> AnnotationRow | None:
    """One annotation."""
    return session.get(AnnotationRow, annotation_id)


def tag_rows(tags: Sequence[str]) -> list[AnnotationTagRow]:
    """Rows for tags, in their order, each once."""
    return [AnnotationTagRow(position=position, tag=tag) for position, tag in enumerate(dict.fromkeys(tags))]
