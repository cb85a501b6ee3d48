"""Health of targets and collectors over HTTP."""

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request

from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.targets.schemas import TargetList
from loadwatch_backend.targets.service import TargetService

router = APIRouter(prefix="/api/targets", tags=["targets"], responses=PROBLEM_RESPONSES)


def target_service(request: Request) -> TargetService:
    """The application's view of its targets."""
    return cast(TargetService, request.app.state.targets)


@router.get("", summary="List targets")
def list_targets(service: Annotated[TargetService, Depends(target_service)]) -> TargetList:
    """Health, lag, cost and last error of every collector; a target that fell silent stays listed."""
    return service.list()
