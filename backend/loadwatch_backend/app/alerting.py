"""What follows the lead: notifications, rules, changes that become annotations, and the sign of life."""

from loadwatch_backend.alerts.evaluation.machine import MachineSettings
from loadwatch_backend.alerts.wiring import AlertParts, AlertServices, build_alerts
from loadwatch_backend.annotations.schemas import AnnotationIn
from loadwatch_backend.annotations.service import AnnotationService
from loadwatch_backend.app.foundation import Foundation
from loadwatch_backend.changes.watcher import ChangeWatcher
from loadwatch_backend.changes.words import Note
from loadwatch_backend.findings.watch import FindingsWatch
from loadwatch_backend.kit.settings import DAY_MS, SettingsError
from loadwatch_backend.notify.assembly import NotificationParts, NotificationServices, build_notifications
from loadwatch_backend.notify.file.configuration import ConfigurationFile
from loadwatch_backend.notify.heartbeat import Heartbeat
from loadwatch_backend.notify.senders.networks import NetworkPolicy, NetworksError, parse_allowed
from loadwatch_backend.notify.senders.sockets import Dialer
from loadwatch_backend.report.notices import RunNotices
from loadwatch_backend.rules.files import RuleFiles
from loadwatch_backend.runs.registry.news import NewsDesk
from loadwatch_backend.runs.registry.under_way import read_runs
from loadwatch_backend.runs.service import RunServices
from loadwatch_backend.store.leadership import Leadership
from loadwatch_backend.store.relational import Session
from loadwatch_backend.targets.service import TargetService

HEARTBEAT_SLACK_MS = 60_000
"""Patience with rules that are late, before the sign of life is withheld."""


def open_notifications(
    ground: Foundation, leadership: Leadership, runs: RunServices, findings: FindingsWatch
) -> NotificationServices:
    """Sent while this server leads.

    Raises:
        SettingsError: networks that cannot be read.
    """
    settings, relational, clock = ground.settings, ground.relational, ground.clock
    try:
        policy = NetworkPolicy(allowed=parse_allowed(settings.notify_networks))
    except NetworksError as error:
        raise SettingsError(str(error)) from error
    file = ConfigurationFile(settings.notifications, clock)
    services = build_notifications(
        NotificationParts(
            relational=relational,
            file=file,
            clock=clock,
            dialer=Dialer(policy=policy),
            fence=leadership.check,
            news=RunNotices(NewsDesk(relational, runs.registry, clock), ground.external_url),
            external_url=ground.external_url,
            standing=findings.lately,
        )
    )
    file.start()
    ground.stack.callback(file.close)
    leadership.subscribe(services.notifier.lead)
    ground.stack.callback(services.close)
    return services


def open_alerts(
    ground: Foundation,
    leadership: Leadership,
    notifications: NotificationServices,
    findings: FindingsWatch,
    targets: TargetService,
) -> AlertServices:
    """Rules are evaluated while this server leads."""
    settings, stack, relational, clock = ground.settings, ground.stack, ground.relational, ground.clock
    rules = RuleFiles(
        settings.rules,
        clock,
        built_in=settings.default_rules,
        interval_ms=round(settings.rules_interval_seconds * 1_000),
    )
    stack.callback(rules.close)

    services = build_alerts(
        AlertParts(
            engine=ground.rules_engine,
            writer=ground.store,
            history=ground.engine,
            relational=relational,
            leadership=leadership,
            dispatch=notifications.dispatcher,
            rules=rules,
            runs=lambda ids: read_runs(relational, clock, ids),
            targets_sent=targets.last_sent,
            settings=MachineSettings(
                flap_changes=settings.flap_changes,
                flap_window_ms=round(settings.flap_window_seconds * 1_000),
                flap_hold_ms=round(settings.flap_hold_seconds * 1_000),
            ),
            external_url=ground.external_url,
            history_ms=round(settings.alert_history_days * DAY_MS),
            clock=clock,
            monotonic=ground.monotonic,
            told=notifications.notifier.wake,
            news=lambda: ground.live.publish_alerts(clock()),
            standing=findings.current,
        )
    )
    evaluator = services.evaluator
    stack.callback(evaluator.stop)
    stack.callback(leadership.subscribe(lambda _held: evaluator.wake()))
    stack.callback(ground.store.on_touch(evaluator.touched))
    evaluator.start()
    return services


def open_changes(ground: Foundation, leadership: Leadership, annotations: AnnotationService) -> ChangeWatcher:
    """Changes of what agents discover become annotations."""

    def annotate(session: Session, note: Note) -> None:
        given = AnnotationIn(author=note.author, text=note.text, start_ms=note.at_ms, tags=list(note.tags))
        annotations.write(session, given)

    watcher = ChangeWatcher(
        store=ground.store,
        relational=ground.relational,
        fence=leadership.check,
        leads=lambda: leadership.held,
        annotate=annotate,
        clock=ground.clock,
    )
    ground.stack.callback(watcher.stop)
    ground.stack.callback(leadership.subscribe(watcher.lead))
    ground.stack.callback(ground.store.on_touch(watcher.touched))
    watcher.start()
    return watcher


def open_heartbeat(
    ground: Foundation, leadership: Leadership, notifications: NotificationServices, alerts: AlertServices
) -> Heartbeat | None:
    """The sign of life that others watch the server by, where an address is set.

    Raises:
        SettingsError: the address is set twice.
    """
    settings = ground.settings
    url, file = settings.heartbeat_url, settings.heartbeat_url_file
    if url is not None and file is not None:
        raise SettingsError("LOADWATCH_HEARTBEAT_URL and LOADWATCH_HEARTBEAT_URL_FILE are both set; keep one of them.")
    if url is None and file is None:
        return None

    def is_well() -> bool:
        with ground.relational.transaction() as session:
            leadership.check(session)
        return alerts.evaluator.is_current(ground.clock(), HEARTBEAT_SLACK_MS)

    heartbeat = Heartbeat(
        url=None if url is None else url.get_secret_value(),
        file=file,
        seconds=settings.heartbeat_seconds,
        context=notifications.context,
        is_well=is_well,
        external_url=ground.external_url,
    )
    heartbeat.start()
    ground.stack.callback(heartbeat.stop)
    return heartbeat
