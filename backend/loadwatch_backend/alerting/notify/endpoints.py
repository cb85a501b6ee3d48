"""Routes, silences, receivers and deliveries over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.alerting.notify.assembly import NotificationServices
from loadwatch_backend.alerting.notify.schemas import (
    DeliveryDetail,
    DeliveryList,
    DeliveryOut,
    DeliveryState,
    ReceiverList,
    ReceiverOut,
    RouteAnswer,
    RouteQuestion,
    RoutingOut,
    SilenceIn,
    SilenceList,
    SilenceOut,
    SilencePreview,
    SilenceQuestion,
    SilenceState,
    TrialResults,
)
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service

routes_router = APIRouter(prefix="/api/routes", tags=["routes"], responses=PROBLEM_RESPONSES)
silences_router = APIRouter(prefix="/api/silences", tags=["silences"], responses=PROBLEM_RESPONSES)
receivers_router = APIRouter(prefix="/api/receivers", tags=["receivers"], responses=PROBLEM_RESPONSES)
deliveries_router = APIRouter(prefix="/api/deliveries", tags=["deliveries"], responses=PROBLEM_RESPONSES)

SilenceId = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
DeliveryId = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
ReceiverName = Annotated[str, Path(min_length=1, max_length=200)]
IntegrationId = Annotated[str, Path(min_length=1, max_length=60, pattern=r"^[a-z0-9_-]+$")]


Services = Annotated[NotificationServices, Depends(service(NotificationServices))]


@routes_router.get("", summary="Read the route tree")
def read_routes(services: Services) -> RoutingOut:
    """The configuration in force: routes, time intervals, inhibition, and who hears of runs."""
    return services.routing.read()


@routes_router.post("/reload", summary="Read the notification configuration again")
def reload_routes(services: Services) -> RoutingOut:
    """Also happens by itself within a second of a change. A broken file keeps the old configuration; see `error`."""
    return services.routing.reload()


@routes_router.post("/resolve", summary="Ask where labels would go")
def resolve_routes(services: Services, body: RouteQuestion) -> RouteAnswer:
    """The routes that would take an alert with these labels, and what would keep it quiet."""
    return services.routing.resolve(body)


@silences_router.get("", summary="List silences")
def list_silences(
    services: Services,
    state: Annotated[list[SilenceState] | None, Query(description="All, when none is named.")] = None,
) -> SilenceList:
    """Silences, those that hold first, then those to come, then those that are over."""
    return services.silences.list(state)


@silences_router.post("", status_code=201, summary="Add a silence")
def create_silence(services: Services, body: SilenceIn, actor: Actor) -> SilenceOut:
    """Keep alerts that match quiet for a time. They still show on the page."""
    return services.silences.create(body, actor.name)


@silences_router.post("/preview", summary="Ask what a silence would match")
def preview_silence(services: Services, body: SilenceQuestion) -> SilencePreview:
    """The alerts of now that the matchers match."""
    return services.silences.preview(body.matchers)


@silences_router.get("/{silence_id}", summary="Read a silence")
def read_silence(services: Services, silence_id: SilenceId) -> SilenceOut:
    """One silence."""
    return services.silences.read(silence_id)


@silences_router.put("/{silence_id}", summary="Change a silence")
def replace_silence(services: Services, silence_id: SilenceId, body: SilenceIn, actor: Actor) -> SilenceOut:
    """Change one that is not over."""
    return services.silences.replace(silence_id, body, actor.name)


@silences_router.post("/{silence_id}/expire", summary="End a silence now")
def expire_silence(services: Services, silence_id: SilenceId) -> SilenceOut:
    """It stays in the list as over."""
    return services.silences.expire(silence_id)


@receivers_router.get("", summary="List receivers")
def list_receivers(services: Services) -> ReceiverList:
    """Receivers with their integrations and how these do; never a secret."""
    return services.deliveries.receivers()


@receivers_router.post("/{name}/test", summary="Send a test message")
def try_receiver(
    services: Services, name: ReceiverName, integration: Annotated[str | None, Query(max_length=60)] = None
) -> TrialResults:
    """Send at once, one attempt, by the same way as alerts; the answer says how it went."""
    return services.deliveries.test(name, integration)


@receivers_router.post("/{name}/integrations/{integration}/retry", summary="Try all that waits for an integration")
def retry_integration(services: Services, name: ReceiverName, integration: IntegrationId) -> ReceiverOut:
    """At once, whatever it answered before; it also happens by itself when its address or secret changes."""
    return services.deliveries.retry_all(name, integration)


@receivers_router.post("/{name}/integrations/{integration}/stop", summary="Stop all that waits for an integration")
def stop_integration(services: Services, name: ReceiverName, integration: IntegrationId, actor: Actor) -> ReceiverOut:
    """What waits is not tried any more; what comes later is."""
    return services.deliveries.stop_all(name, integration, actor.name)


@deliveries_router.get("", summary="List deliveries")
def list_deliveries(
    services: Services,
    state: Annotated[list[DeliveryState] | None, Query(description="All, when none is named.")] = None,
    receiver: Annotated[str, Query(max_length=200)] = "",
    search: Annotated[str, Query(max_length=200, description="Words in the subject.")] = "",
    before: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> DeliveryList:
    """What was sent, is being sent, and was given up, newest first."""
    return services.deliveries.list(state, receiver, search, before, limit)


@deliveries_router.get("/{delivery_id}", summary="Read a delivery")
def read_delivery(services: Services, delivery_id: DeliveryId) -> DeliveryDetail:
    """One delivery with each attempt, its answer and its duration."""
    return services.deliveries.read(delivery_id)


@deliveries_router.post("/{delivery_id}/retry", summary="Send a delivery again")
def retry_delivery(services: Services, delivery_id: DeliveryId) -> DeliveryOut:
    """At once, with the same id; for one that waits, was given up or withdrawn."""
    return services.deliveries.retry(delivery_id)


@deliveries_router.post("/{delivery_id}/stop", summary="Stop trying a delivery")
def stop_delivery(services: Services, delivery_id: DeliveryId, actor: Actor) -> DeliveryOut:
    """It is withdrawn, and can be sent on purpose; without it a message is tried for as long as its alert fires."""
    return services.deliveries.stop(delivery_id, actor.name)
