"""Orders for profiles over HTTP: people order and look, agents ask and deliver."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.core.errors import ForbiddenError
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import announced_size, request_body, service
from loadwatch_backend.evidence.files.schemas import EvidenceFile
from loadwatch_backend.evidence.profiles.capture.orders import (
    RUN_ID_PATTERN,
    AgentOrder,
    AgentOrderList,
    ProfileFailure,
    ProfileOrderIn,
    ProfileOrderList,
    ProfileOrders,
)

router = APIRouter(prefix="/api", tags=["profiles"], responses=PROBLEM_RESPONSES)
agents_router = APIRouter(prefix="/api/profiles/orders", tags=["profiles"], responses=PROBLEM_RESPONSES)
"""For agents, with the token of their samples."""

Service = Annotated[ProfileOrders, Depends(service(ProfileOrders))]


def own_order(
    service: Service, actor: Actor, order_id: Annotated[int, Path(ge=1, le=2**53, description="An order's id.")]
) -> int:
    """An order of a job that the token is not kept from."""
    if actor.jobs and not actor.may_send(service.job_of(order_id)):
        raise ForbiddenError(f"{actor.name!r} may not send profiles of this job.")
    return order_id


OrderId = Annotated[int, Depends(own_order)]


@router.get("/runs/{run_id}/profile-orders", summary="List the profiles that were ordered of a run")
def list_profile_orders(service: Service, run_id: Annotated[str, Path(pattern=RUN_ID_PATTERN)]) -> ProfileOrderList:
    """What became of each, and which processes profiles can be taken of."""
    return service.of_run(run_id)


@router.post("/profile-orders", status_code=201, summary="Take profiles now")
def order_profiles(service: Service, body: ProfileOrderIn, actor: Actor) -> ProfileOrderList:
    """Of a run under way; the agents take them one after another."""
    return service.order(body, actor.name)


@agents_router.get("", summary="List the profiles that agents are to take")
def list_open_orders(
    service: Service,
    actor: Actor,
    job: Annotated[list[str], Query(min_length=1, max_length=100, description="Jobs that the agent watches.")],
) -> AgentOrderList:
    """Of each process no more than one at a time."""
    return service.open([one for one in job if actor.may_send(one)])


@agents_router.post("/{order_id}/begin", summary="Begin to take a profile")
def begin_order(service: Service, order_id: OrderId) -> AgentOrder:
    """Of two agents only one may."""
    return service.begin(order_id)


@agents_router.post("/{order_id}/failure", status_code=204, summary="Say why a profile could not be taken")
def fail_order(service: Service, order_id: OrderId, body: ProfileFailure) -> None:
    """The order ends with these words."""
    service.fail(order_id, body.reason)


@agents_router.post(
    "/{order_id}/profile",
    status_code=201,
    summary="Deliver a profile",
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}, "required": True}},
)
async def deliver_order(service: Service, request: Request, order_id: OrderId) -> EvidenceFile:
    """The profile as the process gave it, as the body; kept with the run."""
    return await service.deliver(order_id, request_body(request), announced_size(request))
