"""All services of the application, put together."""

import functools
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import yaml
from loadwatch_formats.durations import format_duration

from loadwatch_backend.access.principal import Access
from loadwatch_backend.access.sign_in.sign_in import begin_setup
from loadwatch_backend.access.wiring import AccessServices, open_access
from loadwatch_backend.alerting.alerts.alertmanager.service import AlertmanagerApi
from loadwatch_backend.alerting.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerting.alerts.schemas import AlertState
from loadwatch_backend.alerting.alerts.wiring import AlertServices, open_alerts
from loadwatch_backend.alerting.notify.assembly import NotificationServices, open_notifications
from loadwatch_backend.alerting.notify.causes import explained_by, rules_by_finding
from loadwatch_backend.alerting.notify.heartbeat import TIMEOUT_MS, Heartbeat
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.alerting.run_notices import RunNotices
from loadwatch_backend.app.changes.watcher import ChangeWatcher, open_changes
from loadwatch_backend.app.connect import ConnectService
from loadwatch_backend.app.live import LiveHub
from loadwatch_backend.app.observe import ServerMetrics, own_numbers, write_own_metrics
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.packs.pinned import PinnedPanels
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks
from loadwatch_backend.catalogue.signals.service import SignalService
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.leadership import Leadership, load_holder
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.core.processes import AgentControl
from loadwatch_backend.core.settings import Settings
from loadwatch_backend.evidence.cost.service import Costs, RunCosts
from loadwatch_backend.evidence.files.schemas import EvidenceFile, EvidenceKind
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.kept_digests import KeptDigests
from loadwatch_backend.evidence.log_patterns import LogPatternService
from loadwatch_backend.evidence.profiles.capture.orders import ProfileOrders
from loadwatch_backend.evidence.profiles.capture.planning import FiringAlert, Process, RunNow, kinds_asked
from loadwatch_backend.evidence.profiles.capture.watch import PAUSE_SECONDS, RETRY_SECONDS, ProfileWatch, read_processes
from loadwatch_backend.evidence.profiles.service import Profiles
from loadwatch_backend.evidence.routes import RouteTables
from loadwatch_backend.evidence.run_tables import RunTables
from loadwatch_backend.evidence.statements import StatementTables
from loadwatch_backend.findings.advisor.service import PoolAdvisor
from loadwatch_backend.findings.opinions import Opinions
from loadwatch_backend.findings.read import Span
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.findings.timeouts.service import TimeoutService
from loadwatch_backend.findings.watch import LOOK_SECONDS, FindingsWatch
from loadwatch_backend.runs.analyses import DUE_SECONDS, Analyses
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.runs.compare.forecasts.service import ForecastService
from loadwatch_backend.runs.compare.service import CompareService
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.registry.news import NewsDesk
from loadwatch_backend.runs.registry.repository import find_run
from loadwatch_backend.runs.registry.under_way import latest_began_ms, runs_under_way
from loadwatch_backend.runs.report.service import ReportService
from loadwatch_backend.runs.service import RunServices, open_runs
from loadwatch_backend.series.backups.service import Backups
from loadwatch_backend.series.exports.service import Exports
from loadwatch_backend.series.foundation import Foundation, open_foundation
from loadwatch_backend.series.ingest.decode import IngestLimits
from loadwatch_backend.series.ingest.otlp.names import Strategy
from loadwatch_backend.series.ingest.otlp.service import OtlpService
from loadwatch_backend.series.ingest.otlp.translate import OtlpRules
from loadwatch_backend.series.ingest.service import IngestService
from loadwatch_backend.series.promql.admission import Queries
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.http.endpoints import ServerFacts
from loadwatch_backend.series.storage.service import Storage
from loadwatch_backend.series.store.port import SampleStore
from loadwatch_backend.series.targets.service import TargetService


def prometheus_facts(ground: Foundation) -> ServerFacts:
    """Settings by the names of Prometheus' flags and keys; nothing that is secret."""
    settings = ground.settings
    interval = format_duration(round(settings.rules_interval_seconds * 1_000))
    document: dict[str, Any] = {
        "global": {"evaluation_interval": interval, "external_labels": {}},
        "rule_files": list(settings.rules),
    }
    return ServerFacts(
        clock=ground.clock,
        started_ms=ground.clock(),
        retention=format_duration(settings.retention_ms),
        flags=_flags(ground),
        configuration=yaml.safe_dump(document, sort_keys=False),
        statistics=ground.store.statistics,
    )


def _flags(ground: Foundation) -> dict[str, str]:
    settings, engine = ground.settings, ground.engine.settings
    return {
        "alertmanager.notification-queue-capacity": "0",
        "query.lookback-delta": format_duration(engine.lookback_ms),
        "query.max-concurrency": str(ground.queries.api.settings.at_once),
        "query.max-samples": str(engine.max_samples),
        "query.timeout": format_duration(round(engine.timeout_seconds * 1_000)),
        "storage.tsdb.retention.size": "0B",
        "storage.tsdb.retention.time": format_duration(settings.retention_ms),
        "web.enable-admin-api": "false",
        "web.enable-lifecycle": "false",
        "web.enable-otlp-receiver": "true",
        "web.enable-remote-write-receiver": "true",
        "web.external-url": f"{ground.external_url}/prometheus",
        "web.listen-address": f"{settings.listen.host}:{settings.listen.port}",
        "web.route-prefix": "/prometheus",
    }


PROFILE = "profile"
"""The label, or the annotation, by which a rule asks for profiles."""
OTLP_SCOPE = "otel.scope"
HEARTBEAT_SLACK_MS = 60_000
"""How late rules may be before the heartbeat is withheld."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """One of each type: endpoints find theirs by it (`core.services`)."""

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
    pinned_panels: PinnedPanels
    findings: Findings
    opinions: Opinions
    run_tables: RunTables
    pool_advisor: PoolAdvisor
    targets: TargetService
    timeouts: TimeoutService
    evidence_files: EvidenceFiles
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
    runbooks: Runbooks
    alertmanager: AlertmanagerApi
    changes: ChangeWatcher
    heartbeat: Heartbeat | None
    connect: ConnectService
    backups: Backups
    prometheus_facts: ServerFacts
    setup_secret: str | None
    """The secret of the first administrator's link, while there is no administrator."""

    def end_streams(self) -> None:
        """End open streams and queries, so that the server can stop; on the event loop's thread."""
        self.live.close()
        self.queries.stop()


def open_services(
    settings: Settings,
    clock: Clock,
    monotonic: Callable[[], float],
    metrics: ServerMetrics,
    stack: ExitStack,
    setup_secret: str | None,
    agent_control: AgentControl | None,
) -> Services:
    """Open everything that needs the data directory; `stack` closes it again in the opposite order.

    The process that started the server may have left it `setup_secret` and `agent_control`.
    """
    ground = open_foundation(settings, clock, monotonic, stack)
    if agent_control is not None:
        stack.callback(agent_control.close)
    store, relational, engine, live = ground.store, ground.relational, ground.engine, LiveHub()
    live.open()
    annotations = AnnotationService(relational, clock)
    library = Library(settings.packs or [settings.data / "packs"])
    rules = RuleFiles(
        settings.rules,
        clock,
        library=library,
        built_in=settings.default_rules,
        interval_ms=round(settings.rules_interval_seconds * 1_000),
    )
    stack.callback(rules.close)
    explained = explained_by(lambda: rules.current().explained)
    signals = SignalService(engine, clock, library)
    evidence_files = EvidenceFiles(relational, settings.data, find_run, clock)
    evidence_files.mend()
    access_logs = KeptDigests(files=evidence_files, kind=EvidenceKind.ACCESS_LOG)
    costs = Costs(store, clock, access_logs)
    findings = Findings(
        store,
        clock,
        began=lambda: latest_began_ms(relational, clock),
        latest=lambda: runs.analyses.latest(),
        costs=costs,
        files=evidence_files,
        library=library,
    )
    opinions = Opinions(relational, clock)
    findings_watch = FindingsWatch(
        lambda: opinions.judged_now(findings.live()),
        store,
        clock,
        writes=settings.own_metrics_seconds > 0,
        rules_by_finding=lambda: rules_by_finding(rules.current().explained),
    )
    ingest = IngestService(store, _ingest_limits(settings), clock, ground.steady)
    runs = open_runs(ground, library, findings, opinions, evidence_files, annotations, ingest)
    evidence_files.tell(functools.partial(_find_anew, runs.analyses))
    access = open_access(settings, relational, clock)
    leadership = Leadership(relational, "alerts", load_holder(settings.data))
    stack.callback(leadership.stop)
    notices = RunNotices(NewsDesk(relational, runs.registry, clock), ground.external_url)
    notifications = open_notifications(ground, leadership, notices, explained, findings_watch.lately)
    targets = TargetService(store, clock, relational)
    runbooks = Runbooks(library.folders)
    alerts = open_alerts(
        ground,
        rules,
        explained,
        runbooks,
        leadership,
        notifications,
        findings_watch.current,
        targets,
        library,
        news=lambda: live.publish_alerts(clock()),
    )
    changes = open_changes(ground, leadership, annotations, library)
    leadership.start()
    route_tables = RouteTables(store=store, logs=access_logs)
    profiles = Profiles(evidence_files, runs.registry, route_tables)
    run_tables = RunTables(
        runs=runs.registry,
        routes=route_tables,
        statements=StatementTables(
            store=store, routes=route_tables, digests=KeptDigests(files=evidence_files, kind=EvidenceKind.SLOW_LOG)
        ),
        costs=RunCosts(costs, profiles, store),
        log_lines=LogPatternService(store),
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
        pinned_panels=PinnedPanels(library),
        findings=findings,
        opinions=opinions,
        run_tables=run_tables,
        pool_advisor=PoolAdvisor(store, clock, functools.partial(_run_span, runs)),
        targets=targets,
        timeouts=TimeoutService(store, clock),
        evidence_files=evidence_files,
        profiles=profiles,
        profile_orders=_open_profile_orders(ground, leadership, alerts.evaluator, evidence_files),
        runs=runs,
        compare=compare,
        forecasts=ForecastService(runs.registry, store, engine, relational, clock, library),
        reports=ReportService(runs, run_tables, evidence_files, annotations, compare, signals, clock),
        access=access,
        leadership=leadership,
        notifications=notifications,
        alerts=alerts,
        runbooks=runbooks,
        alertmanager=AlertmanagerApi(
            relational=relational,
            dispatch=notifications.dispatcher,
            configuration=notifications.configuration,
            silences=notifications.silences,
            external_url=ground.external_url,
            clock=clock,
        ),
        changes=changes,
        heartbeat=_open_heartbeat(ground, leadership, notifications, alerts),
        connect=ConnectService(agent_control, clock),
        backups=Backups(relational=relational, store=store, data=settings.data, clock=clock),
        prometheus_facts=prometheus_facts(ground),
        setup_secret=begin_setup(relational, clock, setup_secret) if access.gate.access is Access.USERS else None,
    )
    metrics.show(
        own_numbers(
            ingest=ingest,
            store=store,
            queries=ground.queries,
            live=live,
            runs=runs,
            alerts=alerts,
            leadership=leadership,
            notifications=notifications,
            heartbeat=services.heartbeat,
            access=access,
        )
    )
    if settings.own_metrics_seconds:
        # The server's own metrics in its own store.
        instance = f"{settings.listen.host}:{settings.listen.port}"
        write = functools.partial(write_own_metrics, metrics.registry.collect, store, clock, instance)
        stack.enter_context(Periodic("self-watch", write, settings.own_metrics_seconds))
    stack.enter_context(Periodic("findings-watch", findings_watch.tick, LOOK_SECONDS))
    runs.catch_up.start(DUE_SECONDS)
    store.keep_pinned(runs.pins)
    stack.callback(store.on_commit(live.publish))
    return services


def _run_span(runs: RunServices, run_id: str) -> Span:
    run = runs.registry.window(run_id)
    return Span(from_ms=run.from_ms, to_ms=run.to_ms)


def _find_anew(analyses: Analyses, file: EvidenceFile) -> None:
    """Refresh a run's findings once its access log is imported, for only then its requests are known."""
    if file.kind is EvidenceKind.ACCESS_LOG:
        with suppress(RunNotFoundError):
            analyses.refresh(file.run, anew=True)


def _open_profile_orders(
    ground: Foundation, leadership: Leadership, evaluator: Evaluator, files: EvidenceFiles
) -> ProfileOrders:
    def runs() -> Sequence[RunNow]:
        return [
            RunNow(id=run.id, started_ms=run.started_ms, planned_seconds=run.planned_seconds)
            for run in runs_under_way(ground.relational, ground.clock)
        ]

    def processes() -> Sequence[Process]:
        return read_processes(ground.store, ground.clock())

    orders = ProfileOrders(ground.relational, files, runs, processes, ground.clock)
    watch = ProfileWatch(
        ground.relational,
        orders,
        runs,
        processes,
        lambda: _alerts_with_profiles(evaluator),
        leadership.check,
        lambda: leadership.held,
        ground.clock,
    )
    loop = Periodic("profile-orders", watch.tick, PAUSE_SECONDS, retry_seconds=RETRY_SECONDS)
    ground.stack.callback(loop.close)
    loop.start(PAUSE_SECONDS)
    return orders


def _alerts_with_profiles(evaluator: Evaluator) -> Sequence[FiringAlert]:
    found: list[FiringAlert] = []
    for one in evaluator.live().values():
        alert = one.alert
        kinds = kinds_asked(alert.labels.get(PROFILE) or alert.annotations.get(PROFILE, ""))
        if kinds and alert.state is AlertState.FIRING:
            found.append(
                FiringAlert(
                    id=alert.id,
                    rule=alert.labels.get("alertname", ""),
                    kinds=kinds,
                    job=alert.labels.get("job", ""),
                    instance=alert.labels.get("instance", ""),
                )
            )
    return found


def _open_heartbeat(
    ground: Foundation, leadership: Leadership, notifications: NotificationServices, alerts: AlertServices
) -> Heartbeat | None:
    settings = ground.settings
    if settings.heartbeat_url is None:
        return None

    def is_well() -> bool:
        with ground.relational.transaction() as session:
            leadership.check(session)
        return alerts.evaluator.is_current(ground.clock(), HEARTBEAT_SLACK_MS)

    heartbeat = Heartbeat(
        url=settings.heartbeat_url,
        seconds=settings.heartbeat_seconds,
        context=notifications.context,
        is_well=is_well,
        external_url=ground.external_url,
    )
    beats = Periodic("notify-heartbeat", heartbeat.tick, settings.heartbeat_seconds)
    ground.stack.callback(beats.close, TIMEOUT_MS / 1_000)
    beats.start()
    return heartbeat


def _otlp_rules(settings: Settings) -> OtlpRules:
    promote = frozenset(name.strip() for name in settings.otlp_promote.split(",") if name.strip())
    return OtlpRules(
        strategy=Strategy(settings.otlp_translation), promote=promote - {OTLP_SCOPE}, scope=OTLP_SCOPE in promote
    )


def _ingest_limits(settings: Settings) -> IngestLimits:
    most = settings.store_series_limit
    return IngestLimits(
        new_series=most // 10,
        sender_series=most * 2 // 5,
        sender_new_series=most * 2 // 5,
        retention_ms=settings.retention_ms,
    )
