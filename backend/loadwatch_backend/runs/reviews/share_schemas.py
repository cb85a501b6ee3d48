"""Links that show one run to somebody without an account."""

from typing import Annotated

from pydantic import Field

from loadwatch_backend.evidence.files.schemas import FileId
from loadwatch_backend.evidence.files.service import MOST_FILES
from loadwatch_backend.kit.schemas import Milliseconds, Schema
from loadwatch_backend.runs.fields import Finite, Line


class ShareIn(Schema):
    """A link that shows the report of one run to whoever has it, until it expires."""

    days: Finite = Field(default=7, gt=0, le=365)
    note: Line = ""
    files: Annotated[list[FileId], Field(max_length=MOST_FILES)] = Field(
        default_factory=list, description="Ids of the run's files that it shows, with their notes; none by default."
    )


class ShareOut(Schema):
    """A link; its secret is shown once, when it is made."""

    id: str
    run: str
    note: str
    created_ms: Milliseconds
    expires_ms: Milliseconds
    files: list[FileId] = Field(description="The run's files that it shows.")
    path: str | None = Field(description="Path of the page, such as /share/…; only in the answer that made it.")


class ShareList(Schema):
    """Links of a run that have not expired."""

    shares: list[ShareOut]
