"""Rules and alerts in the shape of Prometheus' HTTP API."""

from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Query, Response

from loadwatch_backend.alerting.alerts.prometheus.service import RuleQuestion
from loadwatch_backend.alerting.alerts.wiring import AlertServices
from loadwatch_backend.core.services import service
from loadwatch_backend.series.promql.http.response import success

prometheus_rules_router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])


Services = Annotated[AlertServices, Depends(service(AlertServices))]


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
    question = RuleQuestion(
        type=type.lower(),
        names=rule_name or (),
        groups=rule_group or (),
        files=file or (),
        exclude_alerts=exclude_alerts.lower() in ("1", "t", "true"),
    )
    return _answer(services.prometheus.rules(question))


@prometheus_rules_router.get("/alerts", summary="Alerts, as Prometheus lists them", response_class=Response)
def list_prometheus_alerts(services: Services) -> Response:
    """All that is pending or firing."""
    return _answer(services.prometheus.alerts())


def _answer(data: object) -> Response:
    return Response(success(orjson.dumps(data).decode()), media_type="application/json")
