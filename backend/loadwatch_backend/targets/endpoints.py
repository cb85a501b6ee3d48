"""Health of targets and collectors over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.kit.services import service
from loadwatch_backend.targets.schemas import TargetAnswerIn, TargetList
from loadwatch_backend.targets.service import TargetService

router = APIRouter(prefix="/api/targets", tags=["targets"], responses=PROBLEM_RESPONSES)


@router.get("", summary="List targets")
def list_targets(service: Annotated[TargetService, Depends(service(TargetService))]) -> TargetList:
    """Health, lag, cost and last error of every collector; a target that fell silent stays listed for seven days."""
    return service.list()


@router.post("/answers", summary="Say whether silent targets were taken away")
def answer_for_targets(
    service: Annotated[TargetService, Depends(service(TargetService))], body: TargetAnswerIn, actor: Actor
) -> TargetList:
    """What was taken away leaves the list, and its alerts without data end; it comes back when it is sent again."""
    return service.answer(body, actor.name)
