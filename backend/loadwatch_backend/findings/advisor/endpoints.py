"""Advice on pools over HTTP."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from loadwatch_backend.core.schemas import PROBLEM_RESPONSES, Milliseconds
from loadwatch_backend.core.services import service
from loadwatch_backend.findings.advisor.service import Asked, PoolAdviceOut, PoolAdvisor
from loadwatch_backend.series.promql.admission import Queries
from loadwatch_backend.series.promql.http.streaming import answer

router = APIRouter(prefix="/api/pool-advice", tags=["findings"], responses=PROBLEM_RESPONSES)

JobCount = Annotated[str, Query(max_length=205, pattern=r"^.{1,200}:[1-9][0-9]{0,2}$")]


@router.get("", summary="Advise on the size of connection pools", response_model=PoolAdviceOut)
async def advise_on_pools(
    request: Request,
    advisor: Annotated[PoolAdvisor, Depends(service(PoolAdvisor))],
    queries: Annotated[Queries, Depends(service(Queries))],
    start_ms: Annotated[
        Milliseconds | None, Query(description="A quarter of an hour before the end without it.")
    ] = None,
    end_ms: Annotated[
        Milliseconds | None, Query(description="Now without it; six hours after the start at most.")
    ] = None,
    run: Annotated[str, Query(max_length=40, description="A run in place of times.")] = "",
    server: Annotated[str, Query(max_length=200, description="Instance of the database, where several are seen.")] = "",
    instances: Annotated[
        list[JobCount], Query(max_length=20, description="JOB:N, to reckon with N instances of a job.")
    ] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Settings of all pools, what was asked of them while they were busiest, and what the database leaves."""
    numbers = {job: int(number) for job, _, number in (one.rpartition(":") for one in instances)}
    asked = Asked(run=run, start_ms=start_ms, end_ms=end_ms, server=server, instances=numbers)

    def document() -> Iterator[bytes]:
        yield advisor.advise(asked).model_dump_json().encode()

    return await answer(request, queries.pages, lambda _: document())
