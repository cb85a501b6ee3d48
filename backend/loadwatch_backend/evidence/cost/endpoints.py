"""What requests cost, over HTTP."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from loadwatch_backend.evidence.cost.schemas import CostOut, CostWindow
from loadwatch_backend.evidence.cost.service import RunCosts
from loadwatch_backend.kit.language import Language
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.kit.services import service
from loadwatch_backend.promql.admission.classes import Queries
from loadwatch_backend.promql.http.streaming import answer

router = APIRouter(prefix="/api", tags=["evidence"], responses=PROBLEM_RESPONSES)


@router.get("/runs/{run_id}/cost", summary="Read what the requests of a run cost", response_model=CostOut)
async def read_cost(
    request: Request,
    costs: Annotated[RunCosts, Depends(service(RunCosts))],
    queries: Annotated[Queries, Depends(service(Queries))],
    run_id: Annotated[str, Path(max_length=40)],
    base: Annotated[
        str | None,
        Query(max_length=40, description="The scenario's baseline by default, else the run before."),
    ] = None,
    window: Annotated[
        CostWindow | None, Query(description="The steady window by default, where the run has one.")
    ] = None,
    lang: Annotated[Language, Query(description="Language of what functions mean.")] = Language.EN,
) -> Response:
    """Routes with the statements that their requests ask, by database time, held against a baseline."""

    def document() -> Iterator[bytes]:
        yield costs.read(run_id, base, window, lang).model_dump_json().encode()

    return await answer(request, queries.pages, lambda _: document())
