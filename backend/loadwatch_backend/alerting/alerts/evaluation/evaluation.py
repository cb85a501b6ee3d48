"""One evaluation of rules of a group: what they read, through the state machine, to what must be written.

Times without a unit in the name are seconds of the monotonic clock.
"""

import threading
import time
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field

import structlog

from loadwatch_backend.alerting.alerts.evaluation.explain import (
    NO_DATA_LABEL,
    NO_RUNS,
    RUN_LABEL,
    RuleStates,
    Runs,
    TrackedAlert,
    source_key,
)
from loadwatch_backend.alerting.alerts.evaluation.machine import Machine
from loadwatch_backend.alerting.alerts.evaluation.recorder import Recorder
from loadwatch_backend.alerting.alerts.history.episodes import RuleFacts
from loadwatch_backend.alerting.alerts.history.journal import Entry
from loadwatch_backend.alerting.alerts.ports import Rounds, RunSource, SentSource
from loadwatch_backend.alerting.alerts.schemas import RuleHealth
from loadwatch_backend.alerting.rules.evaluate import Round
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup, RuleKind, RuleResult
from loadwatch_backend.alerting.rules.presence import metrics_of
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.runs.registry.under_way import RunFacts

LEAST_GAP = 0.05
SLEEP_SECONDS = 600.0
"""Interval of a rule none of whose metrics was ever seen: its result is known."""
GAP_PER_DURATION = 4.0
"""Arrivals never take more than a fifth of a core for one group, however often samples come."""


@dataclass(slots=True)
class RuleStatus:
    health: RuleHealth = RuleHealth.UNKNOWN
    error: str = ""
    evaluated_ms: int | None = None
    seconds: float | None = None
    started: float = float("-inf")


@dataclass(slots=True)
class GroupRun:
    """A group. While it is busy, only the worker that evaluates it changes it."""

    group: RuleGroup
    next_tick: float
    status: dict[str, RuleStatus] = field(default_factory=dict[str, RuleStatus])
    read_later: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """By rule id: whether a later rule of the group reads what the rule writes."""
    woken: set[str] = field(default_factory=set[str])
    earliest: float = float("-inf")
    busy: bool = False
    missed: int = 0
    evaluated_ms: int | None = None
    seconds: float | None = None

    @classmethod
    def begin(cls, group: RuleGroup, now: float, former: "GroupRun | None" = None) -> "GroupRun":
        """A group that is evaluated at once; what a former one of the same name knew of its rules stays."""
        run = cls(group=group, next_tick=now, read_later=_read_later(group.rules))
        # Their states may just have been read again: what was evaluated a moment ago may not have been written.
        run.woken = {rule.id for rule in group.rules}
        for rule in group.rules:
            run.status[rule.id] = former.status.get(rule.id, RuleStatus()) if former else RuleStatus()
        if former:
            run.missed, run.evaluated_ms, run.seconds = former.missed, former.evaluated_ms, former.seconds
        return run

    @property
    def interval(self) -> float:
        return self.group.interval_ms / 1_000

    def next_due(self) -> float:
        return min(self.next_tick, self.earliest) if self.woken else self.next_tick

    def take_due(self, now: float, asleep: Collection[str] = ()) -> Sequence[Rule]:
        """The rules to evaluate now, in order; marks the group as busy if there are any.

        Rules whose ids are `asleep` have nothing to read, and are evaluated every `SLEEP_SECONDS` only.
        """
        if self.busy or now < self.next_due():
            return ()
        ticks = now >= self.next_tick
        if ticks:
            late = int((now - self.next_tick) / self.interval)
            self.missed += late
            self.next_tick += (late + 1) * self.interval
        # One that was woken less than half an interval ago has had its turn.
        old = now - self.interval / 2
        slept = now - max(SLEEP_SECONDS, self.interval / 2)
        due = [
            rule
            for rule in self.group.rules
            if rule.id in self.woken
            or (ticks and self.status[rule.id].started <= (slept if rule.id in asleep else old))
        ]
        self.woken = set()
        self.busy = bool(due)
        return due

    def finish(self, started: float, now: float, at_ms: int) -> None:
        self.busy = False
        self.seconds = now - started
        self.evaluated_ms = at_ms
        self.earliest = now + max(LEAST_GAP, GAP_PER_DURATION * self.seconds)


def _read_later(rules: Sequence[Rule]) -> dict[str, bool]:
    reads = [metrics_of(rule.parsed) for rule in rules]
    return {
        rule.id: rule.kind is RuleKind.RECORDING
        and any(read is None or rule.name in read for read in reads[place + 1 :])
        for place, rule in enumerate(rules)
    }


ASK_MS = 1_000
MOST_ASKED = 1_000


class KnownRuns:
    """Caches what is known of runs for a second; asks anew when an alert begins. From any thread."""

    def __init__(self, ask: RunSource) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._known: Mapping[str, RunFacts] = {}
        self._asked: Set[str] = frozenset()
        self._asked_ms = 0

    def at(self, rule: Rule, states: Mapping[str, RuleStates], result: RuleResult, at_ms: int) -> Runs:
        before = states.get(rule.id, RuleStates()).alerts
        begin = any(source_key(one.source) not in before for one in result.active)
        wanted = {alert.labels.get(RUN_LABEL, "") for alert in before.values()}
        wanted = (wanted | {one.labels.get(RUN_LABEL, "") for one in result.active}) - {""}
        if not begin and not wanted:
            return NO_RUNS
        holding = {
            alert.labels.get(RUN_LABEL, "")
            for rule_id, one in list(states.items())
            if rule_id != rule.id
            for alert in one.alerts.values()
            if alert.false_since_ms is None and alert.no_data_since_ms is None
        }
        return Runs(known=self._read(wanted, at_ms, now=begin), busy=holding & wanted)

    def _read(self, wanted: Set[str], at_ms: int, *, now: bool) -> Mapping[str, RunFacts]:
        with self._lock:
            if now or not wanted <= self._asked or abs(at_ms - self._asked_ms) >= ASK_MS:
                both = wanted | self._asked
                self._asked = both if len(both) <= MOST_ASKED else wanted
                self._known = self._ask(self._asked)
                self._asked_ms = at_ms
            return self._known


log = structlog.get_logger(__name__)

NO_STATES = RuleStates()
STOPPED_MS = 900_000
"""A target that sent nothing for this long has stopped; the targets' page has the same figure."""
PAUSE_MS = 300_000
SENT_ASKED_MS = 5_000
"""How long an answer about the targets is cached."""


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
        round_: Round,
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
