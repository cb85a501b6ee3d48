"""What a server knows of alerts when it begins to evaluate, from rows and samples. No I/O."""

from collections.abc import Iterable
from dataclasses import replace

from loadwatch_backend.alerting.alerts.evaluation.state import NO_DATA_LABEL, RuleStates, source_key
from loadwatch_backend.alerting.alerts.history.journal import Remembered
from loadwatch_backend.alerting.rules.contract import SourceKey


def states_of(found: Remembered) -> dict[str, RuleStates]:
    """States by rule id."""
    states: dict[str, RuleStates] = {}
    for rule_id in {*found.alerts, *found.swings}:
        alerts = {source_key(alert.source): alert for _, alert in found.alerts.get(rule_id, ())}
        states[rule_id] = RuleStates(alerts=alerts, swings=found.swings.get(rule_id, {}))
    return states


def with_seen(states: RuleStates, present: Iterable[SourceKey]) -> RuleStates:
    """States of a rule whose vanished series are alerts, with the series that count as having been there.

    Those are the ones that had data when rules were last evaluated, and those whose vanishing is an open alert.
    """
    gone = {
        tuple(pair for pair in key if pair[0] != NO_DATA_LABEL)
        for key in states.alerts
        if (NO_DATA_LABEL, "true") in key
    }
    return replace(states, seen=states.seen | gone | frozenset(present))
