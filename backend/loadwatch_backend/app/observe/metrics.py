"""The server's own metrics, in a registry of their own: where the values of those of the catalogue are read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadwatch_formats.metrics.model import metrics_of
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from loadwatch_backend.access.audit.audit import AuditLog
from loadwatch_backend.access.service import AccessService
from loadwatch_backend.alerting.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerting.notify.heartbeat import Heartbeat
from loadwatch_backend.alerting.notify.notifier import Notifier
from loadwatch_backend.alerting.notify.outbox.service import DeliveryService
from loadwatch_backend.app.live.hub import LiveHub
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.database.outages import DatabaseError, problem_of
from loadwatch_backend.core.http_protocol import CONNECTIONS
from loadwatch_backend.core.middleware import REFUSAL
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.runs.service import RunServices
from loadwatch_backend.series.ingest.service import IngestCounts, IngestService
from loadwatch_backend.series.promql.admission import Queries, Refusal
from loadwatch_backend.series.store.port import Watcher

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
        """The metric with its present values."""
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
    """Reads numbers at each scrape."""

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


def ingest_numbers(counts: IngestCounts) -> list[Number]:
    """What was taken and refused."""
    return [
        Number("loadwatch_ingest_requests_total", lambda: counts.requests_total),
        Number("loadwatch_ingest_samples_total", lambda: counts.samples_total),
        Number(
            "loadwatch_ingest_rejected_requests_total",
            lambda: {str(reason): number for reason, number in counts.rejected_requests_total.items()},
            label="reason",
        ),
        Number(
            "loadwatch_ingest_rejected_samples_total",
            lambda: {str(reason): number for reason, number in counts.rejected_samples_total.items()},
            label="reason",
        ),
        Number("loadwatch_ingest_skipped_exemplars_total", lambda: counts.exemplars_skipped_total),
        Number("loadwatch_ingest_skipped_histograms_total", lambda: counts.histograms_skipped_total),
        Number("loadwatch_ingest_skipped_metadata_total", lambda: counts.metadata_skipped_total),
    ]


def store_numbers(store: Watcher) -> list[Number]:
    """What the store holds and has done."""

    def reader(field: str) -> Callable[[], float]:
        return lambda: float(getattr(store.statistics(), field))

    return [Number(name, reader(name.removeprefix(STORE))) for name in CATALOGUE if name.startswith(STORE)]


def query_numbers(queries: Queries) -> list[Number]:
    """Who asks, who waits, and what it takes."""

    def refusals() -> Mapping[str, float]:
        found = {str(reason): 0.0 for reason in Refusal}
        for queue in queries.queues.values():
            for reason, count in queue.counts.refused.items():
                found[str(reason)] += count
        return found

    return [
        Number(
            "loadwatch_queries_total",
            lambda: {name: queue.counts.queries for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            "loadwatch_queries_running",
            lambda: {name: queue.running for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            "loadwatch_queries_concurrent_max",
            lambda: {name: queue.settings.at_once for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            "loadwatch_queries_waiting",
            lambda: {name: queue.waiting for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            "loadwatch_query_wait_seconds_total",
            lambda: {name: queue.counts.wait_seconds for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number("loadwatch_queries_refused_total", refusals, label="reason"),
        Number(
            "loadwatch_query_memory_bytes",
            lambda: {name: pool.used_bytes for name, pool in queries.memory.items()},
            label="asker",
        ),
        Number(
            "loadwatch_query_memory_limit_bytes",
            lambda: {name: pool.total_bytes for name, pool in queries.memory.items()},
            label="asker",
        ),
        Number(
            "loadwatch_queries_too_large_total",
            lambda: {name: pool.refused for name, pool in queries.memory.items()},
            label="asker",
        ),
    ]


def access_numbers(gate: AccessService, audit: AuditLog) -> list[Number]:
    """Who was kept out, and what the audit log could not keep."""
    return [
        Number("loadwatch_access_refused_tokens_total", lambda: gate.counts.tokens_refused_total),
        Number("loadwatch_access_failed_logins_total", lambda: gate.counts.logins_failed_total),
        Number("loadwatch_access_ignored_headers_total", lambda: gate.counts.headers_ignored_total),
        Number("loadwatch_audit_suppressed_total", lambda: audit.suppressed_total),
        Number("loadwatch_audit_failed_total", lambda: audit.failed_total),
    ]


def ahead_numbers(ingest: IngestService) -> list[Number]:
    """Whose clock is ahead."""
    return [
        Number(
            "loadwatch_ingest_newest_sample_ahead_seconds",
            lambda: ingest.ahead.read(ingest.clock()),
            label=("sender_job", "sender_instance"),
        )
    ]


def sender_numbers(ingest: IngestService) -> list[Number]:
    """What each sender has of its limits; at most `senders.MOST_SENDERS` and one for all others."""

    def reader(field: str) -> Callable[[], Mapping[str, float]]:
        return lambda: {
            name: float(getattr(figures, field)) for name, figures in ingest.senders.figures(ingest.clock()).items()
        }

    return [
        Number("loadwatch_ingest_sender_series", reader("active_series"), label="sender"),
        Number("loadwatch_ingest_sender_new_series", reader("new_series"), label="sender"),
        Number("loadwatch_ingest_sender_rejected_samples_total", reader("refused_total"), label="sender"),
    ]


def connection_numbers() -> list[Number]:
    """Connections of clients."""
    return [
        Number("loadwatch_http_connections", lambda: CONNECTIONS.open),
        Number("loadwatch_http_connections_limit", lambda: CONNECTIONS.most),
        Number("loadwatch_http_connections_ended_total", lambda: {**CONNECTIONS.refused}, label="reason"),
    ]


def live_numbers(live: LiveHub) -> list[Number]:
    """Who is watching."""
    return [Number("loadwatch_live_streams", lambda: live.streams)]


def run_numbers(runs: RunServices) -> list[Number]:
    """What was imported and refused."""
    return [
        Number("loadwatch_imports_total", lambda: runs.imports.counts.done),
        Number(
            "loadwatch_imports_failed_total",
            lambda: {str(reason): number for reason, number in runs.imports.counts.failed.items()},
            label="reason",
        ),
        Number("loadwatch_imports_waiting", lambda: runs.imports.waiting),
        Number("loadwatch_imports_received_bytes_total", lambda: runs.imports.counts.bytes),
        Number(
            "loadwatch_archives_refused_total",
            lambda: {str(reason): number for reason, number in runs.archives.failed.items()},
            label="reason",
        ),
    ]


def alert_numbers(evaluator: Evaluator, leadership: Leadership) -> list[Number]:
    """How rules are evaluated."""
    return [
        Number("loadwatch_rule_evaluations_total", lambda: evaluator.counts.evaluations),
        Number("loadwatch_rule_evaluation_failures_total", lambda: evaluator.counts.failures),
        Number("loadwatch_rule_evaluation_seconds_total", lambda: evaluator.counts.seconds),
        Number("loadwatch_rule_group_evaluations_missed_total", lambda: evaluator.missed),
        Number("loadwatch_alerts", evaluator.alerts_by_state, label="state"),
        Number("loadwatch_database_up", lambda: float(leadership.standstill is None)),
        Number("loadwatch_leader", lambda: float(leadership.held)),
    ]


def delivery_numbers(notifier: Notifier, log: DeliveryService) -> list[Number]:
    """What was sent, waits and was given up."""
    return [
        Number(
            "loadwatch_deliveries",
            lambda: {str(state): float(count) for state, count in log.counts().items()},
            label="state",
        ),
        Number("loadwatch_delivery_oldest_waiting_seconds", log.oldest_waiting_seconds),
        Number("loadwatch_integration_failing_seconds", log.failing_seconds, label="integration"),
        Number(
            "loadwatch_delivery_attempts_total",
            lambda: {name: float(count) for name, count in notifier.workers.counts.attempts.items()},
            label="outcome",
        ),
        Number(
            "loadwatch_delivery_attempts_by_kind_total",
            lambda: {name: float(count) for name, count in notifier.workers.counts.kinds.items()},
            label="kind",
        ),
        Number("loadwatch_delivery_attempt_seconds_total", lambda: notifier.workers.counts.seconds),
    ]


def heartbeat_numbers(heartbeat: Heartbeat | None) -> list[Number]:
    """The sign of life that is sent to LOADWATCH_HEARTBEAT_URL."""
    return [
        Number(
            "loadwatch_heartbeats_total",
            lambda: dict[str, float]() if heartbeat is None else {**heartbeat.counts},
            label="outcome",
        )
    ]


class ServerMetrics:
    """The registry and what is counted as it happens."""

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
        """Read these too from now on."""
        self.registry.register(NumbersCollector(numbers))

    def observe(self, scope: Mapping[str, Any], status: int, seconds: float) -> None:
        """Note a finished request; paths that no route takes share one label, or strangers could make any number."""
        path = getattr(scope.get("route"), "path", None) or "other"
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        self.requests.labels(method, path, str(status)).observe(seconds)
        if REFUSAL in scope:
            self.refusals.labels(scope[REFUSAL]).inc()

    def page(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
