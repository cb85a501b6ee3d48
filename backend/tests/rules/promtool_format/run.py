"""Runs a test of rules on the engine that the server uses, with time made up."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from loadwatch_backend.alerting.alerts.evaluation.explain import RuleStates
from loadwatch_backend.alerting.alerts.evaluation.machine import PROMETHEUS, Machine
from loadwatch_backend.alerting.alerts.schemas import AlertState
from loadwatch_backend.alerting.rules.evaluate import ALERT_NAME, Round, RuleEvaluator
from loadwatch_backend.alerting.rules.model import OWN_ANNOTATIONS, Rule, RuleGroup, RuleKind, RuleResult
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.language import Language, in_language
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.labels import METRIC_NAME, LabelKey, format_labels, label_key
from loadwatch_backend.series.store.port import STALE_NAN, Labels
from loadwatch_formats.durations import format_duration

from backend.tests.rules.promtool_format.document import AlertTest, QueryTest, RuleTest, RuleTestFile
from backend.tests.rules.promtool_format.store import MemoryStore

MAX_EVALUATIONS = 1_000_000
_CLOSE = 1e-12
"""Relative difference of values that count as equal: the order of additions is not Prometheus' everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveAlert:
    """An alert after an evaluation."""

    labels: Labels
    annotations: Mapping[str, str]
    firing: bool
    active_ms: int


@dataclass(slots=True)
class _Tracker:
    """The server's state machine, without the damping of flapping: a test says when an alert fires, to the step."""

    machine: Machine = field(default_factory=lambda: Machine(settings=PROMETHEUS))
    states: dict[str, RuleStates] = field(default_factory=dict[str, RuleStates])

    def step(self, rule: Rule, result: RuleResult, now_ms: int) -> Sequence[ActiveAlert]:
        """Take one rule's result; the rule's alerts that are pending or firing now."""
        step = self.machine.step(rule, self.states.get(rule.id, RuleStates()), result, now_ms)
        self.states[rule.id] = step.states
        return [
            ActiveAlert(
                labels=alert.labels,
                annotations=alert.annotations,
                firing=alert.state is AlertState.FIRING,
                active_ms=alert.active_ms,
            )
            for alert in step.states.alerts.values()
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Something that is not as expected; line of the test file."""

    line: int
    message: str


def run_test(file: RuleTestFile, test: RuleTest, groups: Sequence[RuleGroup]) -> list[Failure]:
    """Evaluate all groups from the start to the last time that is asked for; what was not as expected."""
    order = {name: place for place, name in enumerate(file.group_order)}
    ordered = sorted(groups, key=lambda group: order.get(group.name, 0))
    return _Run(file, test, _evaluated(test, [rule for group in ordered for rule in group.rules])).run()


def _evaluated(test: RuleTest, rules: Sequence[Rule]) -> Sequence[Rule]:
    """The rules that a test asks for; all where it sees others too: recorded series, or alerts that are queried."""
    named = {one.name for one in test.alerts}
    asked = [rule for rule in rules if rule.name in named]
    texts = [text for rule in asked for text in rule.annotations.values()]
    recorded = any(rule.kind is RuleKind.RECORDING for rule in rules)
    return rules if test.queries or recorded or any("ALERTS" in text for text in texts) else asked


@dataclass(slots=True)
class _Run:
    file: RuleTestFile
    test: RuleTest
    rules: Sequence[Rule]
    tracker: _Tracker = field(default_factory=_Tracker)
    store: MemoryStore = field(default_factory=MemoryStore)
    failures: list[Failure] = field(default_factory=list[Failure])
    active: dict[str, Sequence[ActiveAlert]] = field(default_factory=dict[str, Sequence[ActiveAlert]])
    written: dict[str, Set[LabelKey]] = field(default_factory=dict[str, Set[LabelKey]])

    def run(self) -> list[Failure]:
        test, interval = self.test, self.file.interval_ms
        for one in test.series:
            times = (test.start_ms + place * test.interval_ms for place in range(len(one.values)))
            self.store.put(
                one.labels, [(at, value) for at, value in zip(times, one.values, strict=True) if value is not None]
            )
        engine = Engine(self.store)
        evaluator = RuleEvaluator(engine, test.external_url, test.external_labels)
        last = max((one.at_ms for one in [*test.alerts, *test.queries]), default=0)
        if last // interval > MAX_EVALUATIONS:
            return [Failure(line=test.line, message=f"the test needs more than {MAX_EVALUATIONS} evaluations")]
        waiting = sorted(test.alerts, key=lambda one: one.at_ms)
        for offset in range(0, last + 1, interval):
            if not self._evaluate(evaluator.round(test.start_ms + offset), offset):
                return self.failures
            while waiting and waiting[0].at_ms < offset + interval:
                self._check_alerts(waiting.pop(0))
        for query in test.queries:
            self._check_query(engine, query)
        return self.failures

    # Evaluation -------------------------------------------------------------------------------------------------------

    def _evaluate(self, now: Round, offset_ms: int) -> bool:
        """All rules once; False when one of them fails, which ends the test."""
        for rule in self.rules:
            try:
                self._evaluate_rule(now, rule)
            except ProblemError as error:
                self._fail(self.test.line, f"at {format_duration(offset_ms)} the rule {rule.name}: {error.detail}")
                return False
        return True

    def _evaluate_rule(self, now: Round, rule: Rule) -> None:
        at_ms = now.at_ms - rule.query_offset_ms
        if rule.kind is RuleKind.RECORDING:
            recorded = now.recording(rule)
            self._write(now, rule, at_ms, list(zip(recorded.series, recorded.values, strict=True)))
            return
        active = self.active[rule.id] = self.tracker.step(rule, now.alerting(rule), now.at_ms)
        made: list[tuple[Labels, float]] = []
        for alert in active:
            state = "firing" if alert.firing else "pending"
            made.append(({**alert.labels, METRIC_NAME: "ALERTS", "alertstate": state}, 1.0))
            made.append(({**alert.labels, METRIC_NAME: "ALERTS_FOR_STATE"}, alert.active_ms // 1000))
        self._write(now, rule, at_ms, made)

    def _write(self, now: Round, rule: Rule, at_ms: int, made: Sequence[tuple[Labels, float]]) -> None:
        """What a rule makes; series that it no longer makes end with a stale marker."""
        for labels, value in made:
            self.store.put(labels, [(at_ms, value)])
        keys = {label_key(labels) for labels, _ in made}
        for key in self.written.get(rule.id, frozenset()) - keys:
            self.store.put(dict(key), [(at_ms, _STALE)])
        self.written[rule.id] = keys
        for name in ("ALERTS", "ALERTS_FOR_STATE") if rule.kind is RuleKind.ALERTING else (rule.name,):
            now.forget(name)

    # Expectations -----------------------------------------------------------------------------------------------------

    def _check_alerts(self, test: AlertTest) -> None:
        found = [
            (label_key(alert.labels), label_key(in_language(alert.annotations, Language.EN)))
            for rule in self.rules
            if rule.kind is RuleKind.ALERTING and rule.name == test.name
            for alert in self.active.get(rule.id, ())
            if alert.firing
        ]
        expected = [
            (
                label_key({name: text for name, text in {**one.labels, ALERT_NAME: test.name}.items() if text}),
                label_key({name: text for name, text in one.annotations.items() if name not in OWN_ANNOTATIONS}),
            )
            for one in test.expected
        ]
        if sorted(found) == sorted(expected):
            return
        missing = [one for one in expected if one not in found]
        extra = [one for one in found if one not in expected]
        lines = [f"at {format_duration(test.at_ms)} the alert {test.name}:"]
        if not missing and not extra:
            lines.append(f"  expected {len(expected)} times, and fires {len(found)} times")
        lines += [f"  expected, and does not fire: {_words(one)}" for one in missing]
        lines += [f"  fires, and is not expected:  {_words(one)}" for one in extra]
        self._fail(test.line, "\n".join(lines))

    def _check_query(self, engine: Engine, test: QueryTest) -> None:
        try:
            matrix = engine.at(self.test.start_ms + test.at_ms).question().vector(test.expression)
        except ProblemError as error:
            self._fail(test.line, f"{test.text}: {error.detail}")
            return
        found = sorted(
            (label_key(labels), value)
            for labels, value in zip(matrix.labels, matrix.values[:, 0].tolist(), strict=True)
        )
        expected = sorted((label_key(one.labels), one.value) for one in test.expected)
        if len(found) == len(expected) and all(
            one[0] == other[0] and _equal(one[1], other[1]) for one, other in zip(found, expected, strict=True)
        ):
            return
        lines = [f"at {format_duration(test.at_ms)} {test.text}:"]
        for title, samples in (("expected:", expected), ("got:     ", found)):
            lines += [f"  {title} {format_labels(dict(key))} {value!r}" for key, value in samples]
            if not samples:
                lines.append(f"  {title} nothing")
        self._fail(test.line, "\n".join(lines))

    def _fail(self, line: int, message: str) -> None:
        self.failures.append(Failure(line=line, message=f"{self.test.name}: {message}"))


_STALE = STALE_NAN


def _equal(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=_CLOSE)


def _words(alert: tuple[LabelKey, LabelKey]) -> str:
    labels, annotations = (format_labels(dict(part)) for part in alert)
    return f"{labels} with {annotations}" if alert[1] else labels
