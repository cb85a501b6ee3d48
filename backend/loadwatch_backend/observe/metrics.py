"""The server's own metrics, in a registry of their own. `docs/reference/server-metrics.md` is written from here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from loadwatch_backend.access.audit.audit import AuditLog
from loadwatch_backend.access.service import AccessService
from loadwatch_backend.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.ingest.service import IngestCounts, IngestService
from loadwatch_backend.kit.middleware import REFUSAL
from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.live.hub import LiveHub
from loadwatch_backend.notify.heartbeat import Heartbeat
from loadwatch_backend.notify.notifier import Notifier
from loadwatch_backend.notify.outbox.service import DeliveryService
from loadwatch_backend.promql.admission.classes import Queries
from loadwatch_backend.promql.admission.queue import Refusal
from loadwatch_backend.runs.service import RunServices
from loadwatch_backend.store.leadership import Leadership
from loadwatch_backend.store.outages import DatabaseError, problem_of
from loadwatch_backend.store.port import Watcher

DURATION_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One metric that is read when it is asked for. `label` names the label, or labels, of the values of `read`."""

    name: str
    help: str
    read: Callable[[], float | Mapping[str, float] | Mapping[tuple[str, ...], float]]
    label: str | tuple[str, ...] = ""

    @property
    def type(self) -> str:
        """As in OpenMetrics."""
        return "counter" if self.name.endswith("_total") else "gauge"

    def family(self) -> Metric:
        """The metric with its present values."""
        labels = [self.label] if self.label and isinstance(self.label, str) else list(self.label)
        make = CounterMetricFamily if self.type == "counter" else GaugeMetricFamily
        family = make(self.name, self.help, labels=labels)
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
        yield InfoMetricFamily("loadwatch_build", "The version that runs.", value={"version": VERSION})
        for number in self._numbers:
            try:
                yield number.family()
            except DatabaseError as error:
                if problem_of(error) is None:
                    raise


def ingest_numbers(counts: IngestCounts) -> list[Number]:
    """What was taken and refused."""
    return [
        Number(
            name="loadwatch_ingest_requests_total",
            help="Remote-write requests taken.",
            read=lambda: counts.requests_total,
        ),
        Number(name="loadwatch_ingest_samples_total", help="Samples taken.", read=lambda: counts.samples_total),
        Number(
            name="loadwatch_ingest_rejected_requests_total",
            help="Remote-write requests refused, by reason.",
            read=lambda: {str(reason): number for reason, number in counts.rejected_requests_total.items()},
            label="reason",
        ),
        Number(
            name="loadwatch_ingest_rejected_samples_total",
            help="Samples refused, by reason; the other samples of their requests were taken.",
            read=lambda: {str(reason): number for reason, number in counts.rejected_samples_total.items()},
            label="reason",
        ),
        Number(
            name="loadwatch_ingest_skipped_exemplars_total",
            help="Exemplars left out: they are not stored.",
            read=lambda: counts.exemplars_skipped_total,
        ),
        Number(
            name="loadwatch_ingest_skipped_histograms_total",
            help="Native histograms left out: they are not stored.",
            read=lambda: counts.histograms_skipped_total,
        ),
        Number(
            name="loadwatch_ingest_skipped_metadata_total",
            help="Metadata left out because that of too many metrics is known.",
            read=lambda: counts.metadata_skipped_total,
        ),
    ]


STORE_HELP: Mapping[str, tuple[str, str]] = {
    "series": ("loadwatch_store_series", "Series in the store."),
    "samples_appended_total": ("loadwatch_store_samples_appended_total", "Samples written to disk."),
    "commits_total": ("loadwatch_store_commits_total", "Commits to disk."),
    "failed_commits_total": ("loadwatch_store_failed_commits_total", "Commits that the disk refused."),
    "busy_rejections_total": (
        "loadwatch_store_busy_rejections_total",
        "Batches refused because too many samples were waiting for the disk.",
    ),
    "queued_samples": ("loadwatch_store_queued_samples", "Samples that wait for the disk."),
    "head_bytes": ("loadwatch_store_head_bytes", "Memory that the newest samples take."),
    "head_blocks": ("loadwatch_store_head_blocks", "Blocks that the newest samples are in."),
    "sealed_rows_total": ("loadwatch_store_sealed_rows_total", "Samples moved to the sorted table."),
    "deleted_rows_total": ("loadwatch_store_deleted_rows_total", "Samples deleted by age."),
    "database_bytes": ("loadwatch_store_database_bytes", "Size of the samples' database file."),
}


def store_numbers(store: Watcher) -> list[Number]:
    """What the store holds and has done."""

    def reader(field: str) -> Callable[[], float]:
        return lambda: float(getattr(store.statistics(), field))

    return [Number(name=name, help=help, read=reader(field)) for field, (name, help) in STORE_HELP.items()]


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
            name="loadwatch_queries_total",
            help="Queries that got their turn, by queue.",
            read=lambda: {name: queue.counts.queries for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            name="loadwatch_queries_running",
            help="Queries that are evaluated at this moment, by queue.",
            read=lambda: {name: queue.running for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            name="loadwatch_queries_concurrent_max",
            help="Queries that may be evaluated at once, by queue.",
            read=lambda: {name: queue.settings.at_once for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            name="loadwatch_queries_waiting",
            help="Queries that wait for their turn, by queue.",
            read=lambda: {name: queue.waiting for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            name="loadwatch_query_wait_seconds_total",
            help="Time that queries waited for their turn, by queue.",
            read=lambda: {name: queue.counts.wait_seconds for name, queue in queries.queues.items()},
            label="queue",
        ),
        Number(
            name="loadwatch_queries_refused_total",
            help="Queries that were not evaluated, by reason: full and waited (503), gone (their client), stopping.",
            read=refusals,
            label="reason",
        ),
        Number(
            name="loadwatch_query_memory_bytes",
            help="Memory that queries have taken, by who asks.",
            read=lambda: {name: pool.used_bytes for name, pool in queries.memory.items()},
            label="asker",
        ),
        Number(
            name="loadwatch_query_memory_limit_bytes",
            help="Memory that queries may take together, by who asks.",
            read=lambda: {name: pool.total_bytes for name, pool in queries.memory.items()},
            label="asker",
        ),
        Number(
            name="loadwatch_queries_too_large_total",
            help="Queries refused because one alone would have taken more memory than one may, by who asks.",
            read=lambda: {name: pool.refused for name, pool in queries.memory.items()},
            label="asker",
        ),
    ]


def access_numbers(gate: AccessService, audit: AuditLog) -> list[Number]:
    """Who was kept out, and what the audit log could not keep."""
    return [
        Number(
            name="loadwatch_access_refused_tokens_total",
            help="Requests with a token that nobody knows.",
            read=lambda: gate.counts.tokens_refused_total,
        ),
        Number(
            name="loadwatch_access_failed_logins_total",
            help="Attempts to sign in that failed.",
            read=lambda: gate.counts.logins_failed_total,
        ),
        Number(
            name="loadwatch_access_ignored_headers_total",
            help="User headers that did not come from a trusted proxy.",
            read=lambda: gate.counts.headers_ignored_total,
        ),
        Number(
            name="loadwatch_audit_suppressed_total",
            help="Audit entries of strangers left out because their address made too many in a minute.",
            read=lambda: audit.suppressed_total,
        ),
        Number(
            name="loadwatch_audit_failed_total",
            help="Audit entries that the database refused.",
            read=lambda: audit.failed_total,
        ),
    ]


def ahead_numbers(ingest: IngestService) -> list[Number]:
    """Whose clock is ahead."""
    return [
        Number(
            name="loadwatch_ingest_newest_sample_ahead_seconds",
            help="How far ahead of this server's clock the newest sample of a sender is that was or is 10 s ahead.",
            read=lambda: ingest.ahead.read(ingest.clock()),
            label=("sender_job", "sender_instance"),
        )
    ]


def live_numbers(live: LiveHub) -> list[Number]:
    """Who is watching."""
    return [
        Number(
            name="loadwatch_live_streams",
            help="Open streams of news, one for each open page.",
            read=lambda: live.streams,
        )
    ]


def run_numbers(runs: RunServices) -> list[Number]:
    """What was imported and refused."""
    return [
        Number(name="loadwatch_imports_total", help="Result files imported.", read=lambda: runs.imports.counts.done),
        Number(
            name="loadwatch_imports_failed_total",
            help="Result files refused or not imported, by the code of their problem.",
            read=lambda: {str(reason): number for reason, number in runs.imports.counts.failed.items()},
            label="reason",
        ),
        Number(
            name="loadwatch_imports_waiting",
            help="Result files that wait to be imported, or are at this moment.",
            read=lambda: runs.imports.waiting,
        ),
        Number(
            name="loadwatch_imports_received_bytes_total",
            help="Bytes of result files received.",
            read=lambda: runs.imports.counts.bytes,
        ),
        Number(
            name="loadwatch_archives_refused_total",
            help="Archives of runs that were not taken in, by the code of their problem.",
            read=lambda: {str(reason): number for reason, number in runs.archives.failed.items()},
            label="reason",
        ),
    ]


def alert_numbers(evaluator: Evaluator, leadership: Leadership) -> list[Number]:
    """How rules are evaluated."""
    return [
        Number(
            name="loadwatch_rule_evaluations_total",
            help="Evaluations of rules.",
            read=lambda: evaluator.counts.evaluations,
        ),
        Number(
            name="loadwatch_rule_evaluation_failures_total",
            help="Evaluations of rules that failed; their alerts stay as they were.",
            read=lambda: evaluator.counts.failures,
        ),
        Number(
            name="loadwatch_rule_evaluation_seconds_total",
            help="Time that evaluations of rules took.",
            read=lambda: evaluator.counts.seconds,
        ),
        Number(
            name="loadwatch_rule_group_evaluations_missed_total",
            help="Evaluations of groups of rules that came too late to be made.",
            read=lambda: evaluator.missed,
        ),
        Number(
            name="loadwatch_alerts",
            help="Alerts, by state; 0 while another server evaluates.",
            read=evaluator.alerts_by_state,
            label="state",
        ),
        Number(
            name="loadwatch_database_up",
            help="1 while the database of runs, alerts and users answers and takes what is written; without it no "
            "rule is evaluated.",
            read=lambda: float(leadership.answers),
        ),
        Number(
            name="loadwatch_leader",
            help="1 on the server that evaluates rules and sends notifications.",
            read=lambda: float(leadership.held),
        ),
    ]


def delivery_numbers(notifier: Notifier, log: DeliveryService) -> list[Number]:
    """What was sent, waits and was given up."""
    return [
        Number(
            name="loadwatch_deliveries",
            help="Messages in the log, which holds 30 days, by state.",
            read=lambda: {str(state): float(count) for state, count in log.counts().items()},
            label="state",
        ),
        Number(
            name="loadwatch_delivery_oldest_waiting_seconds",
            help="Age of the oldest message that waits or is being sent; 0 when none does.",
            read=log.oldest_waiting_seconds,
        ),
        Number(
            name="loadwatch_integration_failing_seconds",
            help="For how long an integration has not taken messages that wait for it; by receiver/integration.",
            read=log.failing_seconds,
            label="integration",
        ),
        Number(
            name="loadwatch_delivery_attempts_total",
            help="Attempts to send a message, by outcome.",
            read=lambda: {name: float(count) for name, count in notifier.workers.counts.attempts.items()},
            label="outcome",
        ),
        Number(
            name="loadwatch_delivery_attempts_by_kind_total",
            help="Attempts to send a message, by the kind of the integration.",
            read=lambda: {name: float(count) for name, count in notifier.workers.counts.kinds.items()},
            label="kind",
        ),
        Number(
            name="loadwatch_delivery_attempt_seconds_total",
            help="Time that attempts took.",
            read=lambda: notifier.workers.counts.seconds,
        ),
    ]


def heartbeat_numbers(heartbeat: Heartbeat | None) -> list[Number]:
    """The sign of life that is sent to LOADWATCH_HEARTBEAT_URL."""
    return [
        Number(
            name="loadwatch_heartbeats_total",
            help="Signs of life, by outcome; withheld: no rules were evaluated here, or the database did not answer.",
            read=lambda: dict[str, float]() if heartbeat is None else {**heartbeat.counts},
            label="outcome",
        ),
    ]


class ServerMetrics:
    """The registry and what is counted as it happens."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "loadwatch_http_request_duration_seconds",
            "Time from a request's first byte to its answer's last.",
            ["method", "route", "status"],
            buckets=DURATION_BUCKETS,
            registry=self.registry,
        )
        self.refusals = Counter(
            "loadwatch_http_refusals",
            "Requests refused before or by a route, by the code of their problem details.",
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
