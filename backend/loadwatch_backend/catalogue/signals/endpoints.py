"""The catalogue of signals, their values, and headroom over HTTP."""

from collections.abc import Iterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response

from loadwatch_backend.catalogue.signals.schemas import Headroom, SignalAnswer, SignalCatalogue, SignalQuery
from loadwatch_backend.catalogue.signals.service import SignalService
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES, Milliseconds
from loadwatch_backend.core.services import service
from loadwatch_backend.series.promql.admission import Queries
from loadwatch_backend.series.promql.http.streaming import answer

router = APIRouter(prefix="/api", tags=["signals"], responses=PROBLEM_RESPONSES)


Service = Annotated[SignalService, Depends(service(SignalService))]
QueryQueues = Annotated[Queries, Depends(service(Queries))]
Lang = Annotated[Language, Query(description="Language of titles and help.")]


def _json(document: dict[str, Any]) -> Iterator[bytes]:
    """Write numpy arrays as they are, without a pass through the schema: the answer can hold 100,000 numbers."""
    yield orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


@router.get("/signals", summary="List signals and resources")
def list_signals(service: Service, lang: Lang = Language.EN) -> SignalCatalogue:
    """Groups in page order, the signals of their panels, and all that can run out."""
    return service.catalogue(lang)


@router.post("/signals/query", summary="Read values of signals", response_model=SignalAnswer)
async def query_signals(request: Request, service: Service, queries: QueryQueues, body: SignalQuery) -> Response:
    """Values of any number of signals on one grid; spikes survive the reduction to `max_points`."""
    return await answer(request, queries.pages, lambda ticket: _json(service.query(body, ticket)))


@router.get("/headroom", summary="Read headroom", response_model=Headroom)
async def read_headroom(
    request: Request,
    service: Service,
    queries: QueryQueues,
    at_ms: Annotated[Milliseconds | None, Query()] = None,
    lang: Lang = Language.EN,
) -> Response:
    """Used and limit of every resource, with the time to exhaustion at the present slope."""
    return await answer(request, queries.pages, lambda ticket: _json(service.headroom(at_ms, lang, ticket)))
