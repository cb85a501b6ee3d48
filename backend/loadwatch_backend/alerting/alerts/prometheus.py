"""Rules and alerts in the shape of Prometheus' HTTP API (web/api/v1/api.go), which Grafana reads."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from loadwatch_formats.times import NEVER, format_rfc3339

from loadwatch_backend.alerting.alerts.evaluation.evaluation import GroupRun, RuleStatus
from loadwatch_backend.alerting.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerting.alerts.history import repository
from loadwatch_backend.alerting.alerts.history.episodes import sent_annotations
from loadwatch_backend.alerting.alerts.history.tables import EpisodeRow
from loadwatch_backend.alerting.alerts.schemas import AlertState
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup, RuleKind
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import BadRequestError

TYPES = {"": frozenset(RuleKind), "alert": {RuleKind.ALERTING}, "record": {RuleKind.RECORDING}}


class RuleTypeError(BadRequestError, code="rule-type"):
    """A kind of rule that does not exist."""


class PrometheusRules:
    """Documents of Prometheus' rules API, as they stand below `data`."""

    def __init__(self, rules: RuleFiles, evaluator: Evaluator, relational: Relational) -> None:
        self._rules = rules
        self._evaluator = evaluator
        self._relational = relational

    def rules(
        self, type: str, names: Sequence[str], groups: Sequence[str], files: Sequence[str], *, exclude_alerts: bool
    ) -> dict[str, Any]:
        """Groups with their rules and, unless excluded, their alerts; empty sequences filter nothing.

        Raises:
            RuleTypeError: neither `alert` nor `record`.
        """
        kinds = TYPES.get(type)
        if kinds is None:
            raise RuleTypeError(f'invalid parameter "type": not supported value "{type}"')
        alerts = self._open()
        found: list[dict[str, Any]] = []
        for group in self._rules.current().groups:
            rules = [rule for rule in group.rules if rule.kind in kinds and (not names or rule.name in names)]
            wanted = (not groups or group.name in groups) and (not files or group.file in files)
            if rules and wanted:
                run = self._evaluator.group_run(group)
                found.append(_group(group, rules, run, alerts, exclude_alerts=exclude_alerts))
        return {"groups": found}

    def alerts(self) -> dict[str, Any]:
        return {"alerts": [_alert(row) for rows in self._open().values() for row in rows]}

    def _open(self) -> Mapping[str, Sequence[EpisodeRow]]:
        with self._relational.transaction() as session:
            rows = repository.find_open(session)
        found: dict[str, list[EpisodeRow]] = {}
        for row in rows:
            found.setdefault(row.rule_id, []).append(row)
        return found


def _group(
    group: RuleGroup,
    rules: Sequence[Rule],
    run: GroupRun,
    alerts: Mapping[str, Sequence[EpisodeRow]],
    *,
    exclude_alerts: bool,
) -> dict[str, Any]:
    return {
        "name": group.name,
        "file": group.file,
        "rules": [
            _rule(rule, run.status.get(rule.id, RuleStatus()), alerts.get(rule.id, ()), exclude_alerts=exclude_alerts)
            for rule in rules
        ],
        "interval": group.interval_ms / 1_000,
        "limit": group.limit,
        "evaluationTime": run.seconds or 0,
        "lastEvaluation": _time(run.evaluated_ms),
    }


def _rule(rule: Rule, status: RuleStatus, alerts: Sequence[EpisodeRow], *, exclude_alerts: bool) -> dict[str, Any]:
    error = {"lastError": status.error} if status.error else {}
    common: dict[str, Any] = {
        "name": rule.name,
        "query": rule.expression,
        "labels": dict(rule.labels),
        "health": "err" if status.error else str(status.health),
        **error,
        "evaluationTime": status.seconds or 0,
        "lastEvaluation": _time(status.evaluated_ms),
    }
    if rule.kind is RuleKind.RECORDING:
        return {**common, "type": "recording"}
    states = {row.state for row in alerts}
    return {
        **common,
        "type": "alerting",
        "state": next((str(state) for state in (AlertState.FIRING, AlertState.PENDING) if state in states), "inactive"),
        "duration": rule.for_ms / 1_000,
        "keepFiringFor": rule.keep_firing_for_ms / 1_000,
        "annotations": sent_annotations(rule.annotations),
        "alerts": [] if exclude_alerts else [_alert(row) for row in alerts],
    }


def _alert(row: EpisodeRow) -> dict[str, Any]:
    value = math.nan if row.value is None else row.value
    return {
        "labels": orjson.loads(row.labels),
        "annotations": sent_annotations(orjson.loads(row.annotations)),
        "state": row.state,
        "activeAt": _time(row.active_ms),
        # As Go's 'e' format writes it: the fewest digits that tell the number apart.
        "value": "NaN" if math.isnan(value) else np.format_float_scientific(value, trim="-", exp_digits=2),
    }


def _time(time_ms: int | None) -> str:
    return NEVER if time_ms is None else format_rfc3339(time_ms)
