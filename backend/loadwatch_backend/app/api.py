"""All routes, each behind the gate that its role needs."""

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from loadwatch_backend.access.endpoints import Asker, require
from loadwatch_backend.access.endpoints import router as session_router
from loadwatch_backend.access.principal import Access, Principal, Scope
from loadwatch_backend.access.schemas import PrincipalOut, principal_out
from loadwatch_backend.access.users.endpoints import audit_router, own_router, setup_router, tokens_router, users_router
from loadwatch_backend.alerting.alerts.alertmanager.endpoints import alertmanager_router
from loadwatch_backend.alerting.alerts.endpoints import alerts_router, prometheus_rules_router, rules_router
from loadwatch_backend.alerting.notify.endpoints import (
    deliveries_router,
    receivers_router,
    routes_router,
    silences_router,
)
from loadwatch_backend.alerting.notify.outbox.repository import FailingIntegrations
from loadwatch_backend.alerting.notify.outbox.service import DeliveryService
from loadwatch_backend.alerting.notify.schemas import UndeliveredOut
from loadwatch_backend.app.connect import router as connect_router
from loadwatch_backend.app.live import router as live_router
from loadwatch_backend.app.observe import health_router, metrics_router
from loadwatch_backend.app.services import Services
from loadwatch_backend.catalogue.packs.endpoints import router as panels_router
from loadwatch_backend.catalogue.runbooks.endpoints import router as runbooks_router
from loadwatch_backend.catalogue.signals.endpoints import router as signals_router
from loadwatch_backend.core.database.outages import DatabaseError, Outage
from loadwatch_backend.core.middleware import SAFE_METHODS
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES, Milliseconds, Schema
from loadwatch_backend.core.services import service
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.evidence.endpoints import cost_router, tables_router
from loadwatch_backend.evidence.files.endpoints import router as evidence_files_router
from loadwatch_backend.evidence.profiles.endpoints import agents_router as profile_agents_router
from loadwatch_backend.evidence.profiles.endpoints import orders_router as profile_orders_router
from loadwatch_backend.evidence.profiles.endpoints import router as profiles_router
from loadwatch_backend.findings.endpoints import pool_advice_router, timeouts_router
from loadwatch_backend.findings.endpoints import router as findings_router
from loadwatch_backend.runs.annotations.endpoints import router as annotations_router
from loadwatch_backend.runs.compare.endpoints import forecasts_router
from loadwatch_backend.runs.compare.endpoints import router as compare_router
from loadwatch_backend.runs.endpoints import router as runs_router
from loadwatch_backend.runs.report.endpoints import router as report_router
from loadwatch_backend.runs.report.endpoints import share_router
from loadwatch_backend.series.backups.endpoints import router as backup_router
from loadwatch_backend.series.exports.endpoints import router as export_router
from loadwatch_backend.series.ingest.endpoints import router as write_router
from loadwatch_backend.series.ingest.otlp.endpoints import router as otlp_router
from loadwatch_backend.series.promql.http.endpoints import root_router as prometheus_root_router
from loadwatch_backend.series.promql.http.endpoints import router as prometheus_router
from loadwatch_backend.series.promql.http.endpoints import status_router as prometheus_status_router
from loadwatch_backend.series.storage.endpoints import router as store_router
from loadwatch_backend.series.targets.endpoints import prometheus_targets_router
from loadwatch_backend.series.targets.endpoints import router as targets_router


class StandstillOut(Schema):
    """The database of runs, alerts and users does not answer, or refuses what is written."""

    since_ms: Milliseconds
    cause: Outage
    reason: str


class StatusOut(Schema):
    """What the page shows in its corner."""

    version: str
    now_ms: Milliseconds
    newest_sample_ms: Milliseconds | None
    series: int
    access: Access
    principal: PrincipalOut | None
    not_evaluating: StandstillOut | None
    """While it is there, no rule is evaluated by this server, and what changes in the meantime is not told."""
    integrations: int
    undelivered: list[UndeliveredOut]
    """Of so many integrations, those that do not take what waits for them."""


status_router = APIRouter(prefix="/api/status", tags=["status"], responses=PROBLEM_RESPONSES)


@status_router.get("", summary="Read the server's status")
def read_status(services: Annotated[Services, Depends(service(Services))], principal: Asker) -> StatusOut:
    """Version, clock, newest sample, number of series, and whether the database is away."""
    store, standstill = services.store, services.leadership.standstill
    now_ms = services.clock()
    failing = _failing(services.notifications.deliveries)
    return StatusOut(
        version=VERSION,
        now_ms=now_ms,
        newest_sample_ms=store.newest_ms(),
        series=store.statistics().series,
        access=services.access.gate.access,
        principal=principal_out(principal),
        not_evaluating=None
        if standstill is None
        else StandstillOut(
            since_ms=now_ms - round(standstill.seconds * 1_000), cause=standstill.outage, reason=standstill.reason
        ),
        integrations=failing.integrations,
        undelivered=list(failing.failing),
    )


def _failing(deliveries: DeliveryService) -> FailingIntegrations:
    try:
        return deliveries.failing()
    except DatabaseError:  # then `not_evaluating` says more
        return FailingIntegrations(failing=(), integrations=0)


READS_BY_POST = frozenset({"/api/signals/query", "/api/routes/resolve", "/api/silences/preview"})
"""Questions too long for an address: these need no more than the scope `read`."""

WRITES_OF = (
    (status_router, Scope.ADMIN),
    (signals_router, Scope.ADMIN),
    (findings_router, Scope.RUNS_WRITE),
    (pool_advice_router, Scope.ADMIN),
    (targets_router, Scope.ALERTS_WRITE),
    (store_router, Scope.ADMIN),
    (timeouts_router, Scope.ADMIN),
    (live_router, Scope.ADMIN),
    (annotations_router, Scope.NOTES_WRITE),
    (runs_router, Scope.RUNS_WRITE),
    (evidence_files_router, Scope.RUNS_WRITE),
    (cost_router, Scope.RUNS_WRITE),
    (profiles_router, Scope.RUNS_WRITE),
    (profile_orders_router, Scope.RUNS_WRITE),
    (tables_router, Scope.RUNS_WRITE),
    (compare_router, Scope.RUNS_WRITE),
    (forecasts_router, Scope.RUNS_WRITE),
    (report_router, Scope.RUNS_WRITE),
    (alerts_router, Scope.ALERTS_WRITE),
    (rules_router, Scope.ADMIN),
    (routes_router, Scope.ADMIN),
    (silences_router, Scope.ALERTS_WRITE),
    (alertmanager_router, Scope.ALERTS_WRITE),
    (receivers_router, Scope.ALERTS_WRITE),
    (deliveries_router, Scope.ALERTS_WRITE),
)
"""Routers whose GET needs `read`, with the scope that their other methods need."""


PROMETHEUS_READS = (prometheus_router, prometheus_status_router, prometheus_targets_router, prometheus_rules_router)
"""Prometheus' API: reading by whatever method."""


@functools.cache
def build_routes(operation_id: Callable[[APIRoute], str]) -> Sequence[BaseRoute]:
    """All routes, for every application of this process: what FastAPI learns of one it keeps with it."""
    router = APIRouter(generate_unique_id_function=operation_id)
    # A request is held against one route after another: those that are asked most stand first.
    for agents_router in (write_router, otlp_router, profile_agents_router):
        router.include_router(agents_router, dependencies=[Depends(require(Scope.SAMPLES_WRITE))])
    for read_router in PROMETHEUS_READS:
        router.include_router(read_router, dependencies=[Depends(require(Scope.READ))])
    router.include_router(session_router)
    router.include_router(own_router)
    router.include_router(setup_router)
    for read_router, write_scope in WRITES_OF:
        router.include_router(read_router, dependencies=[Depends(_read_or(write_scope))])
    for admin_router in (users_router, tokens_router, audit_router, connect_router, backup_router, panels_router):
        router.include_router(admin_router, dependencies=[Depends(require(Scope.ADMIN))])
    router.include_router(export_router, dependencies=[Depends(require(Scope.READ))])
    router.include_router(metrics_router, dependencies=[Depends(require(Scope.READ))])
    router.include_router(health_router)
    router.include_router(prometheus_root_router)
    router.include_router(share_router)
    router.include_router(runbooks_router)
    return router.routes


def _read_or(write_scope: Scope) -> Callable[[Request, Principal | None], Awaitable[Principal]]:
    """The dependency of a router: safe methods and `READS_BY_POST` need `read`, others `write_scope`."""
    read, write = require(Scope.READ), require(write_scope)

    async def gate(request: Request, principal: Asker) -> Principal:
        reads = request.method in SAFE_METHODS or request.url.path in READS_BY_POST
        return await (read if reads else write)(principal)

    return gate
