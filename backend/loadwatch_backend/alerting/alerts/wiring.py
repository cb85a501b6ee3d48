"""Puts rules, evaluator, journal and service together."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from loadwatch_backend.alerting.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerting.alerts.evaluation.explain import RuleStates, explainer
from loadwatch_backend.alerting.alerts.evaluation.machine import ALERT_NAME, Machine, MachineSettings, vanished_series
from loadwatch_backend.alerting.alerts.evaluation.recorder import Recorder
from loadwatch_backend.alerting.alerts.history.journal import Journal
from loadwatch_backend.alerting.alerts.prometheus import PrometheusRules
from loadwatch_backend.alerting.alerts.service import AlertService, RuleLister, ValueHistory
from loadwatch_backend.alerting.notify.assembly import NotificationServices
from loadwatch_backend.alerting.notify.causes import Explain
from loadwatch_backend.alerting.rules.evaluate import RuleEvaluator
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.alerting.rules.model import ActiveSeries, Rule, RuleResult
from loadwatch_backend.alerting.rules.template import TemplateContext, render
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.runbooks.rendering import Runbooks
from loadwatch_backend.catalogue.signals.interval import IntervalDetector
from loadwatch_backend.catalogue.signals.model import Sighting
from loadwatch_backend.catalogue.signals.sightings import Sightings
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.findings.snapshot import FindingsSnapshot
from loadwatch_backend.runs.registry.under_way import read_runs
from loadwatch_backend.series.foundation import Foundation
from loadwatch_backend.series.promql.labels import METRIC_NAME, label_key
from loadwatch_backend.series.store.port import Labels, Reader
from loadwatch_backend.series.targets.service import TargetService


def vanished_renderer(external_url: str) -> Callable[[Rule, Labels, int], ActiveSeries]:
    """For `Machine.vanished`. Templates see NaN for the value: there is none."""

    def series(rule: Rule, source: Labels, at_ms: int) -> ActiveSeries:
        context = TemplateContext(labels=source, value=math.nan, external_url=external_url, time_ms=at_ms)
        labels = {**source, **{name: render(text, context) for name, text in rule.labels.items()}}
        annotations = {name: render(text, context) for name, text in rule.annotations.items()}
        return vanished_series(
            rule, source, {**{name: text for name, text in labels.items() if text}, ALERT_NAME: rule.name}, annotations
        )

    return series


SEEN_MS = 60_000
"""How far back samples tell which source is the faster one."""


def one_alert_of(
    store: Reader, clock: Clock, library: Library
) -> Callable[[Rule, RuleStates, RuleResult, int], RuleResult]:
    """For `Machine.merge`: the source that counts says whether the condition holds, and an open alert stays itself."""
    intervals = IntervalDetector(store, clock)

    def merge(rule: Rule, before: RuleStates, result: RuleResult, at_ms: int) -> RuleResult:
        resource = library.current().by_alert.get(rule.name)
        if resource is None or result.present is None or not (result.active or before.alerts):
            return result
        active = {label_key(one.source): one for one in result.active}
        present = active.keys() | set(result.present)
        keys = dict.fromkeys((*before.alerts, *sorted(present)))
        things = Sightings(store, intervals, at_ms - SEEN_MS, at_ms).by_thing(
            [Sighting(resource=resource, labels=dict(key)) for key in keys] if len(keys) > 1 else []
        )
        for thing in things:
            sources = [label_key(one.labels) for one in thing]
            counting = next((key for key in sources if key in present), None)
            if len(sources) < 2 or counting is None:
                continue
            own = next((key for key in sources if key in before.alerts), counting)
            holds = active.get(counting)
            active = {key: one for key, one in active.items() if key not in sources}
            present |= {own}
            if holds is not None:
                active[own] = replace(holds, source=dict(own))
        return RuleResult(active=list(active.values()), present=present)

    return merge


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertServices:
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
