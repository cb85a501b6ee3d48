"""What can go wrong with a query, with the `errorType` that Prometheus' HTTP API gives it.

ProblemError
├── BadRequestError
│   ├── QueryParseError          bad_data: not PromQL, or not of the right types
│   └── QueryUnsupportedError    bad_data: PromQL that this engine does not evaluate
├── QueryExecutionError          execution: right in form, impossible on the data (many-to-many, duplicate labels)
├── QueryTooLargeError           execution: a limit of the engine
│   └── QueryMemoryError         execution: more memory than one query may have
├── QueryTimeoutError            timeout
└── QueryBusyError               unavailable: others are asking too much at this moment
"""

from typing import ClassVar

from loadwatch_backend.kit.errors import BadRequestError, LimitError, ProblemError, UnavailableError


class QueryParseError(BadRequestError):
    """The text is not a PromQL expression."""

    code: ClassVar[str] = "promql-parse"
    title: ClassVar[str] = "Not a PromQL expression"


class QueryUnsupportedError(BadRequestError):
    """The text is PromQL, and uses a construct that the embedded engine does not evaluate."""

    code: ClassVar[str] = "promql-unsupported"
    title: ClassVar[str] = "Not supported by the embedded engine"


class QueryExecutionError(ProblemError):
    """The expression cannot be evaluated on the samples that it selects."""

    status: ClassVar[int] = 422
    code: ClassVar[str] = "promql-execution"
    title: ClassVar[str] = "The query cannot be evaluated"


class QueryTooLargeError(LimitError):
    """The query would pass a limit of the engine."""

    code: ClassVar[str] = "promql-limit"
    title: ClassVar[str] = "The query is too large"


class QueryMemoryError(QueryTooLargeError):
    """The query would take more memory than one may have."""

    code: ClassVar[str] = "query-memory"


class QueryTimeoutError(UnavailableError):
    """The query took longer than it may."""

    code: ClassVar[str] = "promql-timeout"
    title: ClassVar[str] = "The query took too long"


class QueryBusyError(UnavailableError):
    """Too many are asking; the same query may be answered in a moment."""

    code: ClassVar[str] = "query-busy"
    title: ClassVar[str] = "Too many queries"
    retry_after_seconds: ClassVar[int] = 5
