"""Rules with how they do."""

from collections.abc import Mapping

from loadwatch_backend.alerting.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerting.alerts.evaluation.group_run import GroupRun, RuleStatus
from loadwatch_backend.alerting.alerts.history import repository
from loadwatch_backend.alerting.alerts.ports import RuleSource
from loadwatch_backend.alerting.alerts.schemas import (
    AlertState,
    RuleFileOut,
    RuleGroupOut,
    RuleList,
    RuleOut,
    RuleState,
)
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup, RuleSet
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.language import Language, in_language, translations_of

Counts = Mapping[str, tuple[int, int]]
UNKNOWN = RuleStatus()


class RuleLister:
    """Lists rules. Health and durations are known to the server that evaluates; states to every server."""

    def __init__(self, rules: RuleSource, evaluator: Evaluator, relational: Relational) -> None:
        self._rules = rules
        self._evaluator = evaluator
        self._relational = relational

    def rules(self) -> RuleList:
        """All rules in force."""
        return self._list(self._rules.current())

    def reload(self) -> RuleList:
        """Read rule files again; their alerts follow within a second."""
        rules = self._rules.reload()
        self._evaluator.wake()
        return self._list(rules)

    def _list(self, rules: RuleSet) -> RuleList:
        with self._relational.transaction() as session:
            counts = repository.count_open(session)
        return RuleList(
            files=[
                RuleFileOut(
                    path=file.path,
                    built_in=file.built_in,
                    state=file.state,
                    error=file.error,
                    line=file.line,
                    loaded_ms=file.loaded_ms,
                    rules=sum(len(group.rules) for group in file.groups),
                )
                for file in rules.files
            ],
            groups=[
                _group_out(group, self._evaluator.group_run(group.file, group.name), counts) for group in rules.groups
            ],
        )


def _group_out(group: RuleGroup, run: GroupRun | None, counts: Mapping[str, Counts]) -> RuleGroupOut:
    return RuleGroupOut(
        name=group.name,
        file=group.file,
        interval_seconds=group.interval_ms / 1_000,
        evaluated_ms=None if run is None else run.evaluated_ms,
        evaluation_seconds=None if run is None else run.seconds,
        missed=0 if run is None else run.missed,
        rules=[
            _rule_out(rule, UNKNOWN if run is None else run.status.get(rule.id, UNKNOWN), counts.get(rule.id, {}))
            for rule in group.rules
        ],
    )


def _rule_out(rule: Rule, status: RuleStatus, counts: Counts) -> RuleOut:
    firing, firing_without = counts.get(str(AlertState.FIRING), (0, 0))
    pending, pending_without = counts.get(str(AlertState.PENDING), (0, 0))
    return RuleOut(
        id=rule.id,
        kind=rule.kind,
        name=rule.name,
        expression=rule.expression,
        line=rule.line,
        for_seconds=rule.for_ms / 1_000,
        keep_firing_for_seconds=rule.keep_firing_for_ms / 1_000,
        no_data=rule.no_data,
        labels=dict(rule.labels),
        annotations=in_language(rule.annotations, Language.EN),
        translations=translations_of(rule.annotations),
        state=RuleState.FIRING if firing else RuleState.PENDING if pending else RuleState.INACTIVE,
        firing=firing,
        pending=pending,
        without_data=firing_without + pending_without,
        health=status.health,
        error=status.error,
        evaluated_ms=status.evaluated_ms,
        evaluation_seconds=status.seconds,
    )
