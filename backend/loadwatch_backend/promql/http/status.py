"""What Prometheus' API says of the server itself: below `status/`, and which Alertmanagers it has."""

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Request, Response
from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.services import service
from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.promql.admission.memory import LABELS_BYTES, Ticket
from loadwatch_backend.promql.http.cardinality import cardinality
from loadwatch_backend.promql.http.describe import RESPONSES, documented
from loadwatch_backend.promql.http.endpoints import PromqlEngine, Query, QueryQueues, whole
from loadwatch_backend.promql.http.parameters import NEWEST_MS, OLDEST_MS, InvalidParameterError
from loadwatch_backend.promql.http.response import in_pieces, success
from loadwatch_backend.promql.http.streaming import answer
from loadwatch_backend.store.port import StoreStatistics

PROMETHEUS_VERSION = "3.0.0"
"""The version whose queries and HTTP API this follows; Grafana picks its features by it."""
USUAL_ENTRIES, MOST_ENTRIES = 10, 10_000
"""Of each list of `status/tsdb`, as in Prometheus."""


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


@status_router.get(
    "/status/tsdb",
    summary="Numbers of series by name and label",
    responses=RESPONSES,
    openapi_extra=documented("limit"),
)
async def tsdb(
    request: Request,
    engine: PromqlEngine,
    queries: QueryQueues,
    facts: Facts,
    parameters: Query,
) -> Response:
    """Counts over all series that are kept, the largest first; chunks are the blocks of samples in memory."""
    most = _entries(parameters.text("limit"))

    def write(ticket: Ticket) -> Iterator[bytes]:
        statistics = facts.statistics()
        ticket.take(statistics.series * LABELS_BYTES)
        found = cardinality(engine.store.series([()], OLDEST_MS, NEWEST_MS), most)
        document: dict[str, Any] = {
            "headStats": {
                "numSeries": found.pop("numSeries"),
                "numLabelPairs": found.pop("numLabelPairs"),
                "chunkCount": statistics.head_blocks,
                "minTime": statistics.head_complete_ms,
                "maxTime": engine.store.newest_ms() or 0,
            },
            **found,
        }
        return in_pieces([success(orjson.dumps(document).decode()).decode()])

    return await answer(request, queries.api, write)


def _entries(text: str) -> int:
    if not text:
        return USUAL_ENTRIES
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
        raise InvalidParameterError("limit must be a positive number")
    if int(text) > MOST_ENTRIES:
        raise InvalidParameterError(f"limit must not exceed {MOST_ENTRIES}")
    return int(text)
