"""The annotations' tables; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, ForeignKey, Integer, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from loadwatch_backend.core.database.relational import BINARY_TEXT, NEW_IDS, Base, Identity
from loadwatch_backend.runs.annotations.schemas import (
    AUTHOR_LENGTH,
    COMMIT_LENGTH,
    ISSUE_LENGTH,
    TAG_LENGTH,
    TEXT_LENGTH,
)


class AnnotationTagRow(Base):
    """One tag of an annotation."""

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
