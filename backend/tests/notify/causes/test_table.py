"""Every default rule is about some findings, or it is said why not; and the rule for the rest leaves out those."""

import re

from loadwatch_backend.notify.causes.table import ALERTS, COVERED, RAISED, UNMAPPED, explained
from loadwatch_backend.rules.files import BUILT_IN
from loadwatch_backend.rules.read import read_rules

RULES = [
    rule
    for file in sorted(BUILT_IN.glob("*.yml"))
    for group in read_rules(file.read_bytes(), "", 1).groups
    for rule in group.rules
]


def test_every_default_rule_is_mapped_or_has_a_reason():
    names = {rule.name for rule in RULES}
    assert ALERTS.keys() | UNMAPPED.keys() | {RAISED} == names
    assert not ALERTS.keys() & UNMAPPED.keys()
    assert all(UNMAPPED.values())
    assert all(one.about or one.follows for one in ALERTS.values())


def test_findings_that_no_rule_tells_of_are_raised_by_their_own():
    raised = [rule for rule in RULES if rule.name == RAISED]
    assert {rule.labels["severity"] for rule in raised} == {"critical", "warning"}
    for rule in raised:
        left_out = [id for ids in re.findall(r'id!~"([^"]+)"', rule.expression) for id in ids.split("|")]
        assert sorted(left_out) == sorted(COVERED)


def test_an_alert_of_a_finding_tells_of_that_finding():
    found = explained({"alertname": RAISED, "id": "app-lock-stall"})
    assert found is not None
    assert found.about == ("app-lock-stall",)
    assert explained({"alertname": "MyOwnRule"}) is None
