"""Prometheus' HTTP API for queries, so that Grafana can use Loadwatch as a Prometheus data source.

https://prometheus.io/docs/prometheus/latest/querying/api/ — same paths, parameters, shapes and errors. Handlers are
plain functions: FastAPI runs them in its thread pool, so that a long query never holds up the event loop. Errors get
Prometheus' shape where the application turns them into documents.
"""

import time
from collections.abc import Sequence
from typing import Annotated, Any, cast

import orjson
import promql_parser
from fastapi import APIRouter, Depends, Request, Response

from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.promql.engine import Engine
from loadwatch_backend.promql.errors import QueryParseError
from loadwatch_backend.promql.expression import ValueType
from loadwatch_backend.promql.labels import label_key, take_rows
from loadwatch_backend.promql.parameters import (
    NEWEST_MS,
    OLDEST_MS,
    InvalidParameterError,
    Parameters,
    read_parameters,
    unescape_label,
)
from loadwatch_backend.promql.parse import parse_expression
from loadwatch_backend.promql.response import matrix_json, query_success, success, value_json
from loadwatch_backend.promql.value import Grid, Matrix

_PROMETHEUS_VERSION = "3.0.0"
"""The version whose queries and HTTP API this follows; Grafana picks its features by it."""
_TRUNCATED = "results truncated due to limit"


router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])

Query = Annotated[Parameters, Depends(read_parameters)]

_DESCRIPTIONS = {
    "query": "PromQL expression",
    "time": "Evaluation time: seconds since the epoch or RFC 3339; now by default",
    "start": "First time: seconds since the epoch or RFC 3339",
    "end": "Last time: seconds since the epoch or RFC 3339",
    "step": "Seconds or a duration such as 15s",
    "limit": "Number of results; 0 means all",
    "lookback_delta": "How long a sample counts as the present value; 5m by default",
    "match[]": "Series selector; may be repeated",
    "metric": "Name of one metric",
}


def _documented(*names: str, required: Sequence[str] = ()) -> dict[str, Any]:
    """OpenAPI for parameters that may come in the address or in a form."""
    return {
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "description": _DESCRIPTIONS[name],
                "schema": {"type": "array", "items": {"type": "string"}} if name == "match[]" else {"type": "string"},
            }
            for name in names
        ]
    }


def _form(*names: str, required: Sequence[str] = ()) -> dict[str, Any]:
    properties = {
        name: {
            "description": _DESCRIPTIONS[name],
            **({"type": "array", "items": {"type": "string"}} if name == "match[]" else {"type": "string"}),
        }
        for name in names
    }
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "requestBody": {
            "required": bool(required),
            "content": {"application/x-www-form-urlencoded": {"schema": schema}},
        }
    }


_ERROR = {"content": {"application/json": {"schema": {"type": "object", "required": ["status", "errorType", "error"]}}}}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"description": "A parameter or the expression is not valid", **_ERROR},
    413: {"description": "The form is too large"},
    422: {"description": "The expression cannot be evaluated, or is too large", **_ERROR},
    503: {"description": "The query took too long, or the store is not available", **_ERROR},
}


def _engine(request: Request) -> Engine:
    return cast(Engine, request.app.state.engine)


def _json(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/json")


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
    return lookback


_QUERY = ("query", "time", "limit", "lookback_delta")


@router.get(
    "/query", summary="Instant query", responses=_RESPONSES, openapi_extra=_documented(*_QUERY, required=["query"])
)
@router.post(
    "/query", summary="Instant query by form", responses=_RESPONSES, openapi_extra=_form(*_QUERY, required=["query"])
)
def query(request: Request, parameters: Query) -> Response:
    """The value of an expression at one instant."""
    time_ms = parameters.time_ms("time", int(time.time() * 1000))
    limit = parameters.limit()
    answer = _engine(request).answer(parameters.text("query"), time_ms, lookback_ms=_lookback(parameters))
    value, warnings = answer.value, list[str]()
    if isinstance(value, Matrix):
        value, warnings = _limited(value, limit)
    return _json(query_success(answer.type, value_json(value, time_ms), warnings))


_QUERY_RANGE = ("query", "start", "end", "step", "limit", "lookback_delta")
_REQUIRED_RANGE = ("query", "start", "end", "step")


@router.get(
    "/query_range",
    summary="Range query",
    responses=_RESPONSES,
    openapi_extra=_documented(*_QUERY_RANGE, required=_REQUIRED_RANGE),
)
@router.post(
    "/query_range",
    summary="Range query by form",
    responses=_RESPONSES,
    openapi_extra=_form(*_QUERY_RANGE, required=_REQUIRED_RANGE),
)
def query_range(request: Request, parameters: Query) -> Response:
    """The value of an expression at start, start + step, ... up to end."""
    engine = _engine(request)
    start, end = parameters.time_ms("start"), parameters.time_ms("end")
    if end < start:
        raise InvalidParameterError('invalid parameter "end": end timestamp must not be before start time')
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
    limit = parameters.limit()
    matrix = engine.range(parameters.text("query"), start, end, step, lookback_ms=_lookback(parameters))
    matrix, warnings = _limited(matrix, limit)
    grid = Grid(start_ms=start, step_ms=step, count=matrix.values.shape[1])
    return _json(query_success(ValueType.MATRIX, matrix_json(matrix, grid), warnings))


def _listed(values: Sequence[Any], limit: int | None) -> Response:
    cut = values if limit is None else values[:limit]
    return _json(success(orjson.dumps(cut).decode(), [_TRUNCATED] if len(cut) < len(values) else []))


_MATCH = ("match[]", "start", "end", "limit")


@router.get(
    "/series",
    summary="Series that match",
    responses=_RESPONSES,
    openapi_extra=_documented(*_MATCH, required=["match[]"]),
)
@router.post(
    "/series",
    summary="Series that match, by form",
    responses=_RESPONSES,
    openapi_extra=_form(*_MATCH, required=["match[]"]),
)
def series(request: Request, parameters: Query) -> Response:
    """Label sets of all series that match any of the selectors."""
    matchers = parameters.matchers()
    if not matchers:
        raise InvalidParameterError("no match[] parameter provided")
    found = _engine(request).store.series(matchers, *_span(parameters))
    return _listed([dict(key) for key in sorted(label_key(labels) for labels in found)], parameters.limit())


@router.get("/labels", summary="Names of labels", responses=_RESPONSES, openapi_extra=_documented(*_MATCH))
@router.post("/labels", summary="Names of labels, by form", responses=_RESPONSES, openapi_extra=_form(*_MATCH))
def labels(request: Request, parameters: Query) -> Response:
    """Sorted names of the labels of all series that match."""
    names = _engine(request).store.label_names(parameters.matchers(), *_span(parameters))
    return _listed(names, parameters.limit())


@router.get(
    "/label/{name}/values", summary="Values of a label", responses=_RESPONSES, openapi_extra=_documented(*_MATCH)
)
def label_values(request: Request, name: str, parameters: Query) -> Response:
    """Sorted values of one label over all series that match."""
    values = _engine(request).store.label_values(unescape_label(name), parameters.matchers(), *_span(parameters))
    return _listed(values, parameters.limit())


def _span(parameters: Parameters) -> tuple[int, int]:
    start, end = parameters.time_ms("start", OLDEST_MS), parameters.time_ms("end", NEWEST_MS)
    if end < start:
        raise InvalidParameterError('invalid parameter "end": end timestamp must not be before start time')
    return start, end


@router.get(
    "/metadata", summary="Metadata of metrics", responses=_RESPONSES, openapi_extra=_documented("metric", "limit")
)
def metadata(request: Request, parameters: Query) -> Response:
    """Type, help and unit of metrics, as their senders gave them."""
    known = _engine(request).store.metadata()
    wanted, limit = parameters.text("metric"), parameters.limit()
    names = sorted(name for name in known if not wanted or name == wanted)[:limit]
    document = {
        name: [{"type": known[name].type, "help": known[name].help, "unit": known[name].unit}] for name in names
    }
    return _json(success(orjson.dumps(document).decode()))


@router.get("/status/buildinfo", summary="Version")
def build_info() -> Response:
    """What Grafana asks to know which features it may use."""
    document = {
        "application": "Loadwatch",
        "version": _PROMETHEUS_VERSION,
        "revision": VERSION,
        "branch": "",
        "buildUser": "",
        "buildDate": "",
        "goVersion": "",
    }
    return _json(success(orjson.dumps(document).decode()))


@router.get(
    "/format_query",
    summary="Format an expression",
    responses=_RESPONSES,
    openapi_extra=_documented("query", required=["query"]),
)
@router.post(
    "/format_query",
    summary="Format an expression, by form",
    responses=_RESPONSES,
    openapi_extra=_form("query", required=["query"]),
)
def format_query(parameters: Query) -> Response:
    """An expression, laid out over lines."""
    text = parameters.text("query")
    # Turned down here for the same reasons as in a query, with the same message.
    parse_expression(text)
    try:
        pretty = promql_parser.parse(text).prettify()
    except ValueError as error:
        raise QueryParseError(str(error)) from error
    return _json(success(orjson.dumps(pretty).decode()))
