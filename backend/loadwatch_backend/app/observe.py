"""The server's own metrics, in a registry of their own: where the values of those of the catalogue are read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Response
from fastapi.responses import PlainTextResponse
from loadwatch_formats.metrics.model import metrics_of
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from loadwatch_backend.access.wiring import AccessServices
from loadwatch_backend.alerting.alerts.wiring import AlertServices
from loadwatch_backend.alerting.notify.assembly import NotificationServices
from loadwatch_backend.alerting.notify.heartbeat import Heartbeat
from loadwatch_backend.app.live import LiveHub
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.database.outages import DatabaseError, OutageError, problem_of
from loadwatch_backend.core.http_protocol import CONNECTIONS
from loadwatch_backend.core.middleware import REFUSAL
from loadwatch_backend.core.paths import HEALTHY_PATHS, READY_PATHS
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import NotReadyError, service
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.runs.service import RunServices
from loadwatch_backend.series.ingest.service import IngestService
from loadwatch_backend.series.promql.admission import MemoryPool, Queries, QueryQueue, Refusal
from loadwatch_backend.series.store.port import Batch, Labels, Watcher, Writer

CATALOGUE = {one.name: one for one in metrics_of("loadwatch")["server"]}
STORE = "loadwatch_store_"
DURATION_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


@dataclass(frozen=True, slots=True)
class Number:
    """One metric that is read when it is asked for. `label` names the label, or labels, of the values of `read`."""

    name: str
    read: Callable[[], float | Mapping[str, float] | Mapping[tuple[str, ...], float]]
    label: str | tuple[str, ...] = ""

    def family(self) -> Metric:
        labels = [self.label] if self.label and isinstance(self.label, str) else list(self.label)
        known = CATALOGUE[self.name]
        make = CounterMetricFamily if known.type == "counter" else GaugeMetricFamily
        family = make(self.name, known.help, labels=labels)
        value = self.read()
        if isinstance(value, Mapping):
            for name, one in sorted(value.items()):
                family.add_metric([name] if isinstance(name, str) else list(name), one)
        else:
            family.add_metric([], value)
        return family


class NumbersCollector(Collector):
    def __init__(self, numbers: Sequence[Number]) -> None:
        self._numbers = numbers

    def collect(self) -> Iterable[Metric]:
        """All numbers and the version; those of the database are left out while it is away."""
        yield InfoMetricFamily("loadwatch_build", CATALOGUE["loadwatch_build_info"].help, value={"version": VERSION})
        for number in self._numbers:
            try:
                yield number.family()
            except DatabaseError as error:
                if problem_of(error) is None:
                    raise


def own_numbers(
    *,
    ingest: IngestService,
    store: Watcher,
    queries: Queries,
    live: LiveHub,
    runs: RunServices,
    alerts: AlertServices,
    leadership: Leadership,
    notifications: NotificationServices,
    heartbeat: Heartbeat | None,
    access: AccessServices,
) -> list[Number]:
    def by_name(read: Callable[[], Mapping[Any, float]]) -> Callable[[], Mapping[str, float]]:
        return lambda: {str(name): float(number) for name, number in read().items()}

    def of_store(field: str) -> Callable[[], float]:
        return lambda: float(getattr(store.statistics(), field))

    def of_senders(field: str) -> Callable[[], Mapping[str, float]]:
        return lambda: {
            name: float(getattr(figures, field)) for name, figures in ingest.senders.figures(ingest.clock()).items()
        }

    def of_queues(read: Callable[[QueryQueue], float]) -> Callable[[], Mapping[str, float]]:
        return lambda: {name: read(queue) for name, queue in queries.queues.items()}

    def of_memory(read: Callable[[MemoryPool], float]) -> Callable[[], Mapping[str, float]]:
        return lambda: {name: read(pool) for name, pool in queries.memory.items()}

    def refusals() -> Mapping[str, float]:
        queues = queries.queues.values()
        return {str(one): float(sum(queue.counts.refused[one] for queue in queues)) for one in Refusal}

    counts, imports, evaluator = ingest.counts, runs.imports, alerts.evaluator
    log, sent = notifications.deliveries, notifications.notifier.workers.counts
    gate, audit = access.gate, access.audit
    return [
        Number("loadwatch_http_connections", lambda: CONNECTIONS.open),
        Number("loadwatch_http_connections_limit", lambda: CONNECTIONS.most),
        Number("loadwatch_http_connections_ended_total", by_name(lambda: CONNECTIONS.refused), "reason"),
        Number("loadwatch_ingest_requests_total", lambda: counts.requests_total),
        Number("loadwatch_ingest_samples_total", lambda: counts.samples_total),
        Number("loadwatch_ingest_rejected_requests_total", by_name(lambda: counts.rejected_requests_total), "reason"),
        Number("loadwatch_ingest_rejected_samples_total", by_name(lambda: counts.rejected_samples_total), "reason"),
        Number("loadwatch_ingest_skipped_exemplars_total", lambda: counts.exemplars_skipped_total),
        Number("loadwatch_ingest_skipped_histograms_total", lambda: counts.histograms_skipped_total),
        Number("loadwatch_ingest_skipped_metadata_total", lambda: counts.metadata_skipped_total),
        Number(
            "loadwatch_ingest_newest_sample_ahead_seconds",
            lambda: ingest.ahead.read(ingest.clock()),
            ("sender_job", "sender_instance"),
        ),
        # At most `senders.MOST_SENDERS` and one for all others.
        Number("loadwatch_ingest_sender_series", of_senders("active_series"), "sender"),
        Number("loadwatch_ingest_sender_new_series", of_senders("new_series"), "sender"),
        Number("loadwatch_ingest_sender_rejected_samples_total", of_senders("refused_total"), "sender"),
        *(Number(name, of_store(name.removeprefix(STORE))) for name in CATALOGUE if name.startswith(STORE)),
        Number("loadwatch_queries_total", of_queues(lambda queue: queue.counts.queries), "queue"),
        Number("loadwatch_queries_running", of_queues(lambda queue: queue.running), "queue"),
        Number("loadwatch_queries_concurrent_max", of_queues(lambda queue: queue.settings.at_once), "queue"),
        Number("loadwatch_queries_waiting", of_queues(lambda queue: queue.waiting), "queue"),
        Number("loadwatch_query_wait_seconds_total", of_queues(lambda queue: queue.counts.wait_seconds), "queue"),
        Number("loadwatch_queries_refused_total", refusals, "reason"),
        Number("loadwatch_query_memory_bytes", of_memory(lambda pool: pool.used_bytes), "asker"),
        Number("loadwatch_query_memory_limit_bytes", of_memory(lambda pool: pool.total_bytes), "asker"),
        Number("loadwatch_queries_too_large_total", of_memory(lambda pool: pool.refused), "asker"),
        Number("loadwatch_live_streams", lambda: live.streams),
        Number("loadwatch_imports_total", lambda: imports.counts.done),
        Number("loadwatch_imports_failed_total", by_name(lambda: imports.counts.failed), "reason"),
        Number("loadwatch_imports_waiting", lambda: imports.waiting),
        Number("loadwatch_imports_received_bytes_total", lambda: imports.counts.bytes),
        Number("loadwatch_archives_refused_total", by_name(lambda: runs.archives.failed), "reason"),
        Number("loadwatch_rule_evaluations_total", lambda: evaluator.counts.evaluations),
        Number("loadwatch_rule_evaluation_failures_total", lambda: evaluator.counts.failures),
        Number("loadwatch_rule_evaluation_seconds_total", lambda: evaluator.counts.seconds),
        Number("loadwatch_rule_group_evaluations_missed_total", lambda: evaluator.missed),
        Number("loadwatch_alerts", evaluator.alerts_by_state, "state"),
        Number("loadwatch_database_up", lambda: float(leadership.standstill is None)),
        Number("loadwatch_leader", lambda: float(leadership.held)),
        Number("loadwatch_deliveries", by_name(log.counts), "state"),
        Number("loadwatch_delivery_oldest_waiting_seconds", log.oldest_waiting_seconds),
        Number("loadwatch_integration_failing_seconds", log.failing_seconds, "integration"),
        Number("loadwatch_delivery_attempts_total", by_name(lambda: sent.attempts), "outcome"),
        Number("loadwatch_delivery_attempts_by_kind_total", by_name(lambda: sent.kinds), "kind"),
        Number("loadwatch_delivery_attempt_seconds_total", lambda: sent.seconds),
        Number("loadwatch_heartbeats_total", by_name(lambda: heartbeat.counts if heartbeat else {}), "outcome"),
        Number("loadwatch_access_refused_tokens_total", lambda: gate.counts.tokens_refused_total),
        Number("loadwatch_access_failed_logins_total", lambda: gate.counts.logins_failed_total),
        Number("loadwatch_access_ignored_headers_total", lambda: gate.counts.headers_ignored_total),
        Number("loadwatch_audit_suppressed_total", lambda: audit.suppressed_total),
        Number("loadwatch_audit_failed_total", lambda: audit.failed_total),
    ]


class ServerMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "loadwatch_http_request_duration_seconds",
            CATALOGUE["loadwatch_http_request_duration_seconds"].help,
            ["method", "route", "status"],
            buckets=DURATION_BUCKETS,
            registry=self.registry,
        )
        self.refusals = Counter(
            "loadwatch_http_refusals_total",
            CATALOGUE["loadwatch_http_refusals_total"].help,
            ["code"],
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)

    def show(self, numbers: Sequence[Number]) -> None:
        self.registry.register(NumbersCollector(numbers))

    def observe(self, scope: Mapping[str, Any], status: int, seconds: float) -> None:
        """Note a finished request; paths that no route takes share one label, or strangers could make any number."""
        path = getattr(scope.get("route"), "path", None) or "other"
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        self.requests.labels(method, path, str(status)).observe(seconds)
        if REFUSAL in scope:
            self.refusals.labels(scope[REFUSAL]).inc()

    def page(self) -> bytes:
        return generate_latest(self.registry)


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


JOB = "loadwatch"
PREFIX = "loadwatch_"
WRITE_SECONDS = 30.0
LEFT_OUT = frozenset({"histogram", "info"})


def write_own_metrics(collect: Callable[[], Iterable[Metric]], store: Writer, clock: Clock, instance: str) -> None:
    """Read all metrics and write them into the server's own store, with the time of now.

    So the rules about Loadwatch itself work from the first start on, without an agent. Histograms are left out: no rule
    reads them, and they are most of the series. So are `process_*` and `up`: they would make the server one of the
    targets that people look at, and have the rules about those evaluated each second on a server that watches nothing.

    Raises:
        StoreBusyError, StoreWriteError, DatabaseError: they could not be read or written.
    """
    own = {"job": JOB, "instance": instance}
    values: list[tuple[Labels, float]] = [
        ({"__name__": sample.name, **sample.labels, **own}, sample.value)
        for family in collect()
        if family.name.startswith(PREFIX) and family.type not in LEFT_OUT
        for sample in family.samples
    ]
    series = store.resolve([labels for labels, _ in values])
    times = np.full(len(values), clock(), np.int64)
    numbers = np.array([value for _, value in values], np.float64)
    store.append(Batch(series=series, timestamps=times, values=numbers, own=True)).result(WRITE_SECONDS)


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
