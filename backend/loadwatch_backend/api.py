"""All routes, each behind the gate that its role needs."""

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request

from loadwatch_backend.access.endpoints import Asker, access_service, require_admin, require_writer
from loadwatch_backend.access.endpoints import router as session_router
from loadwatch_backend.access.principal import Access
from loadwatch_backend.access.schemas import PrincipalOut, session_out
from loadwatch_backend.access.service import AccessService
from loadwatch_backend.annotations.endpoints import router as annotations_router
from loadwatch_backend.compare.endpoints import router as compare_router
from loadwatch_backend.ingest.endpoints import router as write_router
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES, Milliseconds, Schema
from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.live.endpoints import router as live_router
from loadwatch_backend.observe.endpoints import health_router, metrics_router
from loadwatch_backend.promql.endpoints import router as prometheus_router
from loadwatch_backend.report.endpoints import router as report_router
from loadwatch_backend.report.endpoints import share_router
from loadwatch_backend.runs.endpoints import router as runs_router
from loadwatch_backend.signals.endpoints import router as signals_router
from loadwatch_backend.store.embedded.engine import EmbeddedStore
from loadwatch_backend.targets.endpoints import router as targets_router


class StatusOut(Schema):
    """What the page shows in its corner."""

    version: str
    now_ms: Milliseconds
    newest_sample_ms: Milliseconds | None
    series: int
    access: Access
    principal: PrincipalOut | None


status_router = APIRouter(prefix="/api/status", tags=["status"], responses=PROBLEM_RESPONSES)


@status_router.get("", summary="Read the server's status")
def read_status(
    request: Request, access: Annotated[AccessService, Depends(access_service)], principal: Asker
) -> StatusOut:
    """Version, clock, newest sample and number of series."""
    store = cast(EmbeddedStore, request.app.state.store)
    clock = cast(Clock, request.app.state.clock)
    return StatusOut(
        version=VERSION,
        now_ms=clock(),
        newest_sample_ms=store.newest_ms(),
        series=store.statistics().series,
        access=access.access,
        principal=session_out(access.access, principal).principal,
    )


def build_router() -> APIRouter:
    """All routes."""
    router = APIRouter()
    admin = [Depends(require_admin)]
    router.include_router(session_router)
    for admin_router in (
        status_router,
        signals_router,
        targets_router,
        annotations_router,
        live_router,
        runs_router,
        compare_router,
        report_router,
    ):
        router.include_router(admin_router, dependencies=admin)
    router.include_router(write_router, dependencies=[Depends(require_writer)])
    router.include_router(prometheus_router, dependencies=admin)
    router.include_router(metrics_router, dependencies=admin)
    router.include_router(health_router)
    router.include_router(share_router)
    return router
