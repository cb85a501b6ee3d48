"""Routes of a run, over HTTP."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from loadwatch_backend.evidence.routes.schemas import RoutesWindow, RunRoutes
from loadwatch_backend.evidence.routes.service import RouteTables
from loadwatch_backend.kit.language import Language
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.kit.services import service
from loadwatch_backend.promql.admission.classes import Queries
from loadwatch_backend.promql.http.streaming import answer

router = APIRouter(prefix="/api", tags=["evidence"], responses=PROBLEM_RESPONSES)


@router.get("/runs/{run_id}/routes", summary="Read the routes of a run", response_model=RunRoutes)
async def read_run_routes(
    request: Request,
    tables: Annotated[RouteTables, Depends(service(RouteTables))],
    queries: Annotated[Queries, Depends(service(Queries))],
    run_id: Annotated[str, Path(max_length=40)],
    base: Annotated[
        str | None,
        Query(max_length=40, description="The scenario's baseline by default, else the run before."),
    ] = None,
    window: Annotated[
        RoutesWindow | None, Query(description="The steady window by default, where the run has one.")
    ] = None,
    lang: Annotated[Language, Query(description="Language of the remarks.")] = Language.EN,
) -> Response:
    """Requests, statuses, durations and bytes by route, held against a baseline."""

    def document() -> Iterator[bytes]:
        yield tables.of_run(run_id, base, window, lang).model_dump_json().encode()

    return await answer(request, queries.pages, lambda _: document())
