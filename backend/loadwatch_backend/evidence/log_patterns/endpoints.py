"""Log patterns over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path

from loadwatch_backend.evidence.log_patterns.schemas import LogPatternList
from loadwatch_backend.evidence.log_patterns.service import LogPatternService
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.kit.services import REPORTS, service

router = APIRouter(prefix="/api", tags=["evidence"], responses=PROBLEM_RESPONSES)


@router.get("/runs/{run_id}/log-patterns", summary="Read the log lines of a run by pattern")
@REPORTS.endpoint
def read_log_patterns(
    service: Annotated[LogPatternService, Depends(service(LogPatternService))],
    run_id: Annotated[str, Path(max_length=40)],
) -> LogPatternList:
    """What is new or grew against the time before the run comes first."""
    return service.of_run(run_id)
