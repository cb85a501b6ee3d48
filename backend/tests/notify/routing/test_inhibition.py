from dataclasses import replace

from loadwatch_backend.alerting.notify.file.matchers import parse_matchers
from loadwatch_backend.alerting.notify.file.model import InhibitRule
from loadwatch_backend.alerting.notify.routing.holding import Inhibitor
from loadwatch_backend.series.store.port import Labels

DOWN = {"alertname": "Down", "severity": "page", "db": "orders"}
SLOW = {"alertname": "Slow", "severity": "warn", "db": "orders"}


def rule(source: str, target: str, *equal: str) -> InhibitRule:
    return InhibitRule(source=parse_matchers(source), target=parse_matchers(target), equal=equal)


def receivers(labels: Labels) -> tuple[str, ...]:
    return ("load-tests",) if labels.get("run") else ("pager", "team")


def test_a_rule_that_is_built_in_holds_back_from_the_receivers_of_its_source_only() -> None:
    own = rule("severity=page", "severity=warn", "db")
    of_load = {"1": {**DOWN, "run": "r1"}}
    inhibitor = Inhibitor([replace(own, built_in=True)], of_load, receivers)
    assert inhibitor.inhibitors("2", SLOW, "pager") == ()
    assert inhibitor.inhibitors("2", SLOW, "load-tests") == ("1",)
    assert Inhibitor([replace(own, built_in=True)], {"1": DOWN}, receivers).inhibitors("2", SLOW, "pager") == ("1",)
    # What users write means what it means to Alertmanager.
    assert Inhibitor([own], of_load, receivers).inhibitors("2", SLOW, "pager") == ("1",)


def test_an_alert_that_fires_holds_its_targets() -> None:
    inhibitor = Inhibitor([rule("severity=page", "severity=warn", "db")], {"1": DOWN, "2": SLOW}, receivers)
    assert inhibitor.inhibitors("2", SLOW, "team") == ("1",)
    assert inhibitor.inhibitors("1", DOWN, "team") == ()


def test_the_labels_of_equal_must_agree() -> None:
    inhibitor = Inhibitor([rule("severity=page", "severity=warn", "db")], {"1": DOWN}, receivers)
    assert inhibitor.inhibitors("2", {**SLOW, "db": "users"}, "team") == ()
    assert inhibitor.inhibitors("2", {"severity": "warn"}, "team") == ()


def test_missing_labels_agree() -> None:
    inhibitor = Inhibitor([rule("severity=page", "severity=warn", "zone")], {"1": DOWN}, receivers)
    assert inhibitor.inhibitors("2", SLOW, "team") == ("1",)
    assert inhibitor.inhibitors("2", {**SLOW, "zone": ""}, "team") == ("1",)


def test_an_alert_does_not_hold_itself() -> None:
    inhibitor = Inhibitor([rule("db=orders", "db=orders")], {"1": DOWN}, receivers)
    assert inhibitor.inhibitors("1", DOWN, "team") == ()


def test_two_that_are_both_source_and_target_do_not_hold_each_other() -> None:
    inhibitor = Inhibitor([rule("db=orders", "db=orders")], {"1": DOWN, "2": SLOW}, receivers)
    assert inhibitor.inhibitors("1", DOWN, "team") == ()
    assert inhibitor.inhibitors("2", SLOW, "team") == ()


def test_a_source_that_is_no_target_holds_one_that_is_both() -> None:
    inhibitor = Inhibitor([rule("db=orders", 'db=orders,alertname!="Down"')], {"1": DOWN, "2": SLOW}, receivers)
    assert inhibitor.inhibitors("2", SLOW, "team") == ("1",)
    assert inhibitor.inhibitors("1", DOWN, "team") == ()


def test_of_very_many_causes_some_are_named() -> None:
    firing = {str(number): {**DOWN, "instance": str(number)} for number in range(1_000)}
    inhibitor = Inhibitor([rule("severity=page", "severity=warn", "db")], firing, receivers)
    assert len(inhibitor.inhibitors("x", SLOW, "team")) == 20


def test_without_rules_nothing_is_held() -> None:
    assert Inhibitor([], {"1": DOWN}, receivers).inhibitors("2", SLOW, "team") == ()
