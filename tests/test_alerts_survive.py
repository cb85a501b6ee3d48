"""kill -9 between every two steps of a change, its way to the receiver, and its acknowledgement.

Nothing is lost; what comes twice bears the same id. What had begun has begun when it had begun.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.alerting import Pager, Watch, make_watch, transitions, wait_for

DIES_AT = (
    "transition-before-commit",
    "transition-after-commit",
    "after-claim",
    "after-send",
    "after-record",
)


@pytest.fixture
def pager() -> Iterator[Pager]:
    pager = Pager()
    yield pager
    pager.close()


@pytest.fixture
def watches() -> Iterator[list[Watch]]:
    made: list[Watch] = []
    yield made
    for watch in made:
        if watch.server.process is not None:
            watch.server.kill()


def die(watch: Watch, place: str) -> None:
    """Start with a fault; the caller makes it happen."""
    watch.server.environment = {**watch.server.environment, "LOADWATCH_FAULT": place}
    watch.server.start()


def come_back(watch: Watch) -> None:
    """Wait for the death, and start without the fault."""
    assert watch.server.process is not None
    assert watch.server.process.wait(180) == -9
    watch.server.environment = {
        name: value for name, value in watch.server.environment.items() if name != "LOADWATCH_FAULT"
    }
    watch.server.start()


@pytest.mark.parametrize("place", DIES_AT)
def test_an_alert_that_begins_is_told_once(place: str, tmp_path: Path, pager: Pager, watches: list[Watch]) -> None:
    watch = make_watch(tmp_path / "s", pager)
    watches.append(watch)
    die(watch, place)
    watch.write(35)
    come_back(watch)
    watch.write(35)
    wait_for("told", lambda: pager.statuses() == ["firing"])
    wait_for("firing", lambda: watch.state() == "firing")
    watch.write(20)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"])
    assert watch.server.stop() == 0
    assert pager.statuses() == ["firing", "resolved"]
    assert transitions(watch) == [(None, "firing", ""), ("firing", "resolved", "recovered")]


@pytest.mark.parametrize("place", ["transition-before-commit", "transition-after-commit", "after-send"])
def test_an_alert_that_ends_is_told_once(place: str, tmp_path: Path, pager: Pager, watches: list[Watch]) -> None:
    watch = make_watch(tmp_path / "s", pager)
    watches.append(watch)
    watch.server.start()
    watch.write(35)
    wait_for("told", lambda: pager.statuses() == ["firing"])
    (alert,) = watch.alerts()
    assert watch.server.stop() == 0

    die(watch, place)
    watch.write(20)
    come_back(watch)
    watch.write(20)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"])
    over = watch.get(f"/api/alerts/{alert['id']}")["alert"]
    assert (over["active_ms"], over["fired_ms"]) == (alert["active_ms"], alert["fired_ms"])
    assert watch.server.stop() == 0
    assert pager.statuses() == ["firing", "resolved"]


@pytest.mark.parametrize("place", ["acknowledge-before-commit", "acknowledge-after-commit"])
def test_an_acknowledgement_is_there_or_not(place: str, tmp_path: Path, pager: Pager, watches: list[Watch]) -> None:
    watch = make_watch(tmp_path / "s", pager)
    watches.append(watch)
    die(watch, place)
    watch.write(35)
    wait_for("told", lambda: pager.statuses() == ["firing"])
    (alert,) = watch.alerts()
    with pytest.raises(Exception):  # noqa: B017, PT011 - the connection ends in one way or another
        watch.acknowledge(alert["id"])
    come_back(watch)
    (again,) = watch.alerts()
    assert again["id"] == alert["id"]
    assert (again["acknowledged"] is not None) == (place == "acknowledge-after-commit")
    watch.acknowledge(alert["id"])
    watch.write(20)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"])


def test_pending_since_survives_and_time_without_a_server_does_not_count(
    tmp_path: Path, pager: Pager, watches: list[Watch]
) -> None:
    watch = make_watch(tmp_path / "s", pager, for_="8s")
    watches.append(watch)
    watch.server.start()
    watch.write(35)
    wait_for("pending", lambda: watch.state() == "pending")
    (alert,) = watch.alerts()
    watch.server.kill()
    watch.server.start()
    watch.write(35)
    (again,) = watch.alerts()
    assert again["id"] == alert["id"]
    assert again["active_ms"] == alert["active_ms"]
    wait_for("firing", lambda: watch.state() == "firing")
    (fired,) = watch.alerts()
    assert fired["id"] == alert["id"]
    assert fired["active_ms"] == alert["active_ms"]
    assert fired["fired_ms"] - fired["active_ms"] >= 8_000
    wait_for("told", lambda: pager.statuses() == ["firing"])


def test_a_metric_that_vanishes_never_resolves(tmp_path: Path, pager: Pager, watches: list[Watch]) -> None:
    """Samples end; the look-back of five minutes is crossed by samples that are nearly as old."""
    watch = make_watch(tmp_path / "s", pager)
    watches.append(watch)
    watch.server.start()

    def told() -> bool:
        watch.write(35, age_ms=290_000)  # once more: a busy server may look at one when it is too old
        return pager.statuses() == ["firing"]

    wait_for("told", told)
    wait_for("without data", lambda: watch.alerts()[0]["no_data"])
    assert watch.state() == "firing"
    watch.server.kill()
    watch.server.start()
    (alert,) = watch.alerts()
    assert alert["state"] == "firing"
    assert alert["no_data"]
    watch.write(36)
    wait_for("data again", lambda: not watch.alerts()[0]["no_data"])
    watch.write(20)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"])
    assert [reason for _, _, reason in transitions(watch)] == ["", "no-data", "data-back", "recovered"]
