"""Prometheus' HTTP API for queries, so that Grafana can use Loadwatch as a Prometheus data source.

https://prometheus.io/docs/prometheus/latest/querying/api/ — same paths, parameters, shapes and errors. Handlers are
coroutines that wait for their turn among all queries; the work is done in threads that are kept for it. Errors get
Prometheus' shape where the application turns them into documents.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse
from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.services import service
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.series.promql.admission import LABELS_BYTES, Queries, Ticket
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.errors import QueryTooLargeError
from loadwatch_backend.series.promql.http.parameters import (
    InvalidParameterError,
    Parameters,
    read_parameters,
    unescape_label,
)
from loadwatch_backend.series.promql.http.response import (
    answer_bytes,
    in_pieces,
    listed,
    matrix_rows,
    query_document,
    raw_rows,
    scalar_text,
    vector_rows,
)
from loadwatch_backend.series.promql.http.streaming import answer
from loadwatch_backend.series.promql.labels import label_key, take_rows
from loadwatch_backend.series.promql.notes import Notes
from loadwatch_backend.series.promql.parsing.expression import ValueType
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.promql.value import Grid, Matrix, RawMatrix, Scalar, StringValue
from loadwatch_backend.series.store.port import QueryPasser, StoreStatistics

DESCRIPTIONS = {
    "query": "PromQL expression",
    "time": "Evaluation time: seconds since the epoch or RFC 3339; now by default",
    "start": "First time: seconds since the epoch or RFC 3339",
    "end": "Last time: seconds since the epoch or RFC 3339",
    "step": "Seconds or a duration such as 15s",
    "limit": "Number of results; 0 means all",
    "lookback_delta": "How long a sample counts as the present value; 5m by default",
    "match[]": "Series selector; may be repeated",
    "metric": "Name of one metric",
    "limit_per_metric": "Number of entries of each metric",
}


def documented(*names: str, required: Sequence[str] = ()) -> dict[str, Any]:
    """OpenAPI for parameters that may come in the address or in a form."""
    return {
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "description": DESCRIPTIONS[name],
                "schema": _schema(name),
            }
            for name in names
        ]
    }


def _schema(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}} if name == "match[]" else {"type": "string"}


def form_of(*names: str, required: Sequence[str] = ()) -> dict[str, Any]:
    properties = {name: {"description": DESCRIPTIONS[name], **_schema(name)} for name in names}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "requestBody": {
            "required": bool(required),
            "content": {"application/x-www-form-urlencoded": {"schema": schema}},
        }
    }


_ERROR = {"content": {"application/json": {"schema": {"type": "object", "required": ["status", "errorType", "error"]}}}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"description": "A parameter or the expression is not valid", **_ERROR},
    413: {"description": "The form is too large"},
    422: {"description": "The expression cannot be evaluated, or is too large", **_ERROR},
    503: {"description": "The query took too long, or the store is not available", **_ERROR},
}


_TRUNCATED = "results truncated due to limit"
MOST_LOOKBACK_MS = 86_400_000
"""Longest lookback_delta of a query: every slice of a range query reads that far back."""


router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])
root_router = APIRouter(prefix="/prometheus", tags=["prometheus"])
_ROOT = """Loadwatch speaks Prometheus' HTTP API here. As a data source, enter this address; it asks for
/prometheus/api/v1/query and its like. Samples go to /prometheus/api/v1/write.
"""

Query = Annotated[Parameters, Depends(read_parameters)]
PromqlEngine = Annotated[Engine, Depends(service(Engine))]
QueryQueues = Annotated[Queries, Depends(service(Queries))]
Handler = TypeVar("Handler", bound=Callable[..., Any])


def _asked(
    path: str, summary: str, by_form: str, names: Sequence[str], required: Sequence[str] = ()
) -> Callable[[Handler], Handler]:
    """Decorator that registers a handler for GET with query parameters and for POST with a form."""

    def add(handler: Handler) -> Handler:
        form, address = form_of(*names, required=required), documented(*names, required=required)
        router.post(path, summary=by_form, responses=RESPONSES, openapi_extra=form)(handler)
        return router.get(path, summary=summary, responses=RESPONSES, openapi_extra=address)(handler)

    return add


def whole(data: object) -> Response:
    return Response(b'{"status":"success","data":%b}' % orjson.dumps(data), media_type="application/json")


def _limited(matrix: Matrix, limit: int | None) -> tuple[Matrix, list[str]]:
    if limit is None or len(matrix.labels) <= limit:
        return matrix, []
    return take_rows(matrix, range(limit)), [_TRUNCATED]


def _lookback(parameters: Parameters) -> int | None:
    if not parameters.text("lookback_delta"):
        return None
    lookback = parameters.duration_ms("lookback_delta")
    if lookback <= 0:
        raise InvalidParameterError('invalid parameter "lookback_delta": it must be greater than zero')
    if lookback > MOST_LOOKBACK_MS:
        raise InvalidParameterError('invalid parameter "lookback_delta": it must be one day (1d) at most')
    return lookback


def _pieces(engine: Engine, value: Matrix | RawMatrix, parts: Iterator[str]) -> Iterator[bytes]:
    """Cut an answer into pieces; raises QueryTooLargeError when it may exceed `answer_bytes`."""
    size, most = answer_bytes(value), engine.settings.answer_bytes
    if size > most:
        raise QueryTooLargeError(
            f"the answer may have {size} bytes, more than {most}: ask for fewer series, a larger step or a shorter"
            " range, aggregate, or raise LOADWATCH_QUERY_MEMORY_BYTES"
        )
    return in_pieces(parts)


def _passed(
    store: QueryPasser, path: str, parameters: Parameters, names: Sequence[str]
) -> Callable[[Ticket], Iterator[bytes]]:
    pairs = [(name, text) for name in names if (text := parameters.text(name))]
    return lambda ticket: store.query(path, pairs, ticket.cancellation)


_QUERY = ("query", "time", "limit", "lookback_delta")


@_asked("/query", "Instant query", "Instant query by form", _QUERY, required=["query"])
async def query(request: Request, engine: PromqlEngine, queries: QueryQueues, parameters: Query) -> Response:
    """The value of an expression at one instant."""
    text, time_ms = parameters.text("query"), parameters.time_ms("time", int(time.time() * 1000))
    limit, lookback = parameters.limit(), _lookback(parameters)
    if isinstance(engine.store, QueryPasser):
        return await answer(request, queries.api, _passed(engine.store, "query", parameters, _QUERY))

    def write(ticket: Ticket) -> Iterator[bytes]:
        asked = engine.bound(ticket)
        notes = Notes()
        found = asked.answer(text, time_ms, lookback_ms=lookback, notes=notes)
        match found.value:
            case Matrix():
                matrix, cut = _limited(found.value, limit)
                rows = vector_rows(matrix, time_ms)
                return _pieces(asked, matrix, query_document(found.type, rows, notes.warnings + cut, notes.infos))
            case RawMatrix():
                rows = raw_rows(found.value)
                return _pieces(asked, found.value, query_document(found.type, rows, notes.warnings, notes.infos))
            case Scalar() | StringValue():
                text_of = scalar_text(found.value, time_ms)
                return in_pieces(query_document(found.type, text_of, notes.warnings, notes.infos))

    return await answer(request, queries.api, write)


_QUERY_RANGE = ("query", "start", "end", "step", "limit", "lookback_delta")
_REQUIRED_RANGE = ("query", "start", "end", "step")


@_asked("/query_range", "Range query", "Range query by form", _QUERY_RANGE, required=_REQUIRED_RANGE)
async def query_range(request: Request, engine: PromqlEngine, queries: QueryQueues, parameters: Query) -> Response:
    """The value of an expression at start, start + step, ... up to end."""
    start, end = parameters.span_ms(None, None)
    step = parameters.duration_ms("step")
    if step <= 0:
        raise InvalidParameterError(
            'invalid parameter "step": zero or negative query resolution step widths are not accepted.'
            " Try a positive integer"
        )
    if (end - start) // step > engine.settings.max_steps:
        raise InvalidParameterError(
            f"exceeded maximum resolution of {engine.settings.max_steps:,} points per timeseries."
            " Try decreasing the query resolution (?step=XX)"
        )
    text, limit, lookback = parameters.text("query"), parameters.limit(), _lookback(parameters)
    if isinstance(engine.store, QueryPasser):
        return await answer(request, queries.api, _passed(engine.store, "query_range", parameters, _QUERY_RANGE))

    def write(ticket: Ticket) -> Iterator[bytes]:
        asked = engine.bound(ticket)
        notes = Notes()
        matrix, cut = _limited(asked.range(text, start, end, step, lookback_ms=lookback, notes=notes), limit)
        grid = Grid(start_ms=start, step_ms=step, count=matrix.values.shape[1])
        rows = matrix_rows(matrix, grid)
        return _pieces(asked, matrix, query_document(ValueType.MATRIX, rows, notes.warnings + cut, notes.infos))

    return await answer(request, queries.api, write)


def _listed(values: Sequence[Any], limit: int | None) -> Iterator[bytes]:
    cut = values if limit is None else values[:limit]
    warnings = [_TRUNCATED] if len(cut) < len(values) else []
    return in_pieces(listed((orjson.dumps(value) for value in cut), warnings))


_MATCH = ("match[]", "start", "end", "limit")


@_asked("/series", "Series that match", "Series that match, by form", _MATCH, required=["match[]"])
async def series(request: Request, engine: PromqlEngine, queries: QueryQueues, parameters: Query) -> Response:
    """Label sets of all series that match any of the selectors."""
    matchers, span, limit = parameters.matchers(), parameters.span_ms(), parameters.limit()
    if not matchers:
        raise InvalidParameterError("no match[] parameter provided")

    def write(ticket: Ticket) -> Iterator[bytes]:
        found = engine.store.series(matchers, *span)
        ticket.take(len(found) * LABELS_BYTES)
        keys = sorted(label_key(labels) for labels in found)
        return _listed([dict(key) for key in keys], limit)

    return await answer(request, queries.api, write)


@_asked("/labels", "Names of labels", "Names of labels, by form", _MATCH)
async def labels(request: Request, engine: PromqlEngine, queries: QueryQueues, parameters: Query) -> Response:
    """Sorted names of the labels of all series that match."""
    matchers, span, limit = parameters.matchers(), parameters.span_ms(), parameters.limit()
    return await answer(request, queries.api, lambda _: _listed(engine.store.label_names(matchers, *span), limit))


@router.get("/label/{name}/values", summary="Values of a label", responses=RESPONSES, openapi_extra=documented(*_MATCH))
async def label_values(
    request: Request, engine: PromqlEngine, queries: QueryQueues, name: str, parameters: Query
) -> Response:
    """Sorted values of one label over all series that match."""
    matchers, span, limit = parameters.matchers(), parameters.span_ms(), parameters.limit()
    label = unescape_label(name)
    return await answer(
        request, queries.api, lambda _: _listed(engine.store.label_values(label, matchers, *span), limit)
    )


_EXEMPLARS = ("query", "start", "end")


@_asked("/query_exemplars", "Exemplars: none", "Exemplars by form: none", _EXEMPLARS, required=["query"])
def query_exemplars(parameters: Query) -> Response:
    """Always an empty list, since no exemplars are stored; Grafana asks beside each graph."""
    parameters.span_ms()
    parse_expression(parameters.text("query"))
    return whole([])


@router.get(
    "/metadata",
    summary="Metadata of metrics",
    responses=RESPONSES,
    openapi_extra=documented("metric", "limit", "limit_per_metric"),
)
def metadata(engine: PromqlEngine, parameters: Query) -> Response:
    """Type, help and unit of metrics, as their senders gave them: one entry of each, the newest."""
    known = engine.store.metadata()
    wanted, limit = parameters.text("metric"), parameters.number("limit")
    parameters.number("limit_per_metric")
    names = sorted(name for name in known if not wanted or name == wanted)[:limit]
    return whole(
        {name: [{"type": known[name].type, "help": known[name].help, "unit": known[name].unit}] for name in names}
    )


@root_router.get("", include_in_schema=False, response_class=PlainTextResponse)
@root_router.get("/", summary="Say what is here", response_class=PlainTextResponse)
async def read_root() -> str:
    """For people and tools that open the address of the data source itself."""
    return _ROOT


PROMETHEUS_VERSION = "3.0.0"
"""The version whose queries and HTTP API this follows; Grafana picks its features by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    clock: Clock
    started_ms: int
    retention: str
    flags: Mapping[str, str]
    """Of Prometheus' flags those that mean something here."""
    configuration: str
    """YAML, as Prometheus would have it in its file."""
    statistics: Callable[[], StoreStatistics]


status_router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])

Facts = Annotated[ServerFacts, Depends(service(ServerFacts))]


@status_router.get("/status/buildinfo", summary="Version")
def build_info() -> Response:
    """What Grafana asks to know which features it may use."""
    return whole(
        {
            "application": "Loadwatch",
            "version": PROMETHEUS_VERSION,
            "revision": VERSION,
            "branch": "",
            "buildUser": "",
            "buildDate": "",
            "goVersion": "",
        }
    )


@status_router.get("/status/runtimeinfo", summary="Start, clock and retention")
def runtime_info(facts: Facts) -> Response:
    """What a Prometheus says of its process; threads stand for goroutines, and what only Go has is empty."""
    started = format_rfc3339(facts.started_ms)
    return whole(
        {
            "startTime": started,
            "CWD": "",
            "hostname": socket.gethostname(),
            "serverTime": format_rfc3339(facts.clock()),
            "reloadConfigSuccess": True,
            "lastConfigTime": started,
            "corruptionCount": 0,
            "goroutineCount": threading.active_count(),
            "GOMAXPROCS": len(os.sched_getaffinity(0)),
            "GOMEMLIMIT": 0,
            "GOGC": "",
            "GODEBUG": "",
            "storageRetention": facts.retention,
        }
    )


@status_router.get("/status/flags", summary="Settings, as Prometheus names them")
def flags(facts: Facts) -> Response:
    """Texts by the name of the flag; what has no counterpart here is left out."""
    return whole(dict(facts.flags))


@status_router.get("/status/config", summary="Configuration, as Prometheus writes it")
def configuration(facts: Facts) -> Response:
    """Interval of rules, rule files and no external labels: readers such as Thanos ask for them."""
    return whole({"yaml": facts.configuration})


@status_router.get("/alertmanagers", summary="Alertmanagers: none")
def alertmanagers() -> Response:
    """None: the server sends its notifications itself."""
    return whole({"activeAlertmanagers": [], "droppedAlertmanagers": []})


@status_router.get("/status/tsdb", summary="Number of series")
def tsdb(engine: PromqlEngine, facts: Facts) -> Response:
    """Series and times of the store; lists of the largest names and labels are empty: `/api/store` has them."""
    statistics = facts.statistics()
    head = {
        "numSeries": statistics.series,
        "numLabelPairs": 0,
        "chunkCount": statistics.head_blocks,
        "minTime": statistics.head_complete_ms,
        "maxTime": engine.store.newest_ms() or 0,
    }
    names = "seriesCountByMetricName labelValueCountByLabelName memoryInBytesByLabelName seriesCountByLabelValuePair"
    lists: dict[str, list[object]] = {name: [] for name in names.split()}
    return whole({"headStats": head, **lists})
