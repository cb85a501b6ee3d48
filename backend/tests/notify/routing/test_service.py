"""Routes over HTTP, and what the dispatcher's alerts do to them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.alerting.notify.schemas import MatcherDocument, MatchOperatorName, RouteQuestion

from backend.tests.conftest import NOW_MS, RunningServer
from backend.tests.notify.desk import Desk, firing, resolved

FILE = """
route:
  receiver: team
  group_by: [alertname]
  routes:
  - receiver: quiet
    matchers: ['run=~".+"']
  - receiver: pager
    matchers: [severity="page"]
    mute_time_intervals: [mornings]
    group_by: ['...']
receivers:
- name: team
  webhook_configs: [{url: 'https://hook.example.org/secret'}]
- name: quiet
- name: pager
  pagerduty_configs: [{routing_key: secret}]
time_intervals:
- name: mornings
  time_intervals: [{times: [{start_time: '06:00', end_time: '12:00'}]}]
inhibit_rules:
- {name: down, source_matchers: [alertname=Down], target_matchers: [severity=page], equal: [db]}
loadwatch:
  run_notices: [{receiver: team, events: [finished], matchers: [verdict=failed]}]
"""


def test_without_a_file_everything_is_on_the_page_alone(shared_server: RunningServer) -> None:
    routing = shared_server.client.get("/api/routes").json()
    assert (routing["path"], routing["error"], routing["root"]["receiver"]) == (None, "", "page")
    answer = shared_server.client.post("/api/routes/resolve", json={"labels": {"alertname": "Lag"}}).json()
    assert [(one["receiver"], one["integrations"]) for one in answer["matches"]] == [("page", 0)]


@pytest.fixture
def server(tmp_path: Path, start_server: Callable[..., Any]) -> Iterator[RunningServer]:
    (tmp_path / "n.yml").write_text(FILE)
    with start_server(tmp_path / "data", notifications=tmp_path / "n.yml") as running:
        yield running


def test_the_tree_in_force_and_a_broken_file(server: RunningServer, tmp_path: Path) -> None:
    routing = server.client.get("/api/routes").json()
    assert "secret" not in str(routing)
    quiet, pager = routing["root"]["routes"]
    assert (quiet["id"], quiet["matchers"], quiet["group_by"]) == ("0.0", ['run=~".+"'], ["alertname"])
    assert (pager["receiver"], pager["group_by"], pager["muted_now"]) == ("pager", ["..."], True)
    assert routing["time_intervals"] == [{"name": "mornings", "lines": ["times: 06:00-12:00"], "active_now": True}]
    assert routing["inhibit_rules"][0]["equal"] == ["db"]
    assert routing["run_notices"] == [{"receiver": "team", "events": ["finished"], "matchers": ['verdict="failed"']}]
    (tmp_path / "n.yml").write_text(FILE.replace("receiver: quiet", "receiver: quite"))
    broken = server.client.post("/api/routes/reload").json()
    assert (broken["line"], broken["root"]) == (6, routing["root"])
    assert "did you mean 'quiet'?" in broken["error"]


def test_where_labels_would_go(server: RunningServer) -> None:
    def resolve(at_ms: int | None = None, **labels: str) -> Any:
        body = {"labels": labels, "at_ms": at_ms}
        return server.client.post("/api/routes/resolve", json=body).json()["matches"]

    (match,) = resolve(alertname="Lag", severity="page")
    assert match == {
        "route_id": "0.1",
        "path": ["0", "0.1"],
        "receiver": "pager",
        "integrations": 1,
        "group_labels": {"alertname": "Lag", "severity": "page"},
        "muted": True,
        "muted_by": ["mornings"],
    }
    (match,) = resolve(NOW_MS + 6 * 3_600_000, severity="page")
    assert not match["muted"]
    (match,) = resolve(run="2026-1", severity="page")
    assert (match["receiver"], match["integrations"]) == ("quiet", 0)


def test_what_would_keep_it_quiet_and_how_many_groups_fire(tmp_path: Path) -> None:
    desk = Desk(tmp_path, FILE)
    cause = firing(desk, "Down", db="orders")
    desk.take(cause, firing(desk, "Lag", "1", instance="a"), firing(desk, "Lag", "2", instance="b"))
    silence = desk.silence(60, alertname="Slow")
    question = RouteQuestion(labels={"alertname": "Slow", "severity": "page", "db": "orders"})
    answer = desk.routing.resolve(question)
    assert (answer.silenced_by, answer.inhibited_by) == ([silence], ["Down"])
    assert desk.routing.read().root.groups == 2
    matcher = MatcherDocument(name="alertname", operator=MatchOperatorName.MATCHES, value="Lag|Down")
    assert desk.silences.preview([matcher]).names == ["Down", "Lag"]
    assert desk.silences.preview([matcher]).alerts == 3
    desk.take(resolved(desk, cause))
    assert desk.routing.read().root.groups == 1
    assert desk.routing.resolve(question).inhibited_by == []
    desk.close()
