"""What a store can refuse, and why.

ProblemError
├── LimitError
│   ├── SeriesLimitError     422, more series than the store may hold
│   └── QueryLimitError      422, more samples than one query may load
├── BadRequestError
│   └── PatternError         400, not a regular expression of RE2
├── TooManyRequestsError
│   └── StoreBusyError       429, the queue of samples is full
└── UnavailableError
    ├── EngineAwayError      503, the second engine does not answer, or refuses us
    ├── StoreWriteError      503, the disk refused a commit
    ├── StoreReadError       503, the disk refused a read
    └── StoreClosedError     503, the server is stopping
EngineAnswerError            the second engine answered a query that was passed on with an error, told as it is
DataDirectoryError           at start: the data directory cannot be used
EngineSettingsError          at start: the second engine cannot be used as it is configured
CopyDamagedError             at a restore: a file of the backup cannot be read
"""

from loadwatch_backend.kit.errors import (
    BadRequestError,
    LimitError,
    ProblemError,
    TooManyRequestsError,
    UnavailableError,
)

BUSY_SECONDS = 2
"""After which a full queue is worth another try: it holds some seconds of samples."""


class SeriesLimitError(LimitError):
    """The store holds as many series as its limit allows."""

    code = "series-limit"
    title = "Too many series"


class NewSeriesLimitError(SeriesLimitError):
    """One request would add more series than its limit allows."""

    code = "new-series-limit"


class LabelBytesLimitError(SeriesLimitError):
    """The labels of all series have as many bytes as the store's limit allows."""

    code = "label-bytes-limit"


class QueryLimitError(LimitError):
    """One query would load more samples than its limit allows."""

    code = "query-limit"
    title = "Query too large"


class PatternError(BadRequestError):
    """The text is not a regular expression in RE2's syntax."""

    code = "bad-pattern"
    title = "Bad regular expression"


class StoreBusyError(TooManyRequestsError):
    """More samples are waiting for the disk than the queue may hold."""

    code = "store-busy"
    title = "The store is busy"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, retry_after_seconds=BUSY_SECONDS)


class StoreWriteError(UnavailableError):
    """A commit failed; nothing of it is stored, and sending again is safe."""

    code = "store-write-failed"
    title = "The samples could not be stored"


class StoreReadError(UnavailableError):
    """The disk did not give samples back."""

    code = "store-read-failed"
    title = "The samples could not be read"


class StoreClosedError(UnavailableError):
    """The store is shutting down."""

    code = "store-closed"
    title = "The store is closed"


class EngineAwayError(UnavailableError):
    """The second engine does not answer, or refuses who we are; `refused` tells the two apart."""

    code = "engine-away"
    title = "The engine of the samples does not answer"

    def __init__(self, detail: str, *, refused: bool = False) -> None:
        super().__init__(detail)
        self.refused = refused


class EngineAnswerError(ProblemError):
    """The second engine's own error for a query that was passed on."""

    code = "engine-answer"
    title = "The engine refused the query"

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status  # pyright: ignore[reportAttributeAccessIssue] - the engine's, known only here


class EngineSettingsError(Exception):
    """The second engine cannot be used as it is configured; the text says why and what to do. Ends the start."""


class DataDirectoryError(Exception):
    """The data directory cannot be used; the text says why and what to do. Ends the start of the server."""


class CopyDamagedError(Exception):
    """A file of a backup is not what it says it is; the text names it."""
