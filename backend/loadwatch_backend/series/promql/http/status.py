"""What Prometheus' API says of the server itself: below `status/`, and which Alertmanagers it has."""

import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.services import service
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.series.promql.http.endpoints import PromqlEngine, whole
from loadwatch_backend.series.store.port import StoreStatistics

PROMETHEUS_VERSION = "3.0.0"
"""The version whose queries and HTTP API this follows; Grafana picks its features by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What the application knows of itself, in Prometheus' words."""

    clock: Clock
    started_ms: int
    retention: str
    flags: Mapping[str, str]
    """Of Prometheus' flags those that mean something here."""
    configuration: str
    """YAML, as Prometheus would have it in its file."""
    statistics: Callable[[], StoreStatistics]


status_router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])

Facts = Annotated[ServerFacts, Depends(service(ServerFacts))]


@status_router.get("/status/buildinfo", summary="Version")
def build_info() -> Response:
    """What Grafana asks to know which features it may use."""
    return whole(
        {
            "application": "Loadwatch",
            "version": PROMETHEUS_VERSION,
            "revision": VERSION,
            "branch": "",
            "buildUser": "",
            "buildDate": "",
            "goVersion": "",
        }
    )


@status_router.get("/status/runtimeinfo", summary="Start, clock and retention")
def runtime_info(facts: Facts) -> Response:
    """What a Prometheus says of its process; threads stand for goroutines, and what only Go has is empty."""
    started = format_rfc3339(facts.started_ms)
    return whole(
        {
            "startTime": started,
            "CWD": "",
            "hostname": socket.gethostname(),
            "serverTime": format_rfc3339(facts.clock()),
            "reloadConfigSuccess": True,
            "lastConfigTime": started,
            "corruptionCount": 0,
            "goroutineCount": threading.active_count(),
            "GOMAXPROCS": len(os.sched_getaffinity(0)),
            "GOMEMLIMIT": 0,
            "GOGC": "",
            "GODEBUG": "",
            "storageRetention": facts.retention,
        }
    )


@status_router.get("/status/flags", summary="Settings, as Prometheus names them")
def flags(facts: Facts) -> Response:
    """Texts by the name of the flag; what has no counterpart here is left out."""
    return whole(dict(facts.flags))


@status_router.get("/status/config", summary="Configuration, as Prometheus writes it")
def configuration(facts: Facts) -> Response:
    """Interval of rules, rule files and no external labels: readers such as Thanos ask for them."""
    return whole({"yaml": facts.configuration})


@status_router.get("/alertmanagers", summary="Alertmanagers: none")
def alertmanagers() -> Response:
    """None: the server sends its notifications itself."""
    return whole({"activeAlertmanagers": [], "droppedAlertmanagers": []})


@status_router.get("/status/tsdb", summary="Number of series")
def tsdb(engine: PromqlEngine, facts: Facts) -> Response:
    """Series and times of the store; lists of the largest names and labels are empty: `/api/store` has them."""
    statistics = facts.statistics()
    head = {
        "numSeries": statistics.series,
        "numLabelPairs": 0,
        "chunkCount": statistics.head_blocks,
        "minTime": statistics.head_complete_ms,
        "maxTime": engine.store.newest_ms() or 0,
    }
    lists: dict[str, list[object]] = {
        name: []
        for name in (
            *("seriesCountByMetricName", "labelValueCountByLabelName"),
            *("memoryInBytesByLabelName", "seriesCountByLabelValuePair"),
        )
    }
    return whole({"headStats": head, **lists})
