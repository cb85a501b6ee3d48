"""What runs ask of the importers, and what both agree on; the application puts them together."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol

from loadwatch_backend.records.model import LoadResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What the caller knows beside the file.

    Attributes:
        filename: the name given by the sender; a hint only, content decides.
        started_ms: wall-clock start for files without one (hey, wrk, oha).
        format: an importer's name, to skip recognition.
    """

    filename: str | None = None
    started_ms: int | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import is, in bytes of the file as it was sent."""

    bytes_read: int
    bytes_total: int
    records: int


class ResultReader(Protocol):
    """Reads a result file into a directory that exists and is empty.

    Leaves `records.parquet` there when there are single requests. The caller makes the directory the run's own in one
    step, or removes it: nothing half-written stays.

    Raises:
        ProblemError: of `importers.errors`; the text names the file's format, the place and what to do.
    """

    def __call__(
        self,
        source: Path,
        directory: Path,
        options: ImportOptions,
        progress: Callable[[Progress], None],
        stop: Event | None = None,
    ) -> LoadResult:
        """Read it all, unless `stop` is set meanwhile."""
        ...
