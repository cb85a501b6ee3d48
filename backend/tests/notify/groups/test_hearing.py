"""What follows from a finding is held back from those who have been told of its cause: one cause, one message."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_backend.alerting.notify.outbox.tables import IntegrationRow
from loadwatch_backend.findings.snapshot import ActiveFinding
from sqlalchemy import insert

from backend.tests.notify.causes.moments import APP, AT_MS, DB, moment, standing
from backend.tests.notify.desk import START_MS, Desk, firing, resolved, statuses

FILE = """
route:
  receiver: team
  group_by: [instance]
  group_wait: 2s
  group_interval: 10s
  routes:
    - {matchers: [team="load"], receiver: others}
receivers:
  - {name: team, webhook_configs: [{url: 'http://127.0.0.1:9/'}]}
  - {name: others, webhook_configs: [{url: 'http://127.0.0.1:9/'}]}
loadwatch:
  default_inhibit_rules: false
"""
LABELS = {**APP, "db_name": "main", "severity": "warning"}
DATABASE = standing("database-connections-exhausted", DB)
POOL = standing("pool-exhausted", {**APP, "db_name": "main"}, because_of=[DATABASE])
LOAD = {"run": "r1", "severity": "warning"}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    assert AT_MS == START_MS
    desk = Desk(tmp_path, FILE)
    yield desk
    desk.close()


def say(desk: Desk, *findings: ActiveFinding) -> None:
    desk.moment = moment(*findings)


def names(desk: Desk) -> list[tuple[str, str]]:
    """Of all messages since the last look."""
    return [pair for message in statuses(desk.sent()) for pair in message]


def test_one_cause_is_one_message_and_an_independent_one_is_another(desk: Desk):
    say(desk, DATABASE, POOL)
    cause = firing(desk, "DatabaseConnectionsHigh", **DB, severity="warning")
    effect, load = firing(desk, "PoolWaits", **LABELS), firing(desk, "LoadTimeouts", **LOAD)
    # All are due at once, and what follows comes first.
    desk.take(load, effect, cause)
    desk.wait(5)
    assert names(desk) == [("firing", "DatabaseConnectionsHigh")]

    quiet = desk.dispatcher.quiet([cause, effect, load], desk.now_ms)
    assert quiet[cause.key].follows_from is None
    told = quiet[effect.key].follows_from
    assert told is not None
    assert (told.finding, told.alert, told.sentence.ja) == (
        "database-connections-exhausted",
        cause.key,
        "database-connections-exhaustedだった。",
    )
    assert quiet[effect.key].inhibited_by == (cause.key,)
    assert quiet[load.key].follows_from is not None

    disk = firing(desk, "HostDiskFull", instance="vm-1", severity="critical")
    desk.take(disk)
    desk.wait(30)
    assert names(desk) == [("firing", "HostDiskFull")]


def test_what_fires_still_is_told_when_the_finding_has_ended(desk: Desk):
    say(desk, POOL)
    desk.take(firing(desk, "PoolSaturated", **LABELS))
    desk.wait(3)
    load = firing(desk, "LoadTimeouts", **LOAD)
    ends = firing(desk, "LoadServerErrors", **LOAD)
    desk.take(load, ends)
    desk.wait(20)
    assert names(desk) == [("firing", "PoolSaturated")]
    desk.take(resolved(desk, ends))
    desk.wait(11)
    say(desk)
    desk.wait(11)
    # Who was not told that it began is not told that it ended.
    assert names(desk) == [("firing", "LoadTimeouts")]


def test_it_is_told_when_the_cause_s_alert_has_ended(desk: Desk):
    say(desk, POOL)
    cause = firing(desk, "PoolSaturated", **LABELS)
    desk.take(cause)
    desk.wait(3)
    desk.take(firing(desk, "LoadTimeouts", **LOAD))
    desk.wait(3)
    desk.take(resolved(desk, cause))
    desk.wait(25)
    assert sorted(names(desk)) == [
        ("firing", "LoadTimeouts"),
        ("firing", "PoolSaturated"),
        ("resolved", "PoolSaturated"),
    ]


def test_nothing_is_held_while_nobody_knows_the_present(desk: Desk):
    desk.take(firing(desk, "PoolSaturated", **LABELS))
    desk.wait(3)
    desk.take(firing(desk, "LoadTimeouts", **LOAD))
    desk.wait(3)
    assert names(desk) == [("firing", "PoolSaturated"), ("firing", "LoadTimeouts")]


def test_a_cause_that_nobody_was_told_of_holds_nothing(desk: Desk):
    say(desk, POOL)
    desk.silence(600, alertname="PoolSaturated")
    desk.take(firing(desk, "PoolSaturated", **LABELS))
    desk.wait(3)
    desk.take(firing(desk, "LoadTimeouts", **LOAD))
    desk.wait(3)
    assert names(desk) == [("firing", "LoadTimeouts")]


def test_a_receiver_that_does_not_take_messages_was_not_told(desk: Desk):
    say(desk, POOL)
    desk.take(firing(desk, "PoolSaturated", **LABELS))
    desk.wait(3)
    with desk.relational.transaction() as session:
        row = {"receiver": "team", "integration": "webhook-0", "failing": True, "refused": False, "reason": "404"}
        session.execute(insert(IntegrationRow).values(**row, target="", step=1, next_ms=desk.now_ms, delay_ms=0))
    desk.take(firing(desk, "LoadTimeouts", **LOAD))
    desk.wait(3)
    assert names(desk) == [("firing", "PoolSaturated"), ("firing", "LoadTimeouts")]


def test_another_receiver_than_the_one_that_knows_is_told(desk: Desk):
    say(desk, POOL)
    desk.take(firing(desk, "PoolSaturated", **LABELS))
    desk.wait(3)
    others = firing(desk, "LoadTimeouts", **LOAD, team="load")
    desk.take(others, firing(desk, "LoadServerErrors", **LOAD))
    desk.wait(3)
    assert names(desk) == [("firing", "PoolSaturated"), ("firing", "LoadTimeouts")]
    assert desk.dispatcher.quiet([others], desk.now_ms)[others.key].follows_from is None


def test_it_can_be_switched_off(desk: Desk):
    desk.write(FILE + "  inhibit_by_findings: false\n")
    say(desk, POOL)
    desk.take(firing(desk, "PoolSaturated", **LABELS))
    desk.wait(3)
    desk.take(firing(desk, "LoadTimeouts", **LOAD))
    desk.wait(3)
    assert names(desk) == [("firing", "PoolSaturated"), ("firing", "LoadTimeouts")]


def test_what_was_told_is_known_after_a_kill(desk: Desk):
    say(desk, POOL)
    desk.take(firing(desk, "PoolSaturated", **LABELS))
    desk.wait(3)
    desk.reopen()
    desk.take(firing(desk, "LoadTimeouts", **LOAD))
    desk.wait(3)
    assert names(desk) == [("firing", "PoolSaturated")]


def test_what_becomes_known_of_an_alert_is_in_the_next_message_and_makes_none(desk: Desk):
    pool = firing(desk, "PoolSaturated", **LABELS)
    desk.take(pool)
    with desk.relational.transaction() as session:
        desk.dispatcher.annotate(session, {pool.key: {"finding": "The pool ran out."}, "gone": {"finding": "No."}})
    desk.wait(3)
    (sent,) = desk.sent()
    assert sent.document["alerts"][0]["annotations"] == {"finding": "The pool ran out."}
    with desk.relational.transaction() as session:
        desk.dispatcher.annotate(session, {pool.key: {"finding": "The pool of 5 ran out."}})
    desk.wait(60)
    assert desk.sent() == []
