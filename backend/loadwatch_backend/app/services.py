"""All services of the application, put together."""

import functools
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from loadwatch_backend.access.principal import Access
from loadwatch_backend.access.sign_in.setup import begin_setup
from loadwatch_backend.access.wiring import AccessServices, build_access
from loadwatch_backend.alerts.alertmanager.service import AlertmanagerApi
from loadwatch_backend.alerts.wiring import AlertServices
from loadwatch_backend.annotations.service import AnnotationService
from loadwatch_backend.app.alerting import open_alerts, open_changes, open_heartbeat, open_notifications
from loadwatch_backend.app.costs import CostRuns
from loadwatch_backend.app.foundation import Foundation, open_foundation
from loadwatch_backend.app.profiling import ProfiledRuns, open_profile_orders
from loadwatch_backend.app.prometheus_facts import prometheus_facts
from loadwatch_backend.app.run_functions import ProfiledFunctions, ProfiledWaits
from loadwatch_backend.app.run_notes import RunNotes
from loadwatch_backend.app.run_statements import NewestFiles, RunRequestCounts, find_anew
from loadwatch_backend.backups.service import Backups
from loadwatch_backend.changes.watcher import ChangeWatcher
from loadwatch_backend.compare.forecasts.service import ForecastService
from loadwatch_backend.compare.service import CompareService
from loadwatch_backend.connect.service import ConnectService
from loadwatch_backend.evidence.cost.service import Costs, RunCosts
from loadwatch_backend.evidence.files.schemas import EvidenceKind
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.log_patterns.service import LogPatternService
from loadwatch_backend.evidence.profiles.capture.orders import ProfileOrders
from loadwatch_backend.evidence.profiles.views.service import Profiles
from loadwatch_backend.evidence.routes.service import RouteTables
from loadwatch_backend.evidence.statements.kept_digest import KeptDigests
from loadwatch_backend.evidence.statements.service import Statements
from loadwatch_backend.exports.service import Exports
from loadwatch_backend.findings.advisor.service import PoolAdvisor
from loadwatch_backend.findings.opinions.service import Opinions
from loadwatch_backend.findings.read import Span
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.findings.watch import FindingsWatch
from loadwatch_backend.importers.reader import ProcessReader
from loadwatch_backend.ingest.limits import IngestLimits
from loadwatch_backend.ingest.otlp.names import Strategy
from loadwatch_backend.ingest.otlp.service import OtlpService
from loadwatch_backend.ingest.otlp.translate import OtlpRules
from loadwatch_backend.ingest.service import IngestService
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.processes.agent_control import AgentControl
from loadwatch_backend.kit.settings import Settings
from loadwatch_backend.live.hub import LiveHub
from loadwatch_backend.notify.assembly import NotificationServices
from loadwatch_backend.notify.heartbeat import Heartbeat
from loadwatch_backend.observe.metrics import (
    Number,
    ServerMetrics,
    access_numbers,
    ahead_numbers,
    alert_numbers,
    connection_numbers,
    delivery_numbers,
    heartbeat_numbers,
    ingest_numbers,
    live_numbers,
    query_numbers,
    run_numbers,
    sender_numbers,
    store_numbers,
)
from loadwatch_backend.observe.self_watch import SelfWatch
from loadwatch_backend.promql.admission.classes import Queries
from loadwatch_backend.promql.engine import Engine
from loadwatch_backend.promql.http.status import ServerFacts
from loadwatch_backend.records.figures import figures_of
from loadwatch_backend.report.service import ReportService
from loadwatch_backend.report.source import ReportSource
from loadwatch_backend.runs.analysis.analyst import Analyst
from loadwatch_backend.runs.imports.places import Places
from loadwatch_backend.runs.registry.deletion import PinnedWindows
from loadwatch_backend.runs.registry.repository import find_run
from loadwatch_backend.runs.registry.under_way import latest_began_ms
from loadwatch_backend.runs.service import RunParts, RunServices, build_run_services
from loadwatch_backend.runs.snapshots.take import Snapshotter
from loadwatch_backend.signals.service import SignalService, build_signal_service
from loadwatch_backend.storage.service import Storage
from loadwatch_backend.store.leadership import Leadership, load_holder
from loadwatch_backend.store.port import SampleStore
from loadwatch_backend.store.relational import Relational
from loadwatch_backend.targets.service import TargetService
from loadwatch_backend.timeouts.service import TimeoutService


@dataclass(frozen=True, kw_only=True)
class Services:
    """One of each type: endpoints find theirs by it (`kit.services`)."""

    clock: Clock
    store: SampleStore
    relational: Relational
    engine: Engine
    queries: Queries
    exports: Exports
    storage: Storage
    live: LiveHub
    metrics: ServerMetrics
    ingest: IngestService
    otlp: OtlpService
    annotations: AnnotationService
    signals: SignalService
    findings: Findings
    opinions: Opinions
    costs: RunCosts
    statements: Statements
    route_tables: RouteTables
    pool_advisor: PoolAdvisor
    targets: TargetService
    timeouts: TimeoutService
    evidence_files: EvidenceFiles
    log_patterns: LogPatternService
    profiles: Profiles
    profile_orders: ProfileOrders
    runs: RunServices
    compare: CompareService
    forecasts: ForecastService
    reports: ReportService
    access: AccessServices
    leadership: Leadership
    notifications: NotificationServices
    alerts: AlertServices
    alertmanager: AlertmanagerApi
    changes: ChangeWatcher
    heartbeat: Heartbeat | None
    connect: ConnectService
    backups: Backups
    prometheus_facts: ServerFacts
    setup_secret: str | None
    """Of the first administrator's link, while there is no administrator."""

    def end_streams(self) -> None:
        """End open streams and queries, so that the server can stop; on the event loop's thread."""
        self.live.close()
        self.queries.stop()


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the process that started the server left for it."""

    setup_secret: str | None = None
    agent_control: AgentControl | None = None


def open_services(
    settings: Settings,
    clock: Clock,
    monotonic: Callable[[], float],
    metrics: ServerMetrics,
    given: Given,
    stack: ExitStack,
) -> Services:
    """Open everything that needs the data directory; `stack` closes it again in the opposite order."""
    ground = open_foundation(settings, clock, monotonic, stack)
    if given.agent_control is not None:
        stack.callback(given.agent_control.close)
    store, relational, engine, live = ground.store, ground.relational, ground.engine, ground.live
    pins = PinnedWindows(relational, clock)
    annotations = AnnotationService(relational, clock)
    signals = build_signal_service(engine, clock)
    evidence_files = EvidenceFiles(relational, settings.data, find_run, clock)
    evidence_files.mend()
    access_logs = NewestFiles(files=evidence_files, kind=EvidenceKind.ACCESS_LOG)
    costs = Costs(store, clock, access_logs)
    findings = Findings(
        store,
        clock,
        began=lambda: latest_began_ms(relational, clock),
        latest=lambda: runs.analyses.latest(),
        costs=costs,
        profiles=ProfiledWaits(files=evidence_files),
    )
    opinions = Opinions(relational, clock)
    findings_watch = FindingsWatch(
        lambda: opinions.judged_now(findings.live()), store, clock, writes=settings.own_metrics_seconds > 0
    )
    ingest = IngestService(store, _ingest_limits(settings), clock, ground.steady.span)
    runs = _open_runs(ground, pins, findings, opinions, evidence_files, RunNotes(annotations), ingest)
    evidence_files.tell(functools.partial(find_anew, runs.analyses))
    log_patterns = LogPatternService(store, CostRuns(runs=runs, clock=clock))
    access = build_access(settings, relational, clock)
    leadership = Leadership(relational, "alerts", load_holder(settings.data))
    stack.callback(leadership.stop)
    notifications = open_notifications(ground, leadership, runs, findings_watch)
    targets = TargetService(store, clock, relational)
    alerts = open_alerts(ground, leadership, notifications, findings_watch, targets)
    changes = open_changes(ground, leadership, annotations)
    leadership.start()
    cost_runs = CostRuns(runs=runs, clock=clock)
    route_tables = RouteTables(store=store, runs=cost_runs, logs=access_logs)
    profiles = Profiles(evidence_files, ProfiledRuns(runs.registry, relational, route_tables))
    run_costs = RunCosts(costs, cost_runs, ProfiledFunctions(profiles=profiles, runs=cost_runs), store)
    statements = Statements(
        store=store,
        runs=cost_runs,
        requests=RunRequestCounts(registry=runs.registry, route_tables=route_tables),
        digests=KeptDigests(NewestFiles(files=evidence_files, kind=EvidenceKind.SLOW_LOG)),
    )
    compare = CompareService(runs.registry, signals)
    services = Services(
        clock=clock,
        store=store,
        relational=relational,
        engine=engine,
        queries=ground.queries,
        exports=Exports(store),
        storage=Storage(
            store,
            data=settings.data,
            retention_ms=settings.retention_ms,
            rollup_retention_ms=settings.rollup_retention_ms,
            series_limit=settings.store_series_limit,
            clock=clock,
            monotonic=ground.monotonic,
        ),
        live=live,
        metrics=metrics,
        ingest=ingest,
        otlp=OtlpService(ingest, store, _otlp_rules(settings)),
        annotations=annotations,
        signals=signals,
        findings=findings,
        opinions=opinions,
        costs=run_costs,
        statements=statements,
        route_tables=route_tables,
        pool_advisor=PoolAdvisor(store, clock, functools.partial(_run_span, runs, clock)),
        targets=targets,
        timeouts=TimeoutService(store, clock),
        evidence_files=evidence_files,
        log_patterns=log_patterns,
        profiles=profiles,
        profile_orders=open_profile_orders(ground, leadership, alerts.evaluator, evidence_files),
        runs=runs,
        compare=compare,
        forecasts=ForecastService(runs.registry, store, engine, relational, clock),
        reports=ReportService(
            ReportSource(
                runs=runs,
                costs=run_costs,
                route_tables=route_tables,
                statements=statements,
                annotations=annotations,
                log_patterns=log_patterns,
                evidence_files=evidence_files,
                compare=compare,
            ),
            signals,
            clock,
        ),
        access=access,
        leadership=leadership,
        notifications=notifications,
        alerts=alerts,
        alertmanager=AlertmanagerApi(
            relational=relational,
            dispatch=notifications.dispatcher,
            configuration=notifications.configuration,
            silences=notifications.silences,
            external_url=ground.external_url,
            clock=clock,
        ),
        changes=changes,
        heartbeat=open_heartbeat(ground, leadership, notifications, alerts),
        connect=ConnectService(given.agent_control, clock),
        backups=Backups(
            relational=relational, store=store, data=settings.data, clock=clock, monotonic=ground.monotonic
        ),
        prometheus_facts=prometheus_facts(ground),
        setup_secret=begin_setup(relational, clock, given.setup_secret) if access.gate.access is Access.USERS else None,
    )
    metrics.show(_numbers(services))
    _watch_itself(ground, metrics)
    stack.callback(findings_watch.stop)
    findings_watch.start()
    runs.scorer.start()
    runs.catch_up.start()
    store.keep_pinned(pins)
    stack.callback(store.on_commit(live.publish))
    return services


def _run_span(runs: RunServices, clock: Clock, run_id: str) -> Span:
    run = runs.registry.summary(run_id)
    return Span(from_ms=run.started_ms, to_ms=clock() if run.ended_ms is None else run.ended_ms)


def _open_runs(
    ground: Foundation,
    pins: PinnedWindows,
    findings: Findings,
    opinions: Opinions,
    evidence_files: EvidenceFiles,
    notes: RunNotes,
    ingest: IngestService,
) -> RunServices:
    settings, clock, engine = ground.settings, ground.clock, ground.engine
    reader = ProcessReader(seconds=settings.import_seconds, unpacked_bytes=settings.import_unpacked_bytes)
    services = build_run_services(
        RunParts(
            relational=ground.relational,
            store=ground.store,
            places=Places(settings.data),
            pins=pins,
            analyst=Analyst(engine, clock, figures_of, findings),
            snapshots=Snapshotter(engine),
            reader=reader,
            opinions=opinions,
            evidence_files=evidence_files,
            notes=notes,
            admit=ingest.admit,
            clock=clock,
            retention_ms=settings.retention_ms,
            import_bytes=settings.import_bytes,
        )
    )
    ground.stack.callback(services.close)
    ground.stack.callback(reader.close)
    return services


def _numbers(services: Services) -> list[Number]:
    """What /metrics shows."""
    return [
        *connection_numbers(),
        *ingest_numbers(services.ingest.counts),
        *ahead_numbers(services.ingest),
        *sender_numbers(services.ingest),
        *store_numbers(services.store),
        *query_numbers(services.queries),
        *live_numbers(services.live),
        *run_numbers(services.runs),
        *alert_numbers(services.alerts.evaluator, services.leadership),
        *delivery_numbers(services.notifications.notifier, services.notifications.deliveries),
        *heartbeat_numbers(services.heartbeat),
        *access_numbers(services.access.gate, services.access.audit),
    ]


def _watch_itself(ground: Foundation, metrics: ServerMetrics) -> None:
    """The server's own metrics in its own store."""
    settings = ground.settings
    if settings.own_metrics_seconds:
        watch = SelfWatch(
            collect=metrics.registry.collect,
            store=ground.store,
            clock=ground.clock,
            instance=f"{settings.listen.host}:{settings.listen.port}",
            seconds=settings.own_metrics_seconds,
        )
        watch.start()
        ground.stack.callback(watch.stop)


def _otlp_rules(settings: Settings) -> OtlpRules:
    return OtlpRules(
        strategy=Strategy(settings.otlp_translation),
        promote=frozenset(name.strip() for name in settings.otlp_promote.split(",") if name.strip()),
        scope=settings.otlp_scope,
    )


def _ingest_limits(settings: Settings) -> IngestLimits:
    return IngestLimits(
        body_bytes=settings.ingest_body_bytes,
        decompressed_bytes=settings.ingest_decompressed_bytes,
        entries=settings.ingest_entries,
        labels=settings.ingest_labels,
        label_name_bytes=settings.ingest_label_name_bytes,
        label_value_bytes=settings.ingest_label_value_bytes,
        new_series=settings.ingest_new_series,
        sender_series=settings.ingest_sender_series,
        sender_new_series=settings.ingest_sender_new_series,
        ahead_ms=settings.ingest_ahead_seconds * 1_000,
        retention_ms=settings.retention_ms,
    )
