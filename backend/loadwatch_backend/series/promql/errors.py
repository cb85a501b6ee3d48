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

from loadwatch_backend.core.errors import BadRequestError, LimitError, ProblemError, UnavailableError


class QueryParseError(BadRequestError, code="promql-parse", title="Not a PromQL expression"):
    """The text is not a PromQL expression."""


class QueryUnsupportedError(BadRequestError, code="promql-unsupported", title="Not supported by the embedded engine"):
    """The text is PromQL, and uses a construct that the embedded engine does not evaluate."""


class QueryExecutionError(ProblemError, code="promql-execution", status=422, title="The query cannot be evaluated"):
    """The expression cannot be evaluated on the samples that it selects."""


class QueryTooLargeError(LimitError, code="promql-limit", title="The query is too large"):
    """The query would pass a limit of the engine."""


class QueryMemoryError(QueryTooLargeError, code="query-memory"):
    """The query would take more memory than one may have."""


class QueryTimeoutError(UnavailableError, code="promql-timeout", title="The query took too long"):
    """The query took longer than it may."""


class QueryBusyError(UnavailableError, code="query-busy", title="Too many queries"):
    """Too many are asking; the same query may be answered in a moment."""
