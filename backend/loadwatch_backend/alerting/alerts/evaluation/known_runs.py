"""The runs that matter to one evaluation: those that go on, and those whose ids alerts bear."""

import threading
from collections.abc import Mapping, Set

from loadwatch_backend.alerting.alerts.evaluation.state import NO_RUNS, RUN_LABEL, RuleStates, Runs, source_key
from loadwatch_backend.alerting.alerts.ports import RunSource
from loadwatch_backend.alerting.rules.contract import RuleResult
from loadwatch_backend.alerting.rules.model import Rule
from loadwatch_backend.runs.registry.under_way import RunFacts

ASK_MS = 1_000
MOST_ASKED = 1_000


class KnownRuns:
    """Asks when an alert begins, and else at most once a second. From any thread."""

    def __init__(self, ask: RunSource) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._known: Mapping[str, RunFacts] = {}
        self._asked: Set[str] = frozenset()
        self._asked_ms = 0

    def at(self, rule: Rule, states: Mapping[str, RuleStates], result: RuleResult, at_ms: int) -> Runs:
        """For one evaluation of a rule, with the states of all rules before it."""
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
