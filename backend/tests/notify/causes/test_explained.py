"""Every default rule says which findings it is about, or that none is; and the rule for the rest leaves those out."""

from loadwatch_backend.alerting.notify.causes import RAISED, Explained, rules_by_finding
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.findings.registry import DETECTORS

from backend.tests.notify.causes.moments import EXPLAINED, RULES

FINDINGS = {one.kind.id for one in DETECTORS} | {one.finding_id for one in shipped_catalogue().resources}


def test_every_default_rule_names_findings_that_there_are_or_says_that_none_is() -> None:
    for rule in (rule for group in RULES.groups for rule in group.rules):
        known = EXPLAINED({"alertname": rule.name, "id": "app-lock-stall"})
        assert known is not None, rule.name
        assert {*known.about, *known.follows} <= FINDINGS, rule.name
        assert any(known) != (rule.finding == "none"), rule.name


def test_who_tells_of_a_finding_wherever_it_stands() -> None:
    told = rules_by_finding(RULES.explained)
    assert told["pool-exhausted"] == "PoolSaturated"
    assert "pool-unlimited" not in told, "it may stand without the alert"
    assert told.keys() <= FINDINGS


def test_an_alert_of_a_finding_tells_of_that_finding() -> None:
    assert EXPLAINED({"alertname": RAISED, "id": "app-lock-stall"}) == Explained(("app-lock-stall",))
    assert EXPLAINED({"alertname": "DatabaseConnectionsHigh"}) == Explained(
        ("database-connections-exhausted", "pool-unlimited", "pool-exceeds-server")
    )
    assert EXPLAINED({"alertname": "MyOwnRule"}) is None
