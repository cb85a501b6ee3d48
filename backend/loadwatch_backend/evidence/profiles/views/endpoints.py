"""Profiles of runs over HTTP."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from loadwatch_backend.evidence.files.schemas import FILE_ID_PATTERN
from loadwatch_backend.evidence.profiles.capture.schemas import RUN_ID_PATTERN
from loadwatch_backend.evidence.profiles.reading.read import LIMITS
from loadwatch_backend.evidence.profiles.views.schemas import ProfileList, ProfileOut, ProfileView
from loadwatch_backend.evidence.profiles.views.service import Profiles, ViewAsk
from loadwatch_backend.kit.language import Language
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.kit.services import announced_size, request_body, service
from loadwatch_backend.kit.uploads import UploadTooLargeError

router = APIRouter(prefix="/api", tags=["profiles"], responses=PROBLEM_RESPONSES)

Service = Annotated[Profiles, Depends(service(Profiles))]
RunId = Annotated[str, Path(pattern=RUN_ID_PATTERN, description="A run's id.")]
FileIds = list[Annotated[str, Query(pattern=FILE_ID_PATTERN)]]
MOST_FILES = 20


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
    """Send the file as the body: pprof, collapsed stacks (perf, async-profiler, py-spy), or speedscope's JSON."""
    return await asyncio.to_thread(service.bring, run_id, name, await _content(request))


@router.get("/profiles/view", summary="Read profiles: functions, tree, differences")
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


async def _content(request: Request) -> bytes:
    """The body, bounded as the reader bounds a file: it is read from memory."""
    announced = announced_size(request) or 0
    content = bytearray()
    async for piece in request_body(request):
        content += piece
        if max(len(content), announced) > LIMITS.file_bytes:
            raise UploadTooLargeError(
                f"A profile has at most {LIMITS.file_bytes >> 20} MiB. Take it over fewer seconds, or compress it."
            )
    return bytes(content)
