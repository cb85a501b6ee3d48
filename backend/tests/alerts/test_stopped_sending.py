"""A system that nobody sends any more: its alerts end as that, whoever was told hears it, and the page asks."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from backend.tests.alerts.watched import Watched, wait_for, watch
from backend.tests.notify.receiving import Receiver, run_receiver

RULES = """
groups:
  - name: g
    interval: 1s
    rules:
      - alert: Full
        expr: x > 5
        keep_firing_for: 1m
        labels: {severity: critical}
        annotations: {summary: '{{ $labels.instance }} is full'}
      - alert: Vanished
        expr: y > 5
        annotations: {loadwatch_no_data: alert}
"""
ROUTES = """
route: {{receiver: pager, group_by: [alertname, instance], group_wait: 0s, group_interval: 1s}}
receivers:
  - name: pager
    webhook_configs: [{{url: '{url}', send_resolved: false}}]
"""
MINUTE = 60


@contextmanager
def house(folder: Path, receiver: Receiver) -> Generator[Watched]:
    folder.mkdir(exist_ok=True)
    (folder / "notifications.yml").write_text(ROUTES.format(url=receiver.url))
    with watch(folder, RULES, notifications=folder / "notifications.yml", notify_networks=("127.0.0.0/8",)) as watched:
        yield watched


def send(watched: Watched, *instances: str, up: float = 1, **metrics: float) -> None:
    now_ms = watched.server.clock.now_ms
    for instance in instances:
        labels = {"job": "app", "instance": instance}
        series = [({"__name__": name, **labels}, [(now_ms, value)]) for name, value in metrics.items()]
        watched.server.write(({"__name__": "up", **labels, "collector": "dbstats"}, [(now_ms, up)]), *series)


def firing(watched: Watched) -> set[tuple[str, str, bool]]:
    return {
        (one["name"], one["labels"]["instance"], one["no_data"])
        for one in watched.alerts(sparklines=False)
        if one["state"] == "firing"
    }


def passed(watched: Watched, seconds: float, *instances: str, up: float = 0) -> None:
    """Let time pass in which only these are sent, without what their alerts look at."""
    while seconds > 0:
        watched.pass_seconds(min(seconds, 4 * MINUTE))
        seconds -= 4 * MINUTE
        if instances:
            send(watched, *instances, up=up)
        now_ms = watched.server.clock.now_ms
        wait_for("evaluated", lambda at_ms=now_ms: watched.get("/api/alerts")["evaluated_ms"] == at_ms)


def heard(receiver: Receiver, ended: bool) -> list[dict[str, Any]]:
    return [
        alert
        for request in receiver.requests
        for alert in request.json["alerts"]
        if (alert["status"] == "resolved") is ended
    ]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with run_receiver() as receiver:
        yield receiver


def test_what_nobody_sends_ends_after_15_minutes_and_is_told_as_that(tmp_path: Path, receiver: Receiver) -> None:
    with house(tmp_path / "s", receiver) as watched:
        send(watched, "away", "down", x=6)
        send(watched, "vanished", y=1)
        wait_for("both fire", lambda: firing(watched) == {("Full", "away", False), ("Full", "down", False)})
        wait_for("told", lambda: len(heard(receiver, ended=False)) == 2)
        # The metric is gone, and nobody knows better: both stay. One agent says that it cannot read its target.
        passed(watched, 6 * MINUTE, "down")
        both = {("Full", "away", True), ("Full", "down", True)}
        wait_for("no data", lambda: firing(watched) == {*both, ("Vanished", "vanished", False)})
        passed(watched, 8.9 * MINUTE, "down")
        assert firing(watched) == {*both, ("Vanished", "vanished", False)}
        passed(watched, 0.1 * MINUTE + 1, "down")
        wait_for("stopped", lambda: firing(watched) == {("Full", "down", True)})
        passed(watched, 60 * MINUTE, "down")
        assert firing(watched) == {("Full", "down", True)}

        # Whoever was paged hears it, also one that does without recoveries; it is called no recovery.
        wait_for("heard", lambda: len(heard(receiver, ended=True)) == 2)
        (ended,) = (one for one in heard(receiver, ended=True) if one["labels"]["alertname"] == "Full")
        assert ended["annotations"]["ended"] == "stopped-sending"
        history = watched.get("/api/alerts/history")["alerts"]
        (past,) = (one for one in history if one["labels"]["instance"] == "away")
        assert past["resolved_reason"] == "stopped-sending"
        assert watched.get(f"/api/alerts/{past['id']}")["incident"]["ended_ms"] is not None
        assert watched.get("/api/alerts")["counts"]["firing"] == 1

        # It is not forgotten: the targets say that it is gone, until somebody says that it was taken away.
        gone = {one["instance"]: one["gone"] for one in watched.get("/api/targets")["targets"]}
        assert gone == {"away": True, "down": False, "vanished": True}

        # It comes back, and its condition holds still: that is a new alert.
        send(watched, "away", x=7)
        wait_for("fires again", lambda: ("Full", "away", False) in firing(watched))


def test_what_was_taken_away_does_not_wait_for_15_minutes(tmp_path: Path, receiver: Receiver) -> None:
    with house(tmp_path / "s", receiver) as watched:
        send(watched, "away", x=6)
        wait_for("fires", lambda: firing(watched) == {("Full", "away", False)})
        passed(watched, 6 * MINUTE)
        wait_for("no data", lambda: firing(watched) == {("Full", "away", True)})
        answer = watched.server.client.post(
            "/api/targets/answers", json={"targets": [{"job": "app", "instance": "away"}], "taken_away": True}
        )
        assert answer.status_code == 200
        passed(watched, 10)
        wait_for("ended", lambda: firing(watched) == set())


def test_an_hour_without_a_server_takes_nothing_away(tmp_path: Path, receiver: Receiver) -> None:
    with house(tmp_path / "s", receiver) as watched:
        send(watched, "a", x=6)
        wait_for("fires", lambda: firing(watched) == {("Full", "a", False)})
        later_ms = watched.server.clock.now_ms + 60 * MINUTE * 1_000
    with house(tmp_path / "s", receiver) as watched:
        watched.server.clock.now_ms = later_ms
        wait_for("no data", lambda: firing(watched) == {("Full", "a", True)})
        passed(watched, 14 * MINUTE)
        assert firing(watched) == {("Full", "a", True)}
        passed(watched, 2 * MINUTE)
        wait_for("stopped", lambda: firing(watched) == set())
