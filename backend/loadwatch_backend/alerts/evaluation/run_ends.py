"""Which of the runs that alerts bear have ended, and what of them holds still."""

import threading
from collections.abc import Iterable, Mapping

from loadwatch_backend.alerts.evaluation.state import NO_RUNS_OVER, RUN_LABEL, RuleStates, RunsOver
from loadwatch_backend.alerts.ports import EndSource
from loadwatch_backend.rules.contract import RuleResult
from loadwatch_backend.rules.model import Rule

ASK_MS = 1_000
MOST_KNOWN = 1_000


class RunEnds:
    """Asks about runs that have not ended at most once a second; an end is remembered. From any thread."""

    def __init__(self, ask: EndSource) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}
        self._asked: dict[str, int] = {}

    def over(self, rule: Rule, states: Mapping[str, RuleStates], result: RuleResult, at_ms: int) -> RunsOver:
        """For one evaluation of a rule, with the states of all rules before it."""
        before = states.get(rule.id)
        runs = (
            {alert.labels.get(RUN_LABEL, "") for alert in before.alerts.values()} if before is not None else set[str]()
        )
        runs |= {one.source.get(RUN_LABEL, "") for one in result.active}
        ended = self._ended(runs - {""}, at_ms)
        if not ended:
            return NO_RUNS_OVER
        holding = {
            alert.labels.get(RUN_LABEL, "")
            for rule_id, one in list(states.items())
            if rule_id != rule.id
            for alert in one.alerts.values()
            if alert.false_since_ms is None and alert.no_data_since_ms is None
        }
        return RunsOver(ended=ended, busy=holding & ended.keys())

    def _ended(self, runs: Iterable[str], at_ms: int) -> Mapping[str, int]:
        with self._lock:
            due = [
                run for run in runs if run not in self._known and abs(at_ms - self._asked.get(run, -ASK_MS)) >= ASK_MS
            ]
            if due:
                if len(self._known) + len(self._asked) > MOST_KNOWN:
                    self._known.clear()
                    self._asked.clear()
                self._asked |= dict.fromkeys(due, at_ms)
                self._known |= self._ask(due)
            return {run: self._known[run] for run in runs if run in self._known}
