"""Health and metrics of the server itself."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from loadwatch_backend.app.observe.metrics import ServerMetrics
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.database.outages import OutageError
from loadwatch_backend.core.paths import HEALTHY_PATHS, READY_PATHS
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import NotReadyError, service
from loadwatch_backend.series.ingest.service import IngestService

health_router = APIRouter(tags=["health"], responses=PROBLEM_RESPONSES)
metrics_router = APIRouter(tags=["health"], responses=PROBLEM_RESPONSES)


async def read_healthy() -> str:
    """Always 200 while the process runs."""
    return "Loadwatch is healthy.\n"


async def read_ready(
    leadership: Annotated[Leadership, Depends(service(Leadership))],
    ingest: Annotated[IngestService, Depends(service(IngestService))],
) -> str:
    """200 while the store is open and takes samples, and the database answers; else 503."""
    if ingest.commits_fail:
        raise NotReadyError("The disk refuses samples, so none are taken: the last commit failed. See the log.")
    if (standstill := leadership.standstill) is not None:
        raise OutageError(standstill.outage, standstill.reason)
    return "Loadwatch is ready.\n"


for _paths, _answer, _summary in (
    (HEALTHY_PATHS, read_healthy, "Tell that the process answers"),
    (READY_PATHS, read_ready, "Tell that requests are served"),
):
    for _path in _paths:
        # One of them is documented; the others are the names by which probes of other systems ask.
        health_router.add_api_route(
            _path, _answer, summary=_summary, response_class=PlainTextResponse, include_in_schema=_path == _paths[0]
        )


@metrics_router.get("/metrics", summary="Read the server's own metrics", response_class=PlainTextResponse)
def read_metrics(metrics: Annotated[ServerMetrics, Depends(service(ServerMetrics))]) -> Response:
    """Counters and gauges of the server in Prometheus' text format."""
    return Response(metrics.page(), media_type=CONTENT_TYPE_LATEST)
