"""Alerts and rules over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.alerting.alerts.schemas import (
    AcknowledgementIn,
    AlertDetail,
    AlertList,
    AlertOut,
    AlertSeries,
    AlertState,
    HistoryList,
    RuleList,
)
from loadwatch_backend.alerting.alerts.wiring import AlertServices
from loadwatch_backend.core.schemas import LAST_MILLISECOND, PROBLEM_RESPONSES, Milliseconds
from loadwatch_backend.core.services import service
from loadwatch_backend.series.promql.http.endpoints import whole

alerts_router = APIRouter(prefix="/api/alerts", tags=["alerts"], responses=PROBLEM_RESPONSES)
rules_router = APIRouter(prefix="/api/rules", tags=["rules"], responses=PROBLEM_RESPONSES)

prometheus_rules_router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])

AlertId = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


Services = Annotated[AlertServices, Depends(service(AlertServices))]


@alerts_router.get("", summary="List the alerts of now")
def list_alerts(
    services: Services,
    state: Annotated[list[AlertState] | None, Query(description="Firing and pending, when none is named.")] = None,
    search: Annotated[str, Query(max_length=200, description="Words in name, labels or summary.")] = "",
    matcher: Annotated[
        list[str] | None, Query(max_length=50, description='As `severity="page"`; all must hold.')
    ] = None,
    limit: Annotated[int, Query(ge=1, le=2_000)] = 500,
    sparklines: Annotated[bool, Query(description="Whether to draw the last half hour of each.")] = True,
) -> AlertList:
    """Alerts that are pending or firing, and why those that are quiet are quiet.

    Of rules of one name that differ in severity, a series has one alert here: the most severe that fires.
    """
    return services.alerts.list(state, search, matcher or [], limit, sparklines=sparklines)


@alerts_router.get("/history", summary="List alerts of the past")
def list_alert_history(
    services: Services,
    start_ms: Annotated[Milliseconds, Query()] = 0,
    end_ms: Annotated[Milliseconds, Query()] = LAST_MILLISECOND,
    search: Annotated[str, Query(max_length=200)] = "",
    run_id: Annotated[str, Query(max_length=40)] = "",
    limit: Annotated[int, Query(ge=1, le=2_000)] = 200,
) -> HistoryList:
    """Alerts that fired and overlap the span, those under way among them."""
    return services.alerts.history(start_ms, end_ms, search, run_id, limit)


@alerts_router.get("/{alert_id}", summary="Read an alert")
def read_alert(services: Services, alert_id: AlertId) -> AlertDetail:
    """One alert with its changes and its earlier episodes."""
    return services.alerts.read(alert_id)


@alerts_router.get("/{alert_id}/series", summary="Read an alert's value over time")
def read_alert_series(
    services: Services,
    alert_id: AlertId,
    start_ms: Annotated[Milliseconds | None, Query(description="Half an hour before it began, when absent.")] = None,
    end_ms: Annotated[Milliseconds | None, Query(description="Now or its end, when absent.")] = None,
) -> AlertSeries:
    """What the rule compares, at most 500 points."""
    return services.alerts.series(alert_id, start_ms, end_ms)


@alerts_router.put("/{alert_id}/acknowledgement", summary="Acknowledge an alert")
def acknowledge_alert(services: Services, alert_id: AlertId, body: AcknowledgementIn, actor: Actor) -> AlertOut:
    """Say that it is being looked at. It stays in force until the alert resolves; repeats of it are not sent."""
    return services.alerts.acknowledge(alert_id, actor.name, body.comment, incident=body.incident)


@alerts_router.delete("/{alert_id}/acknowledgement", summary="Take an acknowledgement back")
def unacknowledge_alert(
    services: Services,
    alert_id: AlertId,
    actor: Actor,
    incident: Annotated[bool, Query(description="Of all alerts of its incident that fire.")] = False,
) -> AlertOut:
    """Nobody looks at it after all."""
    return services.alerts.unacknowledge(alert_id, actor.name, incident=incident)


@alerts_router.post("/{alert_id}/dismiss", summary="Close an alert whose data are gone")
def dismiss_alert(services: Services, alert_id: AlertId, actor: Actor) -> AlertOut:
    """For what was taken away on purpose. An alert whose condition holds cannot be closed; silence it instead."""
    return services.alerts.dismiss(alert_id, actor.name)


@rules_router.get("", summary="List all rules")
def list_rules(services: Services) -> RuleList:
    """Rule files, groups and rules with their last evaluation."""
    return services.rules.list()


@rules_router.post("/reload", summary="Read the rule files again")
def reload_rules(services: Services) -> RuleList:
    """Also happens by itself within a second of a change. A broken file keeps its old rules; see `files`."""
    return services.rules.reload()


# As Prometheus has them, for Grafana ----------------------------------------------------------------------------------


@prometheus_rules_router.get("/rules", summary="Rules, as Prometheus lists them", response_class=Response)
def list_prometheus_rules(
    services: Services,
    type: Annotated[str, Query(max_length=20, description="`alert` or `record`; all when empty.")] = "",
    rule_name: Annotated[list[str] | None, Query(alias="rule_name[]", max_length=100)] = None,
    rule_group: Annotated[list[str] | None, Query(alias="rule_group[]", max_length=100)] = None,
    file: Annotated[list[str] | None, Query(alias="file[]", max_length=100)] = None,
    exclude_alerts: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    """Groups with rules and their alerts; Grafana shows them beside its own."""
    without = exclude_alerts.lower() in ("1", "t", "true")
    found = services.prometheus.rules(
        type.lower(), rule_name or (), rule_group or (), file or (), exclude_alerts=without
    )
    return whole(found)


@prometheus_rules_router.get("/alerts", summary="Alerts, as Prometheus lists them", response_class=Response)
def list_prometheus_alerts(services: Services) -> Response:
    """All that is pending or firing."""
    return whole(services.prometheus.alerts())
