"""Puts rules, evaluator, journal and service together."""

from collections.abc import Callable
from dataclasses import dataclass

from loadwatch_backend.alerting.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerting.alerts.evaluation.explain import explainer
from loadwatch_backend.alerting.alerts.evaluation.machine import Machine, MachineSettings
from loadwatch_backend.alerting.alerts.evaluation.one_alert import one_alert_of
from loadwatch_backend.alerting.alerts.evaluation.recorder import Recorder
from loadwatch_backend.alerting.alerts.evaluation.vanished import vanished_renderer
from loadwatch_backend.alerting.alerts.history.journal import Journal
from loadwatch_backend.alerting.alerts.prometheus.service import PrometheusRules
from loadwatch_backend.alerting.alerts.service import AlertService, RuleLister, ValueHistory
from loadwatch_backend.alerting.notify.assembly import NotificationServices
from loadwatch_backend.alerting.notify.causes import Explain
from loadwatch_backend.alerting.rules.evaluate import RuleEvaluator
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.findings.snapshot import FindingsSnapshot
from loadwatch_backend.runs.registry.under_way import read_runs
from loadwatch_backend.series.foundation import Foundation
from loadwatch_backend.series.promql.labels import METRIC_NAME
from loadwatch_backend.series.targets.service import TargetService


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertServices:
    """What the endpoints, /metrics and the application use."""

    alerts: AlertService
    rules: RuleLister
    prometheus: PrometheusRules
    evaluator: Evaluator


def open_alerts(
    ground: Foundation,
    rules: RuleFiles,
    explained: Explain,
    runbooks: Runbooks,
    leadership: Leadership,
    notifications: NotificationServices,
    findings_now: Callable[[], FindingsSnapshot | None],
    targets: TargetService,
    library: Library,
    news: Callable[[], None],
) -> AlertServices:
    """Rules are evaluated while this server leads; `findings_now` and `news` as in `AlertService`."""
    stack, relational, clock = ground.stack, ground.relational, ground.clock
    engine, external_url = ground.rules_engine, ground.external_url
    dispatch, wake_notifier = notifications.dispatcher, notifications.notifier.wake
    machine_settings = MachineSettings(flap_changes=ground.settings.flap_changes)
    evaluator = Evaluator(
        rules=rules,
        rounds=RuleEvaluator(engine, external_url).round,
        journal=Journal(
            relational,
            leadership,
            dispatch,
            external_url,
            history_ms=max(ground.settings.retention_ms, ground.settings.rollup_retention_ms),
            wake_notifier=wake_notifier,
        ),
        recorder=Recorder(ground.store),
        lead=leadership,
        machine=Machine(
            settings=machine_settings,
            vanished=vanished_renderer(external_url),
            explain=explainer(explained, findings_now),
            merge=one_alert_of(engine.store, clock, library),
        ),
        clock=clock,
        runs=lambda ids: read_runs(relational, clock, ids),
        targets_sent=targets.last_sent,
        metrics=lambda: engine.store.label_values(METRIC_NAME, [], 0, clock()),
        news=news,
        clock_monotonic=ground.monotonic,
    )
    service = AlertService(
        relational=relational,
        evaluator=evaluator,
        dispatch=dispatch,
        values=ValueHistory(ground.engine),
        runbooks=runbooks,
        explained=explained,
        settings=machine_settings,
        external_url=external_url,
        clock=clock,
        findings_now=findings_now,
        wake_notifier=wake_notifier,
        news=news,
    )
    stack.callback(evaluator.stop)
    stack.callback(leadership.subscribe(lambda _held: evaluator.wake()))
    stack.callback(ground.store.on_touch(evaluator.touched))
    evaluator.start()
    return AlertServices(
        alerts=service,
        rules=RuleLister(rules, evaluator, relational),
        prometheus=PrometheusRules(rules, evaluator, relational),
        evaluator=evaluator,
    )
