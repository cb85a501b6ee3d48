"""Backups over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse

from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service
from loadwatch_backend.series.backups.service import Backups

router = APIRouter(prefix="/api/backup", tags=["backup"], responses=PROBLEM_RESPONSES)


@router.post("", summary="Make a backup", response_class=StreamingResponse)
def make_backup(backups: Annotated[Backups, Depends(service(Backups))]) -> StreamingResponse:
    """All that the server keeps, as a tar archive: its last member is `manifest.json`, or `failure.txt`."""
    # `identity`: what is inside is compressed already.
    return StreamingResponse(backups.make(), media_type="application/x-tar", headers={"Content-Encoding": "identity"})
