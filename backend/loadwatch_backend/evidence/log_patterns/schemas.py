"""Documents of log patterns."""

from enum import StrEnum

from pydantic import Field

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema


class LogTrend(StrEnum):
    """A pattern in the run against the time before it; `unknown` where nobody read the log then."""

    NEW = "new"
    GREW = "grew"
    SAME = "same"
    FELL = "fell"
    UNKNOWN = "unknown"


class LogPatternOut(Schema):
    """Lines that are alike."""

    pattern: str = Field(description="Without what varies; empty for lines beyond the patterns that are told apart.")
    level: str = Field(description="critical, error, warning, info, debug, or empty where the lines do not say.")
    count: Count
    before: Count | None = Field(description="In the time before the run; null where nobody read the log then.")
    trend: LogTrend
    first_ms: Milliseconds | None = Field(description="When the first of them was read in the run.")
    targets: list[str] = Field(description="job/instance, by name; at most ten.")


class LogPatternList(Schema):
    """Patterns of a run: what is new comes first, then what grew, each by level and number."""

    patterns: list[LogPatternOut]
    lines: Count = Field(description="All lines of the run's time, also those of patterns that are left out.")
    from_ms: Milliseconds
    to_ms: Milliseconds
    before_from_ms: Milliseconds
    followed: bool = Field(description="Whether a log was followed in the run's time.")
