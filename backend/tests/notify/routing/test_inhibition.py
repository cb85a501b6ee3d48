from loadwatch_backend.notify.file.matchers import parse_matchers
from loadwatch_backend.notify.file.model import InhibitRule
from loadwatch_backend.notify.routing.inhibition import Inhibitor

DOWN = {"alertname": "Down", "severity": "page", "db": "orders"}
SLOW = {"alertname": "Slow", "severity": "warn", "db": "orders"}


def rule(source: str, target: str, *equal: str) -> InhibitRule:
    return InhibitRule(source=parse_matchers(source), target=parse_matchers(target), equal=equal)


def test_an_alert_that_fires_holds_its_targets() -> None:
    inhibitor = Inhibitor([rule("severity=page", "severity=warn", "db")], {"1": DOWN, "2": SLOW})
    assert inhibitor.inhibitors("2", SLOW) == ("1",)
    assert inhibitor.inhibitors("1", DOWN) == ()


def test_the_labels_of_equal_must_agree() -> None:
    inhibitor = Inhibitor([rule("severity=page", "severity=warn", "db")], {"1": DOWN})
    assert inhibitor.inhibitors("2", {**SLOW, "db": "users"}) == ()
    assert inhibitor.inhibitors("2", {"severity": "warn"}) == ()


def test_missing_labels_agree() -> None:
    inhibitor = Inhibitor([rule("severity=page", "severity=warn", "zone")], {"1": DOWN})
    assert inhibitor.inhibitors("2", SLOW) == ("1",)
    assert inhibitor.inhibitors("2", {**SLOW, "zone": ""}) == ("1",)


def test_an_alert_does_not_hold_itself() -> None:
    inhibitor = Inhibitor([rule("db=orders", "db=orders")], {"1": DOWN})
    assert inhibitor.inhibitors("1", DOWN) == ()


def test_two_that_are_both_source_and_target_do_not_hold_each_other() -> None:
    inhibitor = Inhibitor([rule("db=orders", "db=orders")], {"1": DOWN, "2": SLOW})
    assert inhibitor.inhibitors("1", DOWN) == ()
    assert inhibitor.inhibitors("2", SLOW) == ()


def test_a_source_that_is_no_target_holds_one_that_is_both() -> None:
    inhibitor = Inhibitor([rule("db=orders", 'db=orders,alertname!="Down"')], {"1": DOWN, "2": SLOW})
    assert inhibitor.inhibitors("2", SLOW) == ("1",)
    assert inhibitor.inhibitors("1", DOWN) == ()


def test_of_very_many_causes_some_are_named() -> None:
    firing = {str(number): {**DOWN, "instance": str(number)} for number in range(1_000)}
    inhibitor = Inhibitor([rule("severity=page", "severity=warn", "db")], firing)
    assert len(inhibitor.inhibitors("x", SLOW)) == 20


def test_without_rules_nothing_is_held() -> None:
    assert Inhibitor([], {"1": DOWN}).inhibitors("2", SLOW) == ()
