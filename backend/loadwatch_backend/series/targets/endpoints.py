"""Health of targets and collectors over HTTP."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from loadwatch_formats.times import NEVER, format_rfc3339

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service
from loadwatch_backend.series.promql.http.endpoints import whole
from loadwatch_backend.series.targets.service import CollectorOut, TargetAnswerIn, TargetList, TargetOut, TargetService

router = APIRouter(prefix="/api/targets", tags=["targets"], responses=PROBLEM_RESPONSES)
Targets = Annotated[TargetService, Depends(service(TargetService))]


@router.get("", summary="List targets")
def list_targets(service: Targets) -> TargetList:
    """Health, lag, cost and last error of every collector; a target that fell silent stays listed for seven days."""
    return service.list()


@router.post("/answers", summary="Say whether silent targets were taken away")
def answer_for_targets(service: Targets, body: TargetAnswerIn, actor: Actor) -> TargetList:
    """What was taken away leaves the list, and its alerts without data end; it comes back when it is sent again."""
    return service.answer(body, actor.name)


_HEALTH = {True: "up", False: "down", None: "unknown"}


def targets_document(targets: TargetList, state: str, pool: str) -> dict[str, Any]:
    """`data` of `/targets`; `state` is `active`, `dropped`, or anything else for both, and an empty `pool` is all.

    Nothing is dropped here. Where samples were fetched from, and how often, only who sends them knows.
    """
    active = state in ("", "any", "active")
    found = [
        _target(target, collector)
        for target in targets.targets
        if active and pool in ("", target.job)
        for collector in target.collectors
    ]
    document: dict[str, Any] = {"activeTargets": found, "droppedTargets": []}
    document["droppedTargetCounts"] = {target.job: 0 for target in targets.targets} if state != "active" else None
    return document


def _target(target: TargetOut, collector: CollectorOut) -> dict[str, Any]:
    labels = {"instance": target.instance, "job": target.job}
    if collector.collector:
        labels["collector"] = collector.collector
    return {
        "discoveredLabels": labels,
        "labels": labels,
        "scrapePool": target.job,
        "scrapeUrl": "",
        "globalUrl": "",
        "lastError": collector.error or "",
        "lastScrape": NEVER if collector.last_sample_ms is None else format_rfc3339(collector.last_sample_ms),
        "lastScrapeDuration": collector.duration_seconds or 0,
        "health": _HEALTH[collector.up],
        "scrapeInterval": "",
        "scrapeTimeout": "",
    }


prometheus_targets_router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])


@prometheus_targets_router.get("/targets", summary="Targets, as Prometheus lists them", response_class=Response)
def list_prometheus_targets(
    targets: Targets,
    state: Annotated[str, Query(max_length=20, description="`active`, `dropped`, or `any`.")] = "",
    scrape_pool: Annotated[
        str, Query(alias="scrapePool", max_length=4_096, description="One job; all when empty.")
    ] = "",
) -> Response:
    """Everything that samples came from within seven days, with its health."""
    return whole(targets_document(targets.list(), state.lower(), scrape_pool))


@prometheus_targets_router.get("/scrape_pools", summary="Jobs, as Prometheus lists them", response_class=Response)
def list_scrape_pools(targets: Targets) -> Response:
    """The jobs of all targets."""
    return whole({"scrapePools": sorted({target.job for target in targets.list().targets})})
