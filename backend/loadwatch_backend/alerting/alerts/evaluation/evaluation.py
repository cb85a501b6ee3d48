"""One evaluation of rules of a group: what they read, through the state machine, to what must be written."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from loadwatch_backend.alerting.alerts.evaluation.group_run import GroupRun, RuleStatus
from loadwatch_backend.alerting.alerts.evaluation.known_runs import KnownRuns
from loadwatch_backend.alerting.alerts.evaluation.machine import Machine
from loadwatch_backend.alerting.alerts.evaluation.recorder import Recorder
from loadwatch_backend.alerting.alerts.evaluation.state import NO_DATA_LABEL, RuleStates, TrackedAlert
from loadwatch_backend.alerting.alerts.history.episodes import RuleFacts
from loadwatch_backend.alerting.alerts.history.journal import Entry
from loadwatch_backend.alerting.alerts.ports import Rounds, RuleRound, RunSource, SentSource
from loadwatch_backend.alerting.alerts.schemas import RuleHealth
from loadwatch_backend.alerting.rules.model import Rule, RuleKind
from loadwatch_backend.core.errors import ProblemError

log = structlog.get_logger(__name__)

NO_STATES = RuleStates()
STOPPED_MS = 900_000
"""Nobody sends a target of which nothing has come for so long; the targets' page has the same figure."""
PAUSE_MS = 300_000
SENT_ASKED_MS = 5_000
"""So long an answer about the targets is good."""


@dataclass(slots=True)
class EvaluationCounts:
    """Since the start; read by /metrics."""

    evaluations: int = 0
    failures: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class EvaluationResult:
    """New states by rule id, and what of them must be written before they hold."""

    states: dict[str, RuleStates] = field(default_factory=dict[str, RuleStates])
    entries: list[Entry] = field(default_factory=list[Entry])


class Evaluation:
    """Evaluates; used by one worker for each group at a time."""

    def __init__(
        self, rounds: Rounds, machine: Machine, recorder: Recorder, runs: RunSource, targets_sent: SentSource = dict
    ) -> None:
        self._rounds = rounds
        self._machine = machine
        self._recorder = recorder
        self._runs = KnownRuns(runs)
        self._targets_sent = targets_sent
        self._sent: tuple[int, Mapping[tuple[str, str], int]] = (-SENT_ASKED_MS, {})
        self._evaluated_ms = self._since_ms = 0
        """Last evaluation, and since when there was no pause: in a pause nobody saw what came and what stayed away."""
        self.counts = EvaluationCounts()

    def evaluate(
        self,
        run: GroupRun,
        rules: Sequence[Rule],
        states: Mapping[str, RuleStates],
        facts: Mapping[str, RuleFacts],
        at_ms: int,
    ) -> EvaluationResult:
        """The rules at one instant, in order. A rule that fails keeps its states and says why."""
        if abs(at_ms - self._evaluated_ms) > PAUSE_MS:
            self._since_ms = at_ms
        self._evaluated_ms = at_ms
        round_ = self._rounds(at_ms)
        round_.prepare(rules)
        outcome = EvaluationResult()
        for rule in rules:
            started = time.monotonic()
            error = ""
            try:
                if rule.kind is RuleKind.RECORDING:
                    recorded = round_.recording(rule)
                    self._recorder.record(rule, recorded, at_ms, wait=run.read_later[rule.id])
                else:
                    self._step(rule, round_, states, facts[rule.id], at_ms, outcome)
            except ProblemError as problem:
                error = problem.detail
            except Exception as mistake:
                error = f"{type(mistake).__name__}: {mistake}"
                log.exception("a rule could not be evaluated", rule=rule.name, group=run.group.name)
            self._note(rule, run.status[rule.id], error, at_ms, started)
        return outcome

    def show(self, rules: Sequence[Rule], states: Mapping[str, RuleStates], at_ms: int) -> None:
        """Write the ALERTS series of what now holds."""
        for rule in rules:
            if rule.kind is RuleKind.ALERTING:
                try:
                    self._recorder.show(rule, list(states.get(rule.id, NO_STATES).alerts.values()), at_ms)
                except ProblemError as problem:
                    log.warning("ALERTS could not be written", rule=rule.name, reason=problem.detail)

    def _step(
        self,
        rule: Rule,
        round_: RuleRound,
        states: Mapping[str, RuleStates],
        facts: RuleFacts,
        at_ms: int,
        outcome: EvaluationResult,
    ) -> None:
        before = states.get(rule.id, NO_STATES)
        result = round_.alerting(rule)
        runs = self._runs.at(rule, states, result, at_ms)
        step = self._machine.step(rule, before, result, at_ms, runs, lambda alert: self._has_stopped(alert, at_ms))
        outcome.states[rule.id] = step.states
        if step.changed or step.transitions:
            outcome.entries.append(Entry(facts=facts, step=step))

    def _has_stopped(self, alert: TrackedAlert, at_ms: int) -> bool:
        """Whether nobody sends the target of an alert without data; where no target is known, its series."""
        if abs(at_ms - self._sent[0]) >= SENT_ASKED_MS:
            self._sent = at_ms, self._targets_sent()
        job, instance = alert.source.get("job"), alert.source.get("instance")
        sent = [
            sent_ms
            for target, sent_ms in self._sent[1].items()
            if (job, instance) != (None, None) and job in (None, target[0]) and instance in (None, target[1])
        ]
        if sent and not any(sent):
            return True
        vanished_ms = alert.active_ms if alert.labels.get(NO_DATA_LABEL) == "true" else alert.no_data_since_ms
        since_ms = max(sent, default=at_ms if vanished_ms is None else vanished_ms)
        return at_ms - max(since_ms, self._since_ms) >= STOPPED_MS

    def _note(self, rule: Rule, status: RuleStatus, error: str, at_ms: int, started: float) -> None:
        if error and error != status.error:
            log.warning("a rule fails; its alerts stay as they are", rule=rule.name, line=rule.line, reason=error)
        elif status.error and not error:
            log.info("a rule can be evaluated again", rule=rule.name)
        status.health = RuleHealth.ERROR if error else RuleHealth.OK
        status.error = error
        status.evaluated_ms = at_ms
        status.started = started
        status.seconds = time.monotonic() - started
        self.counts.evaluations += 1
        self.counts.failures += bool(error)
        self.counts.seconds += status.seconds
