"""What runs and importers both know of an import."""

from dataclasses import dataclass


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
