"""Health and metrics of the server itself."""

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from loadwatch_backend.kit.errors import UnavailableError
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES
from loadwatch_backend.observe.metrics import ServerMetrics

health_router = APIRouter(tags=["health"], responses=PROBLEM_RESPONSES)
metrics_router = APIRouter(tags=["health"], responses=PROBLEM_RESPONSES)


class NotReadyError(UnavailableError):
    """The server is starting or stopping."""

    code = "not-ready"
    title = "Not ready"


def server_metrics(request: Request) -> ServerMetrics:
    """The application's metrics."""
    return cast(ServerMetrics, request.app.state.metrics)


@health_router.get("/-/healthy", summary="Tell that the process answers", response_class=PlainTextResponse)
async def read_healthy() -> str:
    """Always 200 while the process runs."""
    return "Loadwatch is healthy.\n"


@health_router.get("/-/ready", summary="Tell that samples are taken", response_class=PlainTextResponse)
async def read_ready(request: Request) -> str:
    """200 while the store is open, 503 before and after."""
    if not getattr(request.app.state, "ready", False):
        raise NotReadyError("The store is not open; ask again in a second.")
    return "Loadwatch is ready.\n"


@metrics_router.get("/metrics", summary="Read the server's own metrics", response_class=PlainTextResponse)
def read_metrics(metrics: Annotated[ServerMetrics, Depends(server_metrics)]) -> Response:
    """Counters and gauges of the server in Prometheus' text format."""
    return Response(metrics.page(), media_type=CONTENT_TYPE_LATEST)
