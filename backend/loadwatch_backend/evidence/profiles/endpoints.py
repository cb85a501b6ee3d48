"""Profiles of runs over HTTP; and orders for them: people order and look, agents ask and deliver."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.core.errors import ForbiddenError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import Lane, LaneBusyError, announced_size, request_body, service
from loadwatch_backend.core.uploads import UploadTooLargeError
from loadwatch_backend.evidence.files.schemas import FILE_ID_PATTERN, EvidenceFile
from loadwatch_backend.evidence.profiles.capture.orders import (
    RUN_ID_PATTERN,
    AgentOrder,
    AgentOrderList,
    ProfileFailure,
    ProfileOrderIn,
    ProfileOrderList,
    ProfileOrders,
)
from loadwatch_backend.evidence.profiles.reading.read import LIMITS
from loadwatch_backend.evidence.profiles.service import ProfileList, ProfileOut, Profiles, ProfileView, ViewAsk

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


orders_router = APIRouter(prefix="/api", tags=["profiles"], responses=PROBLEM_RESPONSES)
agents_router = APIRouter(prefix="/api/profiles/orders", tags=["profiles"], responses=PROBLEM_RESPONSES)
"""For agents, with the token of their samples."""

Orders = Annotated[ProfileOrders, Depends(service(ProfileOrders))]


def own_order(
    orders: Orders, actor: Actor, order_id: Annotated[int, Path(ge=1, le=2**53, description="An order's id.")]
) -> int:
    """An order of a job that the token is not kept from."""
    if actor.jobs and not actor.may_send(orders.job_of(order_id)):
        raise ForbiddenError(f"{actor.name!r} may not send profiles of this job.")
    return order_id


OrderId = Annotated[int, Depends(own_order)]


@orders_router.get("/runs/{run_id}/profile-orders", summary="List the profiles that were ordered of a run")
def list_profile_orders(orders: Orders, run_id: Annotated[str, Path(pattern=RUN_ID_PATTERN)]) -> ProfileOrderList:
    """What became of each, and which processes profiles can be taken of."""
    return orders.of_run(run_id)


@orders_router.post("/profile-orders", status_code=201, summary="Take profiles now")
def order_profiles(orders: Orders, body: ProfileOrderIn, actor: Actor) -> ProfileOrderList:
    """Of a run under way; the agents take them one after another."""
    return orders.order(body, actor.name)


@agents_router.get("", summary="List the profiles that agents are to take")
def list_open_orders(
    orders: Orders,
    actor: Actor,
    job: Annotated[list[str], Query(min_length=1, max_length=100, description="Jobs that the agent watches.")],
) -> AgentOrderList:
    """Of each process no more than one at a time."""
    return orders.open([one for one in job if actor.may_send(one)])


@agents_router.post("/{order_id}/begin", summary="Begin to take a profile")
def begin_order(orders: Orders, order_id: OrderId) -> AgentOrder:
    """Of two agents only one may."""
    return orders.begin(order_id)


@agents_router.post("/{order_id}/failure", status_code=204, summary="Say why a profile could not be taken")
def fail_order(orders: Orders, order_id: OrderId, body: ProfileFailure) -> None:
    """The order ends with these words."""
    orders.fail(order_id, body.reason)


@agents_router.post(
    "/{order_id}/profile",
    status_code=201,
    summary="Deliver a profile",
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}, "required": True}},
)
async def deliver_order(orders: Orders, request: Request, order_id: OrderId) -> EvidenceFile:
    """The profile as the process gave it, as the body; kept with the run."""
    return await orders.deliver(order_id, request_body(request), announced_size(request))
