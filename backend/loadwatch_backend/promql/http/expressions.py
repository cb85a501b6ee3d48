"""What Prometheus' API says of an expression without evaluating it."""

from fastapi import APIRouter, Response

from loadwatch_backend.promql.http.describe import RESPONSES, documented, form_of
from loadwatch_backend.promql.http.endpoints import Query, whole
from loadwatch_backend.promql.http.parameters import NEWEST_MS, OLDEST_MS, InvalidParameterError
from loadwatch_backend.promql.parsing.parse import expression_tree, format_expression, parse_expression

expressions_router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])

_QUERY = documented("query", required=["query"])
_QUERY_FORM = form_of("query", required=["query"])


@expressions_router.get("/format_query", summary="Format an expression", responses=RESPONSES, openapi_extra=_QUERY)
@expressions_router.post(
    "/format_query", summary="Format an expression, by form", responses=RESPONSES, openapi_extra=_QUERY_FORM
)
def format_query(parameters: Query) -> Response:
    """An expression, laid out over lines."""
    return whole(format_expression(parameters.text("query")))


@expressions_router.get("/parse_query", summary="Parse an expression", responses=RESPONSES, openapi_extra=_QUERY)
@expressions_router.post(
    "/parse_query", summary="Parse an expression, by form", responses=RESPONSES, openapi_extra=_QUERY_FORM
)
def parse_query(parameters: Query) -> Response:
    """The tree of an expression, for programs that draw or change it."""
    return whole(expression_tree(parameters.text("query")))


_EXEMPLARS = ("query", "start", "end")


@expressions_router.get(
    "/query_exemplars",
    summary="Exemplars: none",
    responses=RESPONSES,
    openapi_extra=documented(*_EXEMPLARS, required=["query"]),
)
@expressions_router.post(
    "/query_exemplars",
    summary="Exemplars by form: none",
    responses=RESPONSES,
    openapi_extra=form_of(*_EXEMPLARS, required=["query"]),
)
def query_exemplars(parameters: Query) -> Response:
    """Always an empty list, since no exemplars are stored; Grafana asks beside each graph."""
    start, end = parameters.time_ms("start", OLDEST_MS), parameters.time_ms("end", NEWEST_MS)
    if end < start:
        raise InvalidParameterError("end timestamp must not be before start timestamp")
    parse_expression(parameters.text("query"))
    return whole([])
