"""Which finding an alert carries, and what it follows from."""

from functools import partial

import pytest
from loadwatch_backend.alerting.notify import causes
from loadwatch_backend.alerting.notify.causes import annotations_of
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.snapshot import ActiveFinding

from backend.tests.notify.causes.moments import APP, AT_MS, DB, EXPLAINED, OTHER_APP, moment, standing

causes_of = partial(causes.causes_of, explained=EXPLAINED)
tells_of = partial(causes.reports, explained=EXPLAINED)
POOL_WAITS = {"alertname": "PoolWaits", "severity": "warning", **APP, "db_name": "main"}
TIMEOUTS = {"alertname": "LoadTimeouts", "severity": "warning", "run": "r1"}
POOL = standing("pool-exhausted", {**APP, "db_name": "main"})
DATABASE = standing("database-connections-exhausted", DB)
POOL_AFTER_DATABASE = standing("pool-exhausted", {**APP, "db_name": "main"}, because_of=[DATABASE])


def fits(labels: dict[str, str], *findings: ActiveFinding, active_ms: int = AT_MS - 10_000) -> str | None:
    found = causes.finding_of(labels, active_ms, moment(*findings), EXPLAINED)
    return None if found is None else found.id


def test_an_alert_carries_what_it_is_about_or_the_cause_of_that():
    assert fits(POOL_WAITS, POOL) == "pool-exhausted"
    assert fits(POOL_WAITS, DATABASE, POOL_AFTER_DATABASE) == "database-connections-exhausted"
    assert fits(TIMEOUTS, POOL) == "pool-exhausted"
    assert fits(TIMEOUTS) is None


@pytest.mark.parametrize(
    "other",
    [
        standing("pool-exhausted", {**OTHER_APP, "db_name": "main"}),
        standing("pool-exhausted", {**APP, "db_name": "reports"}),
        standing("file-descriptors-exhausted", APP),
        standing("pool-exhausted", {**APP, "db_name": "main"}, certainty=Certainty.POSSIBLE),
        standing("pool-exhausted", {**APP, "db_name": "main"}, severity=Severity.INFO),
        standing("pool-exhausted", {**APP, "db_name": "main"}, to_ms=AT_MS - 60_000),
    ],
    ids=["other instance", "other pool", "other matter", "only possible", "accuses nothing", "long past"],
)
def test_what_does_not_fit_is_not_carried(other: ActiveFinding):
    assert fits(POOL_WAITS, other) is None


def test_what_ended_just_before_or_began_after_it_fits():
    labels = {**APP, "db_name": "main"}
    assert fits(POOL_WAITS, standing("pool-exhausted", labels, to_ms=AT_MS - 20_000)) == "pool-exhausted"
    assert fits(POOL_WAITS, standing("pool-exhausted", labels, from_ms=AT_MS - 1_000)) == "pool-exhausted"


def test_an_alert_of_a_load_names_no_place_and_is_explained_by_what_was_felt():
    assert fits(TIMEOUTS, standing("pool-exhausted", APP, certainty=Certainty.LIKELY)) is None
    assert causes_of(TIMEOUTS, moment(standing("pool-exhausted", APP, certainty=Certainty.LIKELY))) == []


def test_a_rule_of_the_users_carries_what_is_at_its_own_instance():
    assert fits({"alertname": "Mine", **APP}, POOL) is None
    assert fits({"alertname": "Mine", **APP, "db_name": "main"}, POOL) == "pool-exhausted"
    assert fits({"alertname": "Mine", **APP}, standing("app-lock-stall", APP)) == "app-lock-stall"
    assert fits({"alertname": "Mine", **OTHER_APP}, standing("app-lock-stall", APP)) is None
    assert fits({"alertname": "Mine"}, standing("app-lock-stall", APP)) is None
    assert fits({"alertname": "ClockSkew", **APP}, standing("app-lock-stall", APP)) is None


def test_an_alert_follows_from_the_causes_of_what_it_tells_of_and_not_from_that():
    def ids(labels: dict[str, str], *findings: ActiveFinding) -> list[str]:
        return [one.id for one in causes_of(labels, moment(*findings))]

    assert ids(POOL_WAITS, POOL) == []
    assert ids(POOL_WAITS, DATABASE, POOL_AFTER_DATABASE) == ["database-connections-exhausted"]
    far = standing("database-cpu-full", DB)
    near = standing("database-connections-exhausted", DB, because_of=[far])
    pool = standing("pool-exhausted", {**APP, "db_name": "main"}, because_of=[near])
    assert ids(POOL_WAITS, far, near, pool) == ["database-cpu-full", "database-connections-exhausted"]
    assert ids(TIMEOUTS, DATABASE, POOL_AFTER_DATABASE) == ["database-connections-exhausted", "pool-exhausted"]
    # What was last seen a minute ago does not stand.
    assert ids(TIMEOUTS, standing("pool-exhausted", APP, to_ms=AT_MS - 61_000)) == []


def test_two_that_follow_from_each_other_hold_nothing():
    lag = standing("ingest-lag-growing", APP)
    queue = standing("queue-full", APP, because_of=[lag])
    lag = standing("ingest-lag-growing", APP, because_of=[queue])
    labels = {"alertname": "TableNotFresh", "severity": "warning", **APP}
    assert [one.id for one in causes_of(labels, moment(lag, queue))] == ["ingest-lag-growing", "queue-full"]
    assert causes_of({"alertname": "IngestRowsLost", **APP}, moment(lag, queue)) == []


def test_a_raised_finding_is_superfluous_where_another_alert_tells_of_it():
    raised = {"alertname": "FindingRaised", "id": "app-cpu-full", "severity": "critical", **APP}
    cpu = standing("app-cpu-full", APP)
    assert causes_of(raised, moment(cpu)) == [cpu]
    assert tells_of(raised, cpu)
    assert tells_of({"alertname": "ServiceCpuHigh", **APP}, cpu)
    assert not tells_of({"alertname": "ServiceCpuHigh", **OTHER_APP}, cpu)
    assert causes_of(raised, moment(standing("app-cpu-full", OTHER_APP))) == []


def test_a_finding_as_annotations():
    assert annotations_of(POOL, moment(POOL)) == {
        "finding": "It was pool-exhausted.",
        "loadwatch_finding_ja": "pool-exhaustedだった。",
        "finding_id": "pool-exhausted",
        "finding_certainty": "certain",
        "loadwatch_finding_family": POOL.key,
        "loadwatch_finding_said_ms": str(AT_MS),
    }


def test_a_finding_comes_with_all_that_follows_from_it():
    lag = standing("ingest-lag-growing", APP, because_of=[POOL_AFTER_DATABASE])
    other = standing("file-descriptors-exhausted", APP)
    family = annotations_of(DATABASE, moment(DATABASE, POOL_AFTER_DATABASE, lag, other))["loadwatch_finding_family"]
    assert family.split("\n") == [DATABASE.key, POOL_AFTER_DATABASE.key, lag.key]


def test_a_finding_of_a_fleet_is_about_each_of_its_instances_and_about_no_other():
    there = {"job": APP["job"], "db_name": "main"}
    fleet = standing("pool-exhausted", there, instances=[OTHER_APP["instance"], APP["instance"]])
    assert fits(POOL_WAITS, fleet) == "pool-exhausted"
    assert fits({"alertname": "Mine", **APP, "db_name": "main"}, fleet) == "pool-exhausted"
    assert tells_of({"alertname": "FindingRaised", "id": "pool-exhausted", "job": APP["job"]}, fleet)
    elsewhere = {"instance": "app-of-no-fleet"}
    assert fits({**POOL_WAITS, **elsewhere}, fleet) is None
    assert causes_of({"alertname": "IngestStalled", **APP, **elsewhere}, moment(fleet)) == []
    assert [one.id for one in causes_of({"alertname": "IngestStalled", **APP}, moment(fleet))] == ["pool-exhausted"]
