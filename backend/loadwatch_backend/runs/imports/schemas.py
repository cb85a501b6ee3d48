"""Which file a run's figures come from, and how an import does."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from loadwatch_backend.kit.schemas import Milliseconds, Schema


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
