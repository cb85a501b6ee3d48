"""Puts rules, evaluator, journal and service together."""

from collections.abc import Callable
from dataclasses import dataclass

from loadwatch_backend.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerts.evaluation.explain import explainer
from loadwatch_backend.alerts.evaluation.machine import Machine, MachineSettings
from loadwatch_backend.alerts.evaluation.recorder import Recorder
from loadwatch_backend.alerts.evaluation.vanished import vanished_renderer
from loadwatch_backend.alerts.history.journal import Journal
from loadwatch_backend.alerts.ports import Dispatch, RuleSource, RunSource, SentSource
from loadwatch_backend.alerts.prometheus.service import PrometheusRules
from loadwatch_backend.alerts.rule_list import RuleLister
from loadwatch_backend.alerts.service import AlertService
from loadwatch_backend.alerts.sparklines import ValueHistory
from loadwatch_backend.findings.standing import Moment
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.promql.engine import Engine
from loadwatch_backend.promql.labels import METRIC_NAME
from loadwatch_backend.rules.evaluate import RuleEvaluator
from loadwatch_backend.store.leadership import Leadership
from loadwatch_backend.store.port import Writer
from loadwatch_backend.store.relational import Relational


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertParts:
    """What alerts are made of. `told` and `news` as in `AlertService`; `standing` are the findings of the present."""

    engine: Engine
    """For rules."""
    writer: Writer
    """For what they make."""
    history: Engine
    """For what pages show of them."""
    relational: Relational
    leadership: Leadership
    dispatch: Dispatch
    rules: RuleSource
    runs: RunSource
    targets_sent: SentSource
    settings: MachineSettings
    external_url: str
    history_ms: int
    clock: Clock
    monotonic: Callable[[], float]
    told: Callable[[], None]
    news: Callable[[], None]
    standing: Callable[[], Moment | None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertServices:
    """What the endpoints, /metrics and the application use."""

    alerts: AlertService
    prometheus: PrometheusRules
    evaluator: Evaluator


def build_alerts(parts: AlertParts) -> AlertServices:
    """Nothing is evaluated before the evaluator is started and this server leads."""
    rule_evaluator = RuleEvaluator(parts.engine, parts.external_url)
    machine = Machine(
        settings=parts.settings, vanished=vanished_renderer(parts.external_url), explain=explainer(parts.standing)
    )
    evaluator = Evaluator(
        rules=parts.rules,
        rounds=rule_evaluator.round,
        journal=Journal(
            parts.relational,
            parts.leadership,
            parts.dispatch,
            parts.external_url,
            history_ms=parts.history_ms,
            told=parts.told,
        ),
        recorder=Recorder(parts.writer),
        lead=parts.leadership,
        machine=machine,
        clock=parts.clock,
        runs=parts.runs,
        targets_sent=parts.targets_sent,
        metrics=lambda: parts.engine.store.label_values(METRIC_NAME, [], 0, parts.clock()),
        news=parts.news,
        clock_monotonic=parts.monotonic,
    )
    service = AlertService(
        relational=parts.relational,
        evaluator=evaluator,
        lister=RuleLister(parts.rules, evaluator, parts.relational),
        dispatch=parts.dispatch,
        values=ValueHistory(parts.history),
        settings=parts.settings,
        external_url=parts.external_url,
        clock=parts.clock,
        standing=parts.standing,
        told=parts.told,
        news=parts.news,
    )
    return AlertServices(
        alerts=service, prometheus=PrometheusRules(parts.rules, evaluator, parts.relational), evaluator=evaluator
    )
