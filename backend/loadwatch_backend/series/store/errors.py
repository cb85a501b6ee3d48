"""What a store can refuse, and why."""

from loadwatch_backend.core.errors import (
    BadRequestError,
    LimitError,
    ProblemError,
    TooManyRequestsError,
    UnavailableError,
)

BUSY_SECONDS = 2
"""After which a full queue is worth another try: it holds some seconds of samples."""


class SeriesLimitError(LimitError, code="series-limit", title="Too many series"):
    """The store holds as many series as its limit allows."""


class NewSeriesLimitError(SeriesLimitError, code="new-series-limit"):
    """One request would add more series than its limit allows."""


class LabelBytesLimitError(SeriesLimitError, code="label-bytes-limit"):
    """The labels of all series have as many bytes as the store's limit allows."""


class QueryLimitError(LimitError, code="query-limit", title="Query too large"):
    """One query would load more samples than its limit allows."""


class PatternError(BadRequestError, code="bad-pattern", title="Bad regular expression"):
    """The text is not a regular expression in RE2's syntax."""


class StoreBusyError(TooManyRequestsError, code="store-busy", title="The store is busy"):
    """More samples are waiting for the disk than the queue may hold."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, retry_after_seconds=BUSY_SECONDS)


class StoreWriteError(UnavailableError, code="store-write-failed", title="The samples could not be stored"):
    """A commit failed; nothing of it is stored, and sending again is safe."""


class StoreReadError(UnavailableError, code="store-read-failed", title="The samples could not be read"):
    """The disk did not give samples back."""


class StoreClosedError(UnavailableError, code="store-closed", title="The store is closed"):
    """The store is shutting down."""


class EngineAwayError(UnavailableError, code="engine-away", title="The engine of the samples does not answer"):
    """The second engine is away or refuses us (`refused`); it may answer after `after` seconds."""

    def __init__(self, detail: str, *, refused: bool = False, after: float | None = None) -> None:
        super().__init__(detail)
        self.refused, self.after = refused, after or 0.0


class EngineAnswerError(ProblemError, code="engine-answer", title="The engine refused the query"):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status  # pyright: ignore[reportAttributeAccessIssue] - the engine's, known only here


class EngineSettingsError(Exception):
    """The second engine cannot be used as it is configured; the text says why and what to do. Ends the start."""


class CopyDamagedError(Exception):
    """A file of a backup is not what it says it is; the text names it."""
