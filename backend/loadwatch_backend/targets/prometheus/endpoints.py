"""Targets in the shape of Prometheus' HTTP API."""

from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Query, Response

from loadwatch_backend.kit.services import service
from loadwatch_backend.promql.http.response import success
from loadwatch_backend.targets.prometheus.documents import pools_document, targets_document
from loadwatch_backend.targets.service import TargetService

prometheus_targets_router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])

Targets = Annotated[TargetService, Depends(service(TargetService))]


@prometheus_targets_router.get("/targets", summary="Targets, as Prometheus lists them", response_class=Response)
def list_prometheus_targets(
    targets: Targets,
    state: Annotated[str, Query(max_length=20, description="`active`, `dropped`, or `any`.")] = "",
    scrape_pool: Annotated[
        str, Query(alias="scrapePool", max_length=4_096, description="One job; all when empty.")
    ] = "",
) -> Response:
    """Everything that samples came from within seven days, with its health."""
    return _answer(targets_document(targets.list(), state.lower(), scrape_pool))


@prometheus_targets_router.get("/scrape_pools", summary="Jobs, as Prometheus lists them", response_class=Response)
def list_scrape_pools(targets: Targets) -> Response:
    """The jobs of all targets."""
    return _answer(pools_document(targets.list()))


def _answer(data: object) -> Response:
    return Response(success(orjson.dumps(data).decode()), media_type="application/json")
