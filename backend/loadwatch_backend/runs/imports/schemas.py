"""Which file a run's figures come from, and how an import does."""

from enum import StrEnum
from typing import Any

from pydantic import ConfigDict, Field, create_model

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.runs.fields import ID_PATTERN, asked


class ImportOut(Schema):
    """Which file the figures come from."""

    format: str
    filename: str
    bytes: int
    sha256: str
    has_records: bool
    imported_ms: Milliseconds
    seconds: float = Field(description="Time that the import took.")


class ImportState(StrEnum):
    """How far an import is."""

    READING = "reading"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ImportRequest(create_model("ImportRequest", **asked())):
    """What the sender says of a file."""

    model_config = ConfigDict(frozen=True)

    filename: str | None = Field(default=None, max_length=500, description="A hint; the content decides.")
    run: str | None = Field(default=None, pattern=ID_PATTERN, description="Add it to this run instead.")
    started_ms: Milliseconds | None = Field(default=None, description="For files without a wall clock.")
    format: str | None = Field(default=None, description="An importer's name, to skip recognition.")


class ImportJob(Schema):
    """An import under way or over; kept for an hour after its end."""

    id: str
    state: ImportState
    filename: str
    bytes_read: int
    bytes_total: int
    records: int
    run: str | None = Field(description="The run's id, once there is one.")
    error: dict[str, Any] | None = Field(description="Problem details, when it failed.")
