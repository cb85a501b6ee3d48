"""Findings of the present over HTTP; those of a run are in the run."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service
from loadwatch_backend.findings.opinions.service import Opinions
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.service import Findings
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
