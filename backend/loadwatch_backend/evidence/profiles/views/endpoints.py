"""Profiles of runs over HTTP."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import Lane, LaneBusyError, announced_size, request_body, service
from loadwatch_backend.core.uploads import UploadTooLargeError
from loadwatch_backend.evidence.files.schemas import FILE_ID_PATTERN
from loadwatch_backend.evidence.profiles.capture.orders import RUN_ID_PATTERN
from loadwatch_backend.evidence.profiles.reading.read import LIMITS
from loadwatch_backend.evidence.profiles.views.service import ProfileList, ProfileOut, Profiles, ProfileView, ViewAsk

router = APIRouter(prefix="/api", tags=["profiles"], responses=PROBLEM_RESPONSES)

Service = Annotated[Profiles, Depends(service(Profiles))]
RunId = Annotated[str, Path(pattern=RUN_ID_PATTERN, description="A run's id.")]
FileIds = list[Annotated[str, Query(pattern=FILE_ID_PATTERN)]]
MOST_FILES = 20
MOST_HELD_BYTES = 192 << 20
"""Of bodies that are arriving or wait to be read, all together."""
_held_bytes = 0
PROFILES = Lane("profiles", threads=1, waiting=20, seconds=30.0)
"""One at a time: a large profile takes memory."""


@router.get("/runs/{run_id}/profiles", summary="List the profiles of a run")
def list_profiles(
    service: Service,
    run_id: RunId,
    base: Annotated[
        str | None, Query(pattern=RUN_ID_PATTERN, description="The run to hold it against; its baseline by default.")
    ] = None,
) -> ProfileList:
    """And those of the run that it is held against."""
    return service.list(run_id, base)


@router.post(
    "/runs/{run_id}/profiles",
    status_code=201,
    summary="Keep a profile with a run",
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}, "required": True}},
)
async def add_profile(
    service: Service, request: Request, run_id: RunId, name: Annotated[str, Query(min_length=1, max_length=1_000)]
) -> ProfileOut:
    """Send the file as the body: pprof, or collapsed stacks (perf, async-profiler, py-spy)."""
    async with _content(request) as content:
        return await PROFILES.run(request, lambda: service.bring(run_id, name, content()))


@router.get("/profiles/view", summary="Read profiles: functions, tree, differences")
@PROFILES.endpoint
def read_profiles(
    service: Service,
    file: Annotated[FileIds, Query(min_length=1, max_length=MOST_FILES, description="Evidence files, as one.")],
    base: Annotated[FileIds | None, Query(max_length=MOST_FILES, description="Those to hold them against.")] = None,
    sample_type: Annotated[str | None, Query(max_length=100, description="As pprof's -sample_index.")] = None,
    lang: Annotated[Language, Query(description="Language of the words.")] = Language.EN,
) -> ProfileView:
    """Divided by requests, where both sides know theirs."""
    return service.view(
        ViewAsk(files=tuple(file), base=tuple(base or ()), sample_type=sample_type or None, language=lang)
    )


@asynccontextmanager
async def _content(request: Request) -> AsyncGenerator[Callable[[], bytes]]:
    """The body, bounded as the reader bounds a file, since it is read from memory; and together with all others."""
    global _held_bytes  # of the event loop
    announced = announced_size(request) or 0
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in request_body(request):
            size += len(piece)
            _held_bytes += len(piece)
            if max(size, announced) > LIMITS.file_bytes:
                raise UploadTooLargeError(
                    f"A profile has at most {LIMITS.file_bytes >> 20} MiB. Take it over fewer seconds, or compress it."
                )
            if _held_bytes > MOST_HELD_BYTES:
                raise LaneBusyError(
                    f"Profiles of more than {MOST_HELD_BYTES >> 20} MiB are being sent at the moment; send it again."
                )
            pieces.append(piece)
        yield lambda: b"".join(pieces)
    finally:
        _held_bytes -= size
