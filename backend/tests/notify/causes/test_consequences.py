"""An alert is held back only from those who have been told of its cause, by an alert that is as severe."""

from collections.abc import Mapping, Sequence

from loadwatch_backend.alerting.notify.causes import Consequences
from loadwatch_backend.findings.snapshot import FindingsSnapshot

from backend.tests.notify.causes.moments import APP, AT_MS, EXPLAINED, moment, standing

POOL = standing("pool-exhausted", {**APP, "db_name": "main"})
CAUSE = {"alertname": "PoolSaturated", "severity": "warning", **APP, "db_name": "main"}
EFFECT = {"alertname": "LoadTimeouts", "severity": "warning", "run": "r1"}


def consequences(
    *told: str, seen: FindingsSnapshot | None = None, firing: Mapping[str, Mapping[str, str]] | None = None
) -> Consequences:
    """`told` are receivers of the cause's alert."""

    def read(keys: Sequence[str]) -> Mapping[str, set[str]]:
        return {key: set(told) for key in keys}

    given = {"cause": CAUSE, "effect": EFFECT} if firing is None else firing
    return Consequences(moment(POOL) if seen is None else seen, given, read, EXPLAINED)


def test_who_was_told_of_the_cause_is_not_told_of_what_follows():
    made = consequences("team")
    found = made.cause_of("effect", EFFECT, "team")
    assert found is not None
    assert (found.alert, found.finding.id) == ("cause", "pool-exhausted")
    assert made.cause_of("effect", EFFECT, "others") is None
    assert made.cause_of("cause", CAUSE, "team") is None
    assert made.order == {"cause": 0}


def test_nobody_is_held_without_somebody_told():
    assert consequences().cause_of("effect", EFFECT, "team") is None
    made = consequences()
    made.note(["effect", "gone"], "team")
    assert made.cause_of("effect", EFFECT, "team") is None
    made.note(["cause"], "team")
    assert made.cause_of("effect", EFFECT, "team") is not None


def test_the_cause_must_fire_and_its_finding_stand():
    assert consequences("team", firing={"effect": EFFECT}).cause_of("effect", EFFECT, "team") is None
    assert consequences("team", seen=moment()).cause_of("effect", EFFECT, "team") is None
    old = standing("pool-exhausted", {**APP, "db_name": "main"}, to_ms=AT_MS - 61_000)
    assert consequences("team", seen=moment(old)).cause_of("effect", EFFECT, "team") is None


def test_a_warning_holds_nothing_critical():
    critical = {**EFFECT, "alertname": "LoadErrorRateHigh", "severity": "critical"}
    assert consequences("team").cause_of("effect", critical, "team") is None
    firing = {"cause": {**CAUSE, "severity": "critical"}, "effect": critical}
    assert consequences("team", firing=firing).cause_of("effect", critical, "team") is not None
    unknown = {**EFFECT, "severity": "page"}
    assert consequences("team").cause_of("effect", unknown, "team") is None


def test_one_raised_finding_does_not_hold_the_same_of_another_place():
    raised = {"alertname": "FindingRaised", "severity": "critical", "id": "app-cpu-full", **APP}
    cpu = standing("app-cpu-full", APP)
    both = {"one": raised, "two": {**raised, "run": "r1"}}
    assert consequences("team", seen=moment(cpu), firing=both).cause_of("one", raised, "team") is None
    service = {"alertname": "ServiceCpuHigh", "severity": "critical", **APP}
    made = consequences("team", seen=moment(cpu), firing={"one": raised, "service": service})
    assert made.cause_of("one", raised, "team") is not None
    assert made.cause_of("service", service, "team") is None
