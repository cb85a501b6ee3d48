"""Annotations as the archive of a run asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from loadwatch_backend.annotations.schemas import AnnotationIn
from loadwatch_backend.annotations.service import AnnotationService, check_span
from loadwatch_backend.kit.errors import InvalidError
from loadwatch_backend.runs.archive.format import ArchivedNote
from loadwatch_backend.runs.errors import ArchiveError
from loadwatch_backend.store.relational import Session


@dataclass(frozen=True, slots=True)
class RunNotes:
    """See `runs.archive.archives.Notes`."""

    annotations: AnnotationService

    def within(self, session: Session, start_ms: int, end_ms: int) -> list[ArchivedNote]:
        """Annotations that overlap the span, in order of their start."""
        found = self.annotations.within(session, start_ms, end_ms)
        return [ArchivedNote(**note.model_dump(include=set(ArchivedNote.model_fields))) for note in found]

    def check(self, notes: Sequence[ArchivedNote]) -> None:
        """Look whether all of them may be written.

        Raises:
            ArchiveError: one holds what no annotation may.
        """
        for number, note in enumerate(notes):
            try:
                check_span(note.start_ms, note.end_ms)
                AnnotationIn.model_validate(note.model_dump())
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                place = ".".join(str(part) for part in first["loc"])
                raise ArchiveError(f"annotations.json: {number}.{place}: {first['msg']}.") from error
            except InvalidError as error:
                raise ArchiveError(f"annotations.json: {number}: {error.detail}") from error

    def bring(self, session: Session, notes: Sequence[ArchivedNote]) -> None:
        """Write those that are not here yet: an archive may be taken in twice, or where it was made."""
        for note in notes:
            if note not in self.within(session, note.start_ms, note.start_ms):
                self.annotations.write(session, AnnotationIn.model_validate(note.model_dump()))
