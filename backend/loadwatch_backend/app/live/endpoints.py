"""News of committed samples and of alerts as server-sent events."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse

from loadwatch_backend.access.endpoints import Leave
from loadwatch_backend.app.live.hub import LiveHub
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service

router = APIRouter(prefix="/api/live", tags=["live"], responses=PROBLEM_RESPONSES)

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`event: samples` with `newest_ms` and `committed_ms`, and `event: alerts` with `changed_ms`, "
        "each at most four times a second.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("", summary="Follow new samples", response_class=StreamingResponse, responses=STREAM)
async def follow_samples(hub: Annotated[LiveHub, Depends(service(LiveHub))], leave: Leave) -> StreamingResponse:
    """A stream that says when new samples can be read; a comment line every 10 s keeps proxies from closing it.

    It ends within about a second of the session or token, or when the role changes.
    """
    return StreamingResponse(
        hub.stream(leave),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
