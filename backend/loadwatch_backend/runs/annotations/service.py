"""Rules of annotations: a span ends no earlier than it starts, and a change is noted."""

from dataclasses import dataclass

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import InvalidError, NotFoundError
from loadwatch_backend.runs.annotations.repository import (
    AnnotationRow,
    add_annotation,
    delete_annotation,
    find_annotation,
    find_overlapping,
    replace_tags,
    tag_rows,
)
from loadwatch_backend.runs.annotations.schemas import AnnotationIn, AnnotationOut, AnnotationPatch

LIST_LIMIT = 1_000
"""No chart can show more; the earliest in the span are kept."""


class AnnotationNotFoundError(NotFoundError, code="annotation-not-found"):
    """There is no annotation with this id."""


class AnnotationSpanError(InvalidError, code="annotation-span"):
    """The end lies before the start."""


@dataclass(eq=False)
class AnnotationService:
    _relational: Relational
    _clock: Clock

    def within(self, session: Session, start_ms: int, end_ms: int, tag: str | None = None) -> list[AnnotationOut]:
        """`list` within a transaction of the caller's."""
        return [_out(row) for row in find_overlapping(session, start_ms, end_ms, tag, LIST_LIMIT)]

    def list(self, start_ms: int, end_ms: int, tag: str | None) -> list[AnnotationOut]:
        with self._relational.transaction() as session:
            return self.within(session, start_ms, end_ms, tag)

    def create(self, given: AnnotationIn, author: str) -> AnnotationOut:
        """Add one, by `author` whatever it says itself.

        Raises:
            AnnotationSpanError: the end lies before the start.
        """
        with self._relational.transaction() as session:
            return self.write(session, given.model_copy(update={"author": author}))

    def write(self, session: Session, given: AnnotationIn) -> AnnotationOut:
        """Add one within a transaction of the caller's.

        Raises:
            AnnotationSpanError: the end lies before the start.
        """
        check_span(given.start_ms, given.end_ms)
        now_ms = self._clock()
        row = AnnotationRow(
            author=given.author,
            text=given.text,
            start_ms=given.start_ms,
            end_ms=given.end_ms,
            commit=given.commit,
            issue=given.issue,
            created_ms=now_ms,
            updated_ms=now_ms,
            tags=tag_rows(given.tags),
        )
        add_annotation(session, row)
        return _out(row)

    def read(self, annotation_id: int) -> AnnotationOut:
        """One annotation.

        Raises:
            AnnotationNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            return _out(_found(find_annotation(session, annotation_id), annotation_id))

    def update(self, annotation_id: int, patch: AnnotationPatch, author: str | None) -> AnnotationOut:
        """Change what the patch names; `author` is in the place of its own, None changes nothing.

        Raises:
            AnnotationNotFoundError: there is none.
            AnnotationSpanError: the end would lie before the start.
        """
        given = patch.model_fields_set
        with self._relational.transaction() as session:
            row = _found(find_annotation(session, annotation_id), annotation_id)
            if author is not None:
                row.author = author
            if patch.text is not None:
                row.text = patch.text
            if patch.commit is not None:
                row.commit = patch.commit
            if patch.issue is not None:
                row.issue = patch.issue
            if patch.start_ms is not None:
                row.start_ms = patch.start_ms
            if "end_ms" in given:
                row.end_ms = patch.end_ms
            if patch.tags is not None:
                replace_tags(session, row, patch.tags)
            check_span(row.start_ms, row.end_ms)
            row.updated_ms = self._clock()
            return _out(row)

    def delete(self, annotation_id: int) -> None:
        """Delete one.

        Raises:
            AnnotationNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            delete_annotation(session, _found(find_annotation(session, annotation_id), annotation_id))


def _found(row: AnnotationRow | None, annotation_id: int) -> AnnotationRow:
    if row is None:
        raise AnnotationNotFoundError(f"There is no annotation {annotation_id}; it may have been deleted.")
    return row


def check_span(start_ms: int, end_ms: int | None) -> None:
    """Look whether a span ends no earlier than it starts.

    Raises:
        AnnotationSpanError: it does.
    """
    if end_ms is not None and end_ms < start_ms:
        raise AnnotationSpanError(
            f"end_ms {end_ms} lies before start_ms {start_ms}; "
            "give an end at or after the start, or none for an instant."
        )


def _out(row: AnnotationRow) -> AnnotationOut:
    return AnnotationOut(
        id=row.id,
        author=row.author,
        text=row.text,
        start_ms=row.start_ms,
        end_ms=row.end_ms,
        tags=[tag.tag for tag in row.tags],
        commit=row.commit,
        issue=row.issue,
        created_ms=row.created_ms,
        updated_ms=row.updated_ms,
    )
