"""Findings of the present, mutes, and how often findings were right, over HTTP; those of a run are in the run."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.findings.opinions.schemas import MuteIn, MuteList, MuteOut, Precision
from loadwatch_backend.findings.opinions.service import Opinions
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.kit.services import service
from loadwatch_backend.promql.admission.classes import Queries
from loadwatch_backend.promql.http.streaming import answer

router = APIRouter(prefix="/api/findings", tags=["findings"], responses=PROBLEM_RESPONSES)

OpinionService = Annotated[Opinions, Depends(service(Opinions))]


@router.get("", summary="Read the findings of the present", response_model=FindingsOut)
async def read_findings(
    request: Request,
    findings: Annotated[Findings, Depends(service(Findings))],
    opinions: OpinionService,
    queries: Annotated[Queries, Depends(service(Queries))],
) -> Response:
    """What ran out first, with its evidence; computed at most each five seconds, for all who ask.

    While a run lasts, and for five minutes after it, these are the findings of the run's own document (`run` is its
    id), after those that began since it ended.
    """

    def document() -> Iterator[bytes]:
        yield opinions.judged_now(findings.present()).model_dump_json().encode()

    return await answer(request, queries.pages, lambda _: document())


@router.get("/precision", summary="Read how often findings were right")
def read_precision(opinions: OpinionService) -> Precision:
    """By the people of this installation: what was confirmed, what was rejected."""
    return opinions.precision()


@router.get("/mutes", summary="List muted findings")
def list_mutes(opinions: OpinionService) -> MuteList:
    """The newest first."""
    return opinions.mutes()


@router.post("/mutes", status_code=201, summary="Mute a finding")
def create_mute(opinions: OpinionService, body: MuteIn, actor: Actor) -> MuteOut:
    """On targets with all of the labels: it is still found and kept, and not said any more."""
    return opinions.mute(body, actor.author(body.author))


@router.delete("/mutes/{mute_id}", status_code=204, summary="Unmute a finding")
def delete_mute(opinions: OpinionService, mute_id: Annotated[int, Path(ge=1, le=2**53)]) -> None:
    """It is said again."""
    opinions.unmute(mute_id)
