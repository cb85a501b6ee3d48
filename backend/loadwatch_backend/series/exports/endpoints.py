"""Samples out over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service
from loadwatch_backend.series.exports.service import MEDIA_TYPE, Exports
from loadwatch_backend.series.promql.admission import Queries
from loadwatch_backend.series.promql.http.parameters import Parameters, read_parameters
from loadwatch_backend.series.promql.http.streaming import answer

router = APIRouter(prefix="/api/export", tags=["export"], responses=PROBLEM_RESPONSES)

_TEXTS = {"type": "array", "items": {"type": "string"}}
_PARAMETERS = [
    {"name": name, "in": "query", "required": False, "description": text, "schema": schema}
    for name, text, schema in (
        ("match[]", "Series selector; may be repeated. Default: all series", _TEXTS),
        ("start", "First time: seconds since the epoch or RFC 3339", {"type": "string"}),
        ("end", "Last time: seconds since the epoch or RFC 3339", {"type": "string"}),
    )
]


@router.get(
    "",
    summary="Export samples as OpenMetrics text",
    response_class=Response,
    responses={200: {"description": "OpenMetrics text 1.0", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
    openapi_extra={"parameters": _PARAMETERS},
)
async def export(
    request: Request,
    exports: Annotated[Exports, Depends(service(Exports))],
    queries: Annotated[Queries, Depends(service(Queries))],
    parameters: Annotated[Parameters, Depends(read_parameters)],
) -> Response:
    """All raw samples with their times, while they are read. An answer without `# EOF` at its end was broken off."""
    selectors = parameters.matchers()
    start, end = parameters.span_ms()
    return await answer(
        request, queries.exports, lambda ticket: exports.text(selectors, start, end, ticket), MEDIA_TYPE
    )
