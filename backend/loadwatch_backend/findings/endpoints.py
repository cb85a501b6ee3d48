"""Findings of the present over HTTP; those of a run are in the run."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.kit.services import service
from loadwatch_backend.promql.admission.classes import Queries
from loadwatch_backend.promql.http.streaming import answer

router = APIRouter(prefix="/api/findings", tags=["findings"], responses=PROBLEM_RESPONSES)


@router.get("", summary="Read the findings of the last five minutes", response_model=FindingsOut)
async def read_findings(
    request: Request,
    findings: Annotated[Findings, Depends(service(Findings))],
    queries: Annotated[Queries, Depends(service(Queries))],
) -> Response:
    """What ran out first, with its evidence; computed at most each five seconds, for all who ask."""

    def document() -> Iterator[bytes]:
        yield findings.live().model_dump_json().encode()

    return await answer(request, queries.pages, lambda ticket: document())  # noqa: ARG005
