"""The application: settings in, a running server out."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from loadwatch_backend.access.audit.middleware import AuditMiddleware
from loadwatch_backend.access.credentials import CookieKind, cookie_name
from loadwatch_backend.access.modes import access_of
from loadwatch_backend.access.principal import Access
from loadwatch_backend.access.sign_in.setup import begin_setup
from loadwatch_backend.access.wiring import build_access
from loadwatch_backend.alerts.alertmanager.service import AlertmanagerApi
from loadwatch_backend.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerts.evaluation.machine import MachineSettings
from loadwatch_backend.alerts.ports import RunUnderWay
from loadwatch_backend.alerts.wiring import AlertParts, build_alerts
from loadwatch_backend.annotations.schemas import AnnotationIn
from loadwatch_backend.annotations.service import AnnotationService
from loadwatch_backend.app.api import build_router
from loadwatch_backend.changes.watcher import ChangeWatcher
from loadwatch_backend.changes.words import AUTHOR
from loadwatch_backend.changes.words import Note as ChangeNote
from loadwatch_backend.compare.service import CompareService
from loadwatch_backend.importers.reader import ProcessReader
from loadwatch_backend.ingest.limits import IngestLimits
from loadwatch_backend.ingest.service import IngestService
from loadwatch_backend.kit.addresses import parse_cidrs
from loadwatch_backend.kit.clock import Clock, system_clock
from loadwatch_backend.kit.data_directory import open_data_directory
from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.kit.middleware import (
    REFUSAL,
    BodyLimitMiddleware,
    ClientMiddleware,
    GuardMiddleware,
    HeadMiddleware,
    MistakeMiddleware,
    ObserveMiddleware,
    Observer,
    SecurityHeadersMiddleware,
)
from loadwatch_backend.kit.problems import (
    PROMETHEUS_WRITE,
    error_document,
    problem_of_status,
    problem_of_validation,
)
from loadwatch_backend.kit.schemas import Problem
from loadwatch_backend.kit.settings import DAY_MS, Settings, SettingsError
from loadwatch_backend.kit.ui import UI_DIRECTORY, UserInterface
from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.live.hub import LiveHub
from loadwatch_backend.notify.assembly import NotificationParts, NotificationServices, build_notifications
from loadwatch_backend.notify.file.configuration import ConfigurationFile
from loadwatch_backend.notify.heartbeat import Heartbeat
from loadwatch_backend.notify.senders.networks import NetworkPolicy, NetworksError, parse_allowed
from loadwatch_backend.notify.senders.sockets import Dialer
from loadwatch_backend.observe.metrics import (
    ServerMetrics,
    access_numbers,
    ahead_numbers,
    alert_numbers,
    delivery_numbers,
    heartbeat_numbers,
    ingest_numbers,
    live_numbers,
    query_numbers,
    run_numbers,
    store_numbers,
)
from loadwatch_backend.observe.self_watch import SelfWatch
from loadwatch_backend.promql.admission.classes import Queries
from loadwatch_backend.promql.engine import Engine, EngineSettings
from loadwatch_backend.records.figures import figures_of
from loadwatch_backend.records.model import Seconds
from loadwatch_backend.report.notices import RunNotices
from loadwatch_backend.report.service import ReportService
from loadwatch_backend.report.source import Note
from loadwatch_backend.rules.files import RuleFiles
from loadwatch_backend.runs.analysis.analyst import Analyst
from loadwatch_backend.runs.imports.places import Places
from loadwatch_backend.runs.registry.deletion import PinnedWindows
from loadwatch_backend.runs.registry.news import NewsDesk
from loadwatch_backend.runs.registry.under_way import run_under_way
from loadwatch_backend.runs.reviews.schemas import ReviewOut
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.runs.service import RunParts, RunServices, build_run_services
from loadwatch_backend.runs.snapshots.schemas import ConfigurationDifference
from loadwatch_backend.runs.snapshots.take import Snapshotter
from loadwatch_backend.signals.service import build_signal_service
from loadwatch_backend.store.embedded.engine import open_embedded
from loadwatch_backend.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.store.leadership import Leadership, load_holder
from loadwatch_backend.store.outages import problem_of
from loadwatch_backend.store.relational import Relational, default_url, open_relational
from loadwatch_backend.targets.service import TargetService
from loadwatch_backend.timeouts.service import TimeoutService

DESCRIPTION = """Samples in by Prometheus remote write, questions in PromQL or by named signals, notes on the time line.

Times are milliseconds since the epoch. Errors are RFC 9457 problem details with a stable `code`; below
`/prometheus/api/v1` they have the shape of Prometheus' HTTP API."""

OWN_BODY_LIMITS = frozenset({PROMETHEUS_WRITE, "/api/imports", "/api/archives"})

HEARTBEAT_SLACK_MS = 60_000
"""Patience with rules that are late, before the sign of life is withheld."""
GZIP_LEAST_BYTES = 4_096
GZIP_LEVEL = 1
"""The answer of a page's query is compressed each second: level 1 takes a third of level 6's time."""


def create_app(
    settings: Settings, clock: Clock = system_clock, monotonic: Callable[[], float] = time.monotonic
) -> FastAPI:
    """The application. Nothing is opened before its lifespan starts. `monotonic` tells when `clock` was set."""
    metrics = ServerMetrics(
        [
            *ingest_numbers(lambda: app.state.ingest.counts),
            *ahead_numbers(lambda: app.state.ingest),
            *store_numbers(lambda: app.state.store),
            *query_numbers(lambda: app.state.queries),
            *live_numbers(lambda: app.state.live),
            *run_numbers(lambda: app.state.runs),
            *alert_numbers(lambda: app.state.evaluator, lambda: app.state.leadership),
            *delivery_numbers(lambda: app.state.notifier, lambda: app.state.deliveries),
            *heartbeat_numbers(lambda: app.state.heartbeat),
            *access_numbers(lambda: app.state.access, lambda: app.state.audit),
        ]
    )
    app = FastAPI(
        title="Loadwatch",
        version=VERSION,
        description=DESCRIPTION,
        lifespan=_lifespan(settings, clock, monotonic),
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        generate_unique_id_function=_operation_id,
        redirect_slashes=False,
        middleware=_middleware(settings, metrics.observe),
    )
    app.state.clock = clock
    app.state.ready = False
    app.state.setup_secret = None
    app.state.heartbeat = None
    app.state.live = LiveHub()
    app.state.metrics = metrics
    app.include_router(build_router())
    app.add_exception_handler(ProblemError, _answer_problem)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    # Not a mount: that would answer 404 where a route takes the path and not the method.
    app.router.default = UserInterface(UI_DIRECTORY)
    app.openapi = lambda: _openapi(app)
    return app


# Start and stop -------------------------------------------------------------------------------------------------------


def _lifespan(
    settings: Settings, clock: Clock, monotonic: Callable[[], float]
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        with ExitStack() as stack:
            _open(app, settings, clock, monotonic, stack)
            app.state.live.open()
            app.state.ready = True
            try:
                yield
            finally:
                app.state.ready = False
                app.state.live.close()
                app.state.queries.stop()

    return lifespan


def _open(app: FastAPI, settings: Settings, clock: Clock, monotonic: Callable[[], float], stack: ExitStack) -> None:
    """Open everything that needs the data directory; `stack` closes it again in the opposite order."""
    open_data_directory(settings.data)
    store = open_embedded(_store_settings(settings), clock)
    stack.callback(store.close)
    relational = open_relational(settings.relational_url or default_url(settings.data))
    stack.callback(relational.close)
    queries = Queries(
        memory_bytes=settings.query_memory_bytes,
        at_once=settings.query_at_once,
        wait_seconds=settings.query_wait_seconds,
    )
    engine_settings = EngineSettings(
        max_samples=settings.query_samples,
        max_series=settings.query_series,
        max_label_length=settings.ingest_label_value_bytes,
        timeout_seconds=settings.query_timeout_seconds,
        answer_bytes=settings.query_answer_bytes,
    )
    engine = Engine(store, engine_settings, memory=queries.server)
    app.state.queries = queries
    app.state.store = store
    app.state.relational = relational
    app.state.engine = engine
    app.state.ingest = IngestService(store, _ingest_limits(settings), clock)
    app.state.annotations = AnnotationService(relational, clock)
    app.state.signals = build_signal_service(engine, clock)
    app.state.targets = TargetService(store, clock)
    app.state.timeouts = TimeoutService(store, clock)
    pins = PinnedWindows(relational, clock)
    app.state.runs = _open_runs(settings, clock, engine, relational, pins, stack)
    app.state.compare = CompareService(app.state.runs.registry, app.state.signals)
    source = ReportParts(runs=app.state.runs, annotations=app.state.annotations)
    app.state.reports = ReportService(source, app.state.signals, clock)
    _open_users(app, settings, clock, relational)
    leadership = _open_leadership(settings, relational, stack)
    notifications = _open_notifications(app, settings, clock, relational, leadership, stack)
    rules_engine = Engine(store, engine_settings, memory=queries.rules)
    _open_alerts(app, settings, clock, monotonic, rules_engine, leadership, notifications, stack)
    _open_changes(app, clock, leadership, stack)
    leadership.start()
    _open_watches(app, settings, clock, leadership, notifications, stack)
    store.keep_pinned(pins)
    stack.callback(store.on_commit(app.state.live.publish))


def _open_users(app: FastAPI, settings: Settings, clock: Clock, relational: Relational) -> None:
    services = build_access(settings, relational, clock)
    app.state.access = services.gate
    app.state.sign_in = services.sign_in
    app.state.users = services.users
    app.state.tokens = services.tokens
    app.state.audit = services.audit
    app.state.oidc = services.oidc
    app.state.proxy_headers = services.headers
    wanted = app.state.setup_secret
    app.state.setup_secret = begin_setup(relational, clock, wanted) if services.gate.access is Access.USERS else None


def _open_leadership(settings: Settings, relational: Relational, stack: ExitStack) -> Leadership:
    """Who leads among servers on one database; started when all that follows the lead is there."""
    leadership = Leadership(relational, "alerts", load_holder(settings.data))
    stack.callback(leadership.stop)
    return leadership


def _open_notifications(
    app: FastAPI,
    settings: Settings,
    clock: Clock,
    relational: Relational,
    leadership: Leadership,
    stack: ExitStack,
) -> NotificationServices:
    try:
        policy = NetworkPolicy(allowed=parse_allowed(settings.notify_networks))
    except NetworksError as error:
        raise SettingsError(str(error)) from error
    external_url = _external_url(settings)
    file = ConfigurationFile(settings.notifications, clock)
    services = build_notifications(
        NotificationParts(
            relational=relational,
            file=file,
            clock=clock,
            dialer=Dialer(policy=policy),
            fence=leadership.check,
            news=RunNotices(NewsDesk(relational, app.state.runs.registry, clock), external_url),
            external_url=external_url,
        )
    )
    file.start()
    stack.callback(file.close)
    app.state.routing = services.routing
    app.state.silences = services.silences
    app.state.deliveries = services.deliveries
    app.state.notifier = services.notifier
    leadership.subscribe(services.notifier.lead)
    stack.callback(services.close)
    return services


def _open_alerts(
    app: FastAPI,
    settings: Settings,
    clock: Clock,
    monotonic: Callable[[], float],
    engine: Engine,
    leadership: Leadership,
    notifications: NotificationServices,
    stack: ExitStack,
) -> None:
    relational: Relational = app.state.relational
    rules = RuleFiles(
        settings.rules,
        clock,
        built_in=settings.default_rules,
        interval_ms=round(settings.rules_interval_seconds * 1_000),
    )
    stack.callback(rules.close)

    def runs() -> RunUnderWay | None:
        found = run_under_way(relational, clock)
        return None if found is None else RunUnderWay(id=found[0], name=found[1])

    services = build_alerts(
        AlertParts(
            engine=engine,
            history=app.state.engine,
            relational=relational,
            leadership=leadership,
            dispatch=notifications.dispatcher,
            rules=rules,
            runs=runs,
            settings=MachineSettings(
                flap_changes=settings.flap_changes,
                flap_window_ms=round(settings.flap_window_seconds * 1_000),
                flap_hold_ms=round(settings.flap_hold_seconds * 1_000),
            ),
            external_url=_external_url(settings),
            history_ms=round(settings.alert_history_days * DAY_MS),
            clock=clock,
            monotonic=monotonic,
            told=notifications.notifier.wake,
            news=lambda: app.state.live.publish_alerts(clock()),
        )
    )
    app.state.alerts = services.alerts
    app.state.prometheus_rules = services.prometheus
    app.state.alertmanager = AlertmanagerApi(
        relational=relational,
        dispatch=notifications.dispatcher,
        configuration=notifications.configuration,
        silences=notifications.silences,
        external_url=_external_url(settings),
        clock=clock,
    )
    app.state.evaluator = services.evaluator
    app.state.leadership = leadership
    stack.callback(services.evaluator.stop)
    stack.callback(leadership.subscribe(lambda _held: services.evaluator.wake()))
    stack.callback(app.state.store.on_touch(services.evaluator.touched))
    services.evaluator.start()


def _open_watches(
    app: FastAPI,
    settings: Settings,
    clock: Clock,
    leadership: Leadership,
    notifications: NotificationServices,
    stack: ExitStack,
) -> None:
    """The server's own metrics in its own store, and the sign of life that others watch it by."""
    metrics: ServerMetrics = app.state.metrics
    watch = SelfWatch(
        collect=metrics.registry.collect,
        store=app.state.store,
        clock=clock,
        instance=f"{settings.listen.host}:{settings.listen.port}",
        seconds=settings.own_metrics_seconds,
    )
    if settings.own_metrics_seconds:
        watch.start()
        stack.callback(watch.stop)
    evaluator: Evaluator = app.state.evaluator
    relational: Relational = app.state.relational

    def is_well() -> bool:
        with relational.transaction() as session:
            leadership.check(session)
        return evaluator.is_current(clock(), HEARTBEAT_SLACK_MS)

    url, file = settings.heartbeat_url, settings.heartbeat_url_file
    if url is not None and file is not None:
        raise SettingsError("LOADWATCH_HEARTBEAT_URL and LOADWATCH_HEARTBEAT_URL_FILE are both set; keep one of them.")
    if url is None and file is None:
        return
    app.state.heartbeat = Heartbeat(
        url=None if url is None else url.get_secret_value(),
        file=file,
        seconds=settings.heartbeat_seconds,
        context=notifications.context,
        is_well=is_well,
        external_url=_external_url(settings),
    )
    app.state.heartbeat.start()
    stack.callback(app.state.heartbeat.stop)


def _open_changes(app: FastAPI, clock: Clock, leadership: Leadership, stack: ExitStack) -> None:
    """Changes of what agents discover become annotations."""
    annotations: AnnotationService = app.state.annotations

    def annotate(session: Session, note: ChangeNote) -> None:
        given = AnnotationIn(author=AUTHOR, text=note.text, start_ms=note.at_ms, tags=list(note.tags))
        annotations.write(session, given)

    watcher = ChangeWatcher(
        store=app.state.store,
        relational=app.state.relational,
        fence=leadership.check,
        leads=lambda: leadership.held,
        annotate=annotate,
        clock=clock,
    )
    app.state.changes = watcher
    stack.callback(watcher.stop)
    stack.callback(leadership.subscribe(watcher.lead))
    stack.callback(app.state.store.on_touch(watcher.touched))
    watcher.start()


def _external_url(settings: Settings) -> str:
    return (settings.external_url or settings.listen.url).rstrip("/")


def _open_runs(
    settings: Settings,
    clock: Clock,
    engine: Engine,
    relational: Relational,
    pins: PinnedWindows,
    stack: ExitStack,
) -> RunServices:
    reader = ProcessReader(seconds=settings.import_seconds, unpacked_bytes=settings.import_unpacked_bytes)
    services = build_run_services(
        RunParts(
            relational=relational,
            store=engine.store,
            places=Places(settings.data),
            pins=pins,
            analyst=Analyst(engine, clock, figures_of),
            snapshots=Snapshotter(engine),
            reader=reader,
            clock=clock,
            retention_ms=settings.retention_ms,
            import_bytes=settings.import_bytes,
        )
    )
    stack.callback(services.close)
    stack.callback(reader.close)
    return services


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportParts:
    """Where reports come from: `report.source.ReportSource` over the other services."""

    runs: RunServices
    annotations: AnnotationService

    def read(self, run_id: str) -> RunOut:
        """The run."""
        return self.runs.registry.read(run_id)

    def raw_seconds(self, run_id: str) -> Seconds | None:
        """Its per-second series."""
        return self.runs.registry.raw_seconds(run_id)

    def review(self, run_id: str) -> ReviewOut:
        """Its review."""
        return self.runs.reviews.read(run_id)

    def difference(self, run_id: str, base: str) -> ConfigurationDifference:
        """Its configuration against another run's."""
        return self.runs.configuration.difference(run_id, base)

    def notes(self, start_ms: int, end_ms: int) -> Sequence[Note]:
        """Annotations in its window."""
        found = self.annotations.list(start_ms, end_ms, None)
        return [Note(start_ms=one.start_ms, author=one.author, text=one.text) for one in found]

    def shared_run(self, secret: str) -> str:
        """The run that a share link opens."""
        return self.runs.shares.open(secret)


def _store_settings(settings: Settings) -> EmbeddedSettings:
    return EmbeddedSettings(
        data_directory=settings.data,
        retention_ms=settings.retention_ms,
        head_bytes=settings.store_head_bytes,
        database_bytes=settings.store_database_bytes,
        database_threads=settings.store_database_threads,
        series_limit=settings.store_series_limit,
        query_samples=settings.store_query_samples,
        queue_samples=settings.store_queue_samples,
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
        ahead_ms=settings.ingest_ahead_seconds * 1_000,
        retention_ms=settings.retention_ms,
    )


def _middleware(settings: Settings, observer: Observer) -> list[Middleware]:
    """From the outside in."""
    proxies = parse_cidrs(settings.proxy_networks, "LOADWATCH_PROXY_NETWORKS")
    return [
        Middleware(ObserveMiddleware, observer=observer),
        Middleware(ClientMiddleware, proxies=proxies, external=settings.external_url),
        Middleware(SecurityHeadersMiddleware),
        Middleware(
            GuardMiddleware,
            loopback_only=access_of(settings) is Access.OPEN,
            allowed_hosts=settings.allowed_hosts,
            cookies=[cookie_name(CookieKind.SESSION, secure=secure) for secure in (False, True)],
        ),
        Middleware(MistakeMiddleware, known=problem_of),
        Middleware(HeadMiddleware),
        Middleware(BodyLimitMiddleware, most=settings.request_body_bytes, exempt=OWN_BODY_LIMITS),
        Middleware(GZipMiddleware, minimum_size=GZIP_LEAST_BYTES, compresslevel=GZIP_LEVEL),
        Middleware(AuditMiddleware),
    ]


# Errors ---------------------------------------------------------------------------------------------------------------


def _respond(request: Request, error: ProblemError) -> JSONResponse:
    request.scope[REFUSAL] = error.code
    headers = error.headers()
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="loadwatch"'
    document, media_type = error_document(error, request.url.path)
    return JSONResponse(document, error.status, headers, media_type=media_type)


async def _answer_problem(request: Request, error: Exception) -> JSONResponse:
    return _respond(request, cast(ProblemError, error))


async def _answer_http(request: Request, error: Exception) -> JSONResponse:
    given = cast(HTTPException, error)
    problem = problem_of_status(given.status_code, str(given.detail), request.method, request.url.path)
    response = _respond(request, problem)
    if given.headers and "allow" in {name.lower() for name in given.headers}:
        response.headers["Allow"] = dict(given.headers).get("Allow", "")
    return response


async def _answer_invalid(request: Request, error: Exception) -> JSONResponse:
    return _respond(request, problem_of_validation(cast(RequestValidationError, error).errors()))


# The document ---------------------------------------------------------------------------------------------------------


def _operation_id(route: APIRoute) -> str:
    """The handler's name; the Prometheus API has handlers that take a question by GET and by POST."""
    return (
        f"prometheus_{route.name}_{min(route.methods or {'ANY'}).lower()}" if "prometheus" in route.tags else route.name
    )


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document, with problem details among its components."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        app.openapi_schema = document
    return app.openapi_schema
