"""Tables of a run over HTTP."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES, Schema
from loadwatch_backend.core.services import REPORTS, service
from loadwatch_backend.evidence.cost.documents import CostOut, CostWindow
from loadwatch_backend.evidence.log_patterns import LogPatternList
from loadwatch_backend.evidence.routes import RoutesWindow, RunRoutes
from loadwatch_backend.evidence.run_tables import RunTables
from loadwatch_backend.evidence.statements import StatementsOut, StatementsWindow
from loadwatch_backend.series.promql.admission import Queries
from loadwatch_backend.series.promql.http.streaming import answer

cost_router = APIRouter(prefix="/api/runs/{run_id}", tags=["evidence"], responses=PROBLEM_RESPONSES)
tables_router = APIRouter(prefix="/api/runs/{run_id}", tags=["evidence"], responses=PROBLEM_RESPONSES)
"""Two, since profiles stand between them in the API's document."""

Tables = Annotated[RunTables, Depends(service(RunTables))]
RunId = Annotated[str, Path(max_length=40)]
Base = Annotated[
    str | None, Query(max_length=40, description="The scenario's baseline by default, else the run before.")
]
OfPart = Query(description="The steady window by default, where the run has one.")
RemarksLanguage = Annotated[Language, Query(description="Language of the remarks.")]
Document = Callable[[Callable[[], Schema]], Awaitable[Response]]


async def _paged(request: Request, queries: Annotated[Queries, Depends(service(Queries))]) -> Document:
    """Returns a function that builds a document in the queue of pages' queries."""

    def respond(read: Callable[[], Schema]) -> Awaitable[Response]:
        def document() -> Iterator[bytes]:
            yield read().model_dump_json().encode()

        return answer(request, queries.pages, lambda _: document())

    return respond


Paged = Annotated[Document, Depends(_paged)]


@cost_router.get("/log-patterns", summary="Read the log lines of a run by pattern")
@REPORTS.endpoint
def read_log_patterns(tables: Tables, run_id: RunId) -> LogPatternList:
    """What is new or grew against the time before the run comes first."""
    return tables.log_patterns(run_id)


@cost_router.get("/cost", summary="Read what the requests of a run cost", response_model=CostOut)
async def read_cost(
    tables: Tables,
    page: Paged,
    run_id: RunId,
    base: Base = None,
    window: Annotated[CostWindow | None, OfPart] = None,
    lang: Annotated[Language, Query(description="Language of what functions mean.")] = Language.EN,
) -> Response:
    """Routes with the statements that their requests ask, by database time, held against a baseline."""
    return await page(lambda: tables.costs.of_run(tables.held(run_id, base, whole=window is CostWindow.WHOLE), lang))


@tables_router.get("/statements", summary="Read the statements of a run", response_model=StatementsOut)
async def read_statements(
    tables: Tables,
    page: Paged,
    run_id: RunId,
    base: Base = None,
    window: Annotated[StatementsWindow | None, OfPart] = None,
    lang: RemarksLanguage = Language.EN,
) -> Response:
    """What the databases were asked, by time, with how much of all that is, held against a baseline."""
    whole = window is StatementsWindow.WHOLE
    return await page(lambda: tables.statements.of_run(tables.held(run_id, base, whole=whole), lang))


@tables_router.get("/routes", summary="Read the routes of a run", response_model=RunRoutes)
async def read_run_routes(
    tables: Tables,
    page: Paged,
    run_id: RunId,
    base: Base = None,
    window: Annotated[RoutesWindow | None, OfPart] = None,
    lang: RemarksLanguage = Language.EN,
) -> Response:
    """Requests, statuses, durations and bytes by route, held against a baseline."""
    return await page(lambda: tables.routes.of_run(tables.held(run_id, base, whole=window is RoutesWindow.WHOLE), lang))
