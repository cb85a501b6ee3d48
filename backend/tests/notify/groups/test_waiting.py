"""The first message of an alert that a finding may explain waits for it, and no other message does."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backend.tests.notify.causes.moments import APP, AT_MS, moment, standing
from backend.tests.notify.desk import START_MS, Desk, firing, statuses

FILE = """
route: {receiver: team, group_by: [instance], group_wait: 0s, group_interval: 1m}
receivers:
  - {name: team, webhook_configs: [{url: 'http://127.0.0.1:9/'}]}
loadwatch: {default_inhibit_rules: false, inhibit_by_findings: false}
"""
PLACE = {**APP, "db_name": "main"}
POOL = standing("pool-exhausted", PLACE)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path, FILE)
    desk.moment = moment(at_ms=START_MS - 1_000)
    yield desk
    desk.close()


def test_it_waits_until_the_finding_is_there(desk: Desk) -> None:
    desk.take(firing(desk, "PoolWaits", **PLACE))
    desk.wait(2)
    assert desk.sent() == []
    desk.moment = moment(POOL, at_ms=AT_MS + 2_000)
    desk.wait(0.5)
    (sent,) = desk.sent()
    annotations = sent.document["alerts"][0]["annotations"]
    assert (annotations["finding_id"], annotations["finding"]) == ("pool-exhausted", POOL.sentence.en)
    assert not [name for name in annotations if name.startswith("loadwatch_")]


def test_it_waits_no_longer_once_somebody_has_looked_and_found_nothing(desk: Desk) -> None:
    desk.take(firing(desk, "PoolWaits", **PLACE))
    desk.moment = moment(at_ms=AT_MS)
    desk.wait(0.5)
    assert statuses(desk.sent()) == [[("firing", "PoolWaits")]]


@pytest.mark.parametrize("killed", [False, True])
def test_it_waits_five_seconds_at_most_and_a_kill_loses_nothing(desk: Desk, *, killed: bool) -> None:
    desk.take(firing(desk, "PoolWaits", **PLACE))
    desk.wait(4.9)
    assert desk.sent() == []
    if killed:
        desk.reopen()
    desk.wait(0.1)
    assert statuses(desk.sent()) == [[("firing", "PoolWaits")]]
    desk.wait(300)
    assert desk.sent() == []


def test_no_other_alert_waits_and_it_follows_in_the_same_group(desk: Desk) -> None:
    desk.take(firing(desk, "PoolWaits", **PLACE))
    desk.wait(1)
    desk.take(firing(desk, "Mine", **PLACE))
    assert statuses(desk.sent()) == [[("firing", "Mine")]]
    desk.wait(4)
    assert statuses(desk.sent()) == [[("firing", "Mine"), ("firing", "PoolWaits")]]


def test_what_has_its_finding_or_is_told_where_nobody_looks_does_not_wait(desk: Desk) -> None:
    alert = firing(desk, "PoolWaits", "1", **PLACE)
    desk.take(replace(alert, annotations={"finding": "It ran out.", "finding_id": "pool-exhausted"}))
    assert len(desk.sent()) == 1
    desk.moment = None
    desk.take(firing(desk, "PoolWaits", "2"))
    assert len(desk.sent()) == 1


def test_an_alert_that_was_told_of_is_not_taken_back_to_wait(desk: Desk) -> None:
    """Nobody looked when it began; when somebody does, its message has gone."""
    desk.moment = None
    desk.take(firing(desk, "PoolWaits", **PLACE))
    assert len(desk.sent()) == 1
    desk.moment = moment(at_ms=START_MS - 1_000)
    desk.wait(1)
    desk.take(firing(desk, "Mine", "m", **PLACE))
    desk.wait(120)
    assert statuses(desk.sent()) == [[("firing", "Mine"), ("firing", "PoolWaits")]]
