"""Findings of the present, advice on pools and ladders of timeouts over HTTP; findings of a run are in the run."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES, Milliseconds
from loadwatch_backend.core.services import REPORTS, service
from loadwatch_backend.findings.advisor.service import PoolAdviceOut, PoolAdvisor
from loadwatch_backend.findings.opinions import Opinions
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.findings.timeouts.service import TimeoutService
from loadwatch_backend.findings.timeouts.writing import TimeoutsOut
from loadwatch_backend.series.promql.admission import Queries
from loadwatch_backend.series.promql.http.streaming import answer

router = APIRouter(prefix="/api/findings", tags=["findings"], responses=PROBLEM_RESPONSES)


@router.get("", summary="Read the findings of the present", response_model=FindingsOut)
async def read_findings(
    request: Request,
    findings: Annotated[Findings, Depends(service(Findings))],
    opinions: Annotated[Opinions, Depends(service(Opinions))],
    queries: Annotated[Queries, Depends(service(Queries))],
) -> Response:
    """What ran out first, with its evidence; computed at most each five seconds, for all who ask.

    While a run lasts, and for five minutes after it, these are the findings of the run's own document (`run` is its
    id), after those that began since it ended.
    """

    def document() -> Iterator[bytes]:
        yield opinions.judged_now(findings.present()).model_dump_json().encode()

    return await answer(request, queries.pages, lambda _: document())


pool_advice_router = APIRouter(prefix="/api/pool-advice", tags=["findings"], responses=PROBLEM_RESPONSES)

JobCount = Annotated[str, Query(max_length=205, pattern=r"^.{1,200}:[1-9][0-9]{0,2}$")]


@pool_advice_router.get("", summary="Advise on the size of connection pools", response_model=PoolAdviceOut)
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

    def document() -> Iterator[bytes]:
        yield advisor.advise(run, start_ms, end_ms, server, numbers).model_dump_json().encode()

    return await answer(request, queries.pages, lambda _: document())


timeouts_router = APIRouter(prefix="/api/timeouts", tags=["timeouts"], responses=PROBLEM_RESPONSES)


@timeouts_router.get("", summary="Read the ladder of timeouts")
@REPORTS.endpoint
def read_timeouts(
    service: Annotated[TimeoutService, Depends(service(TimeoutService))],
    at_ms: Annotated[Milliseconds | None, Query(description="An instant in the past; now without it.")] = None,
    lang: Annotated[Language, Query(description="Language of the words.")] = Language.EN,
) -> TimeoutsOut:
    """For each path from client to database: its timeouts, and where their order does harm."""
    return service.read(at_ms, lang)
