"""Alerts and rules over HTTP."""

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Path, Query, Request

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.alerts.schemas import (
    AcknowledgementIn,
    AlertDetail,
    AlertList,
    AlertOut,
    AlertSeries,
    AlertState,
    HistoryList,
    RuleList,
)
from loadwatch_backend.alerts.service import AlertService
from loadwatch_backend.kit.schemas import LAST_MILLISECOND, PROBLEM_RESPONSES, Milliseconds

alerts_router = APIRouter(prefix="/api/alerts", tags=["alerts"], responses=PROBLEM_RESPONSES)
rules_router = APIRouter(prefix="/api/rules", tags=["rules"], responses=PROBLEM_RESPONSES)

AlertId = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


def alert_service(request: Request) -> AlertService:
    """The application's alerts."""
    return cast(AlertService, request.app.state.alerts)


Service = Annotated[AlertService, Depends(alert_service)]


@alerts_router.get("", summary="List the alerts of now")
def list_alerts(
    service: Service,
    state: Annotated[list[AlertState] | None, Query(description="Firing and pending, when none is named.")] = None,
    search: Annotated[str, Query(max_length=200, description="Words in name, labels or summary.")] = "",
    matcher: Annotated[
        list[str] | None, Query(max_length=50, description='As `severity="page"`; all must hold.')
    ] = None,
    limit: Annotated[int, Query(ge=1, le=2_000)] = 500,
    sparklines: Annotated[bool, Query(description="Whether to draw the last half hour of each.")] = True,
) -> AlertList:
    """Alerts that are pending or firing, and why those that are quiet are quiet."""
    return service.list(state, search, matcher or [], limit, sparklines=sparklines)


@alerts_router.get("/history", summary="List alerts of the past")
def list_alert_history(
    service: Service,
    start_ms: Annotated[Milliseconds, Query()] = 0,
    end_ms: Annotated[Milliseconds, Query()] = LAST_MILLISECOND,
    search: Annotated[str, Query(max_length=200)] = "",
    run_id: Annotated[str, Query(max_length=40)] = "",
    limit: Annotated[int, Query(ge=1, le=2_000)] = 200,
) -> HistoryList:
    """Alerts that fired and overlap the span, those under way among them."""
    return service.history(start_ms, end_ms, search, run_id, limit)


@alerts_router.get("/{alert_id}", summary="Read an alert")
def read_alert(service: Service, alert_id: AlertId) -> AlertDetail:
    """One alert with its changes and its earlier episodes."""
    return service.read(alert_id)


@alerts_router.get("/{alert_id}/series", summary="Read an alert's value over time")
def read_alert_series(
    service: Service,
    alert_id: AlertId,
    start_ms: Annotated[Milliseconds | None, Query(description="Half an hour before it began, when absent.")] = None,
    end_ms: Annotated[Milliseconds | None, Query(description="Now or its end, when absent.")] = None,
) -> AlertSeries:
    """What the rule compares, at most 500 points."""
    return service.series(alert_id, start_ms, end_ms)


@alerts_router.put("/{alert_id}/acknowledgement", summary="Acknowledge an alert")
def acknowledge_alert(service: Service, alert_id: AlertId, body: AcknowledgementIn, actor: Actor) -> AlertOut:
    """Say that it is being looked at. It stays in force until the alert resolves; repeats of it are not sent."""
    return service.acknowledge(alert_id, actor.name, body.comment)


@alerts_router.delete("/{alert_id}/acknowledgement", summary="Take an acknowledgement back")
def unacknowledge_alert(service: Service, alert_id: AlertId, actor: Actor) -> AlertOut:
    """Nobody looks at it after all."""
    return service.unacknowledge(alert_id, actor.name)


@alerts_router.post("/{alert_id}/dismiss", summary="Close an alert whose data are gone")
def dismiss_alert(service: Service, alert_id: AlertId, actor: Actor) -> AlertOut:
    """For what was taken away on purpose. An alert whose condition holds cannot be closed; silence it instead."""
    return service.dismiss(alert_id, actor.name)


@rules_router.get("", summary="List all rules")
def list_rules(service: Service) -> RuleList:
    """Rule files, groups and rules with their last evaluation."""
    return service.rules()


@rules_router.post("/reload", summary="Read the rule files again")
def reload_rules(service: Service) -> RuleList:
    """Also happens by itself within a second of a change. A broken file keeps its old rules; see `files`."""
    return service.reload_rules()
