"""Ladders of timeouts over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES, Milliseconds
from loadwatch_backend.core.services import REPORTS, service
from loadwatch_backend.findings.timeouts.service import TimeoutService
from loadwatch_backend.findings.timeouts.writing import TimeoutsOut

router = APIRouter(prefix="/api/timeouts", tags=["timeouts"], responses=PROBLEM_RESPONSES)


@router.get("", summary="Read the ladder of timeouts")
@REPORTS.endpoint
def read_timeouts(
    service: Annotated[TimeoutService, Depends(service(TimeoutService))],
    at_ms: Annotated[Milliseconds | None, Query(description="An instant in the past; now without it.")] = None,
    lang: Annotated[Language, Query(description="Language of the words.")] = Language.EN,
) -> TimeoutsOut:
    """For each path from client to database: its timeouts, and where their order does harm."""
    return service.read(at_ms, lang)
