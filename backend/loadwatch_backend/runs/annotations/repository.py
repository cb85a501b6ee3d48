"""Where annotations meet the database: their tables, made by the migrations, and what is asked of them."""

from collections.abc import Sequence

from sqlalchemy import BigInteger, ForeignKey, Integer, String, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from loadwatch_backend.core.database.relational import BINARY_TEXT, NEW_IDS, Base, Identity
from loadwatch_backend.runs.annotations.schemas import (
    AUTHOR_LENGTH,
    COMMIT_LENGTH,
    ISSUE_LENGTH,
    TAG_LENGTH,
    TEXT_LENGTH,
)


class AnnotationTagRow(Base):
    __tablename__ = "annotation_tags"
    __table_args__ = BINARY_TEXT

    annotation_id: Mapped[int] = mapped_column(
        Identity, ForeignKey("annotations.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    tag: Mapped[str] = mapped_column(String(TAG_LENGTH), index=True)


class AnnotationRow(Base):
    """A note at an instant, or over a span when it has an end."""

    __tablename__ = "annotations"
    # Ids are never given twice: a link to a deleted annotation must not open another one.
    __table_args__ = NEW_IDS

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    author: Mapped[str] = mapped_column(String(AUTHOR_LENGTH))
    text: Mapped[str] = mapped_column(String(TEXT_LENGTH))
    commit: Mapped[str] = mapped_column(String(COMMIT_LENGTH), server_default="")
    issue: Mapped[str] = mapped_column(String(ISSUE_LENGTH), server_default="")
    start_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    end_ms: Mapped[int | None] = mapped_column(BigInteger)
    created_ms: Mapped[int] = mapped_column(BigInteger)
    updated_ms: Mapped[int] = mapped_column(BigInteger)
    tags: Mapped[list[AnnotationTagRow]] = relationship(
        order_by=AnnotationTagRow.position, cascade="all, delete-orphan", passive_deletes=True, lazy="selectin"
    )


MARKER = "marker"
"""Tag of an annotation made from a line of a run's output; the run's id is its second tag."""


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
    return session.get(AnnotationRow, annotation_id)


def add_annotation(session: Session, row: AnnotationRow) -> None:
    """Add the row and flush it, so that it has an id."""
    session.add(row)
    session.flush()


def find_markers(session: Session, run_id: str) -> Sequence[AnnotationRow]:
    """Annotations that lines of a run's output made; one that a person has changed since is the person's."""
    tagged = [AnnotationRow.tags.any(AnnotationTagRow.tag == tag) for tag in (MARKER, run_id)]
    return session.scalars(
        select(AnnotationRow).where(*tagged, AnnotationRow.updated_ms == AnnotationRow.created_ms)
    ).all()


def delete_annotation(session: Session, row: AnnotationRow) -> None:
    session.delete(row)


def replace_tags(session: Session, row: AnnotationRow, tags: Sequence[str]) -> None:
    """Replace the tags; the old ones are flushed first, since positions and names are unique."""
    row.tags.clear()
    session.flush()
    row.tags.extend(tag_rows(tags))


def tag_rows(tags: Sequence[str]) -> list[AnnotationTagRow]:
    return [AnnotationTagRow(position=position, tag=tag) for position, tag in enumerate(dict.fromkeys(tags))]
