"""Alerts and rules over HTTP, and as Prometheus has them."""

from pathlib import Path

import pytest

from backend.tests.alerts.watched import Watched, wait_for, watch
from backend.tests.conftest import NOW_MS

RULES = """
groups:
  - name: g
    interval: 2s
    rules:
      - alert: High
        expr: x > 5
        labels: {severity: page}
        annotations:
          summary: "{{ $labels.i }} is at {{ $value }}"
          description: What to do.
          runbook_url: /runbooks/High
          loadwatch_unit: count
          loadwatch_signal: pool_waits
      - alert: Slow
        expr: 3 < y
        for: 1m
      - {record: "x:sum", expr: sum(x), labels: {made: "yes"}}
"""


def fired(watched: Watched) -> None:
    watched.write(a=6, b=7.5, c=1)
    watched.write("y", d=4)
    watched.wait_states(a="firing", b="firing", d="pending")


def test_the_list(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RULES) as watched:
        fired(watched)
        found = watched.get("/api/alerts")
        assert found["counts"] == {"firing": 2, "pending": 1, "acknowledged": 0, "silenced": 0}
        assert found["total"] == 3
        assert found["evaluator"] == "here"
        assert [alert["state"] for alert in found["alerts"]] == ["firing", "firing", "pending"]
        high = next(alert for alert in found["alerts"] if alert["labels"].get("i") == "b")
        assert high["labels"] == {"alertname": "High", "severity": "page", "i": "b"}
        assert (high["name"], high["severity"], high["group"]) == ("High", "page", "g")
        assert (high["summary"], high["description"]) == ("b is at 7.5", "What to do.")
        assert high["runbook_url"] == "/runbooks/High"
        assert (high["value"], high["threshold"], high["unit"]) == (7.5, 5.0, "count")
        assert (high["comparison"], found["alerts"][2]["comparison"]) == (">", ">"), "3 < y is y > 3"
        assert high["active_ms"] == high["fired_ms"] == NOW_MS
        assert high["sparkline"][-1] == 7.5
        assert len(high["sparkline"]) == 60
        assert high["moment_url"].startswith(f"/?from={NOW_MS - 600_000}&to=now")
        assert "loadwatch_unit" not in high["annotations"]
        slow = found["alerts"][2]
        assert (slow["state"], slow["fired_ms"], slow["threshold"]) == ("pending", None, 3.0)


TWO_SEVERITIES = """
groups:
  - name: g
    interval: 1s
    rules:
      - {alert: Busy, expr: x > 5, labels: {severity: info}, annotations: &busy {summary: "{{ $labels.i }} is busy"}}
      - {alert: Busy, expr: x > 8, labels: {severity: warning}, annotations: *busy}
"""


def test_one_series_of_two_severities_is_one_alert_and_counts_once(tmp_path: Path) -> None:
    with watch(tmp_path / "s", TWO_SEVERITIES) as watched:

        def shown() -> list[tuple[str, str]]:
            found = watched.get("/api/alerts")
            assert found["counts"]["firing"] == found["total"] == len(found["alerts"])
            return sorted((one["labels"]["i"], one["severity"]) for one in found["alerts"])

        watched.write(a=6, b=9)
        wait_for("the more severe", lambda: shown() == [("a", "info"), ("b", "warning")])
        watched.write(a=9, b=6)
        wait_for("each as it is now", lambda: shown() == [("a", "warning"), ("b", "info")])


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({"state": "pending"}, ["Slow"]),
        ({"state": ["firing", "pending"], "search": "SLOW"}, ["Slow"]),
        ({"search": "at 7.5 b"}, ["High"]),
        ({"search": "nothing"}, []),
        ({"matcher": 'severity="page"'}, ["High", "High"]),
        ({"matcher": ['severity="page"', "i=~a|c"]}, ["High"]),
        ({"matcher": "severity!=page"}, ["Slow"]),
        ({"limit": 1}, ["High"]),
    ],
)
def test_the_list_filtered(parameters: dict[str, object], names: list[str], filtered: Watched) -> None:
    found = filtered.get("/api/alerts", **parameters)
    assert [alert["name"] for alert in found["alerts"]] == names
    assert found["counts"]["firing"] == 2
    assert found["total"] == (3 if "limit" in parameters else len(names))


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory):
    with watch(tmp_path_factory.mktemp("list") / "s", RULES) as watched:
        fired(watched)
        yield watched


def test_what_cannot_be_asked(filtered: Watched) -> None:
    answer = filtered.server.client.get("/api/alerts", params={"matcher": "=="})
    assert (answer.status_code, answer.json()["code"]) == (422, "alert-matcher")
    for path in ("/api/alerts/nosuch", "/api/alerts/nosuch/series"):
        assert filtered.server.client.get(path).json()["code"] == "alert-not-found"
    answer = filtered.server.client.get("/prometheus/api/v1/rules", params={"type": "other"})
    assert (answer.status_code, answer.json()["errorType"]) == (400, "bad_data")


def test_one_alert_and_its_episodes(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RULES) as watched:
        ids: list[str] = []
        for _ in range(3):
            watched.pass_seconds(10)
            watched.write(a=6)
            watched.wait_states(a="firing")
            ids.append(watched.alerts()[0]["id"])
            watched.pass_seconds(10)
            watched.write(a=1)
            watched.wait_states()
        detail = watched.get(f"/api/alerts/{ids[2]}")
        assert [alert["id"] for alert in detail["earlier"]] == [ids[1], ids[0]]
        assert [(one["from_state"], one["to_state"]) for one in detail["transitions"]] == [
            (None, "firing"),
            ("firing", "resolved"),
        ]
        assert detail["alert"]["resolved_reason"] == "recovered"
        series = watched.get(f"/api/alerts/{ids[2]}/series")
        assert series["threshold"] == 5.0
        assert set(series["values"]) == {None, 6.0, 1.0}
        assert len(series["times_ms"]) == len(series["values"]) <= 500
        history = watched.get("/api/alerts/history", limit=2)
        assert [alert["id"] for alert in history["alerts"]] == [ids[2], ids[1]]
        assert history["more"]
        older = watched.get("/api/alerts/history", end_ms=history["alerts"][-1]["active_ms"] - 1)
        assert [alert["id"] for alert in older["alerts"]] == [ids[0]]
        assert not older["more"]
        assert watched.get("/api/alerts/history", search="A is high")["alerts"]
        assert not watched.get("/api/alerts/history", search="100%")["alerts"]


def test_acknowledgements(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RULES) as watched:
        fired(watched)
        client = watched.server.client
        (alert,) = [one for one in watched.alerts() if one["labels"].get("i") == "a"]
        path = f"/api/alerts/{alert['id']}/acknowledgement"
        said = client.put(path, json={"comment": "Looking."}).json()["acknowledged"]
        assert (said["by"], said["comment"]) == ("local", "Looking.")
        assert watched.get("/api/alerts")["counts"]["acknowledged"] == 1
        assert client.delete(path).json()["acknowledged"] is None
        client.put(path, json={})
        reasons = [one["reason"] for one in watched.get(f"/api/alerts/{alert['id']}")["transitions"]]
        assert reasons == ["", "acknowledged", "unacknowledged", "acknowledged"]
        watched.pass_seconds(1)
        watched.write(a=1)
        watched.wait_states(b="firing", d="pending")
        answer = client.put(path, json={})
        assert (answer.status_code, answer.json()["code"]) == (422, "alert-over")
        # The next episode is another alert, which nobody has seen.
        watched.pass_seconds(1)
        watched.write(a=6)
        watched.wait_states(a="firing", b="firing", d="pending")
        assert all(one["acknowledged"] is None for one in watched.alerts())


def test_dismissal(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RULES) as watched:
        watched.write(a=6)
        watched.wait_states(a="firing")
        (alert,) = watched.alerts()
        client = watched.server.client
        answer = client.post(f"/api/alerts/{alert['id']}/dismiss")
        assert (answer.status_code, answer.json()["code"]) == (422, "alert-holds")
        watched.pass_seconds(301)
        wait_for("without data", lambda: watched.alerts()[0]["no_data"])
        over = client.post(f"/api/alerts/{alert['id']}/dismiss")
        assert (over.json()["state"], over.json()["resolved_reason"]) == ("resolved", "dismissed")
        assert watched.get(f"/api/alerts/{alert['id']}")["transitions"][-1]["by"] == "local"
        assert client.post(f"/api/alerts/{alert['id']}/dismiss").json()["code"] == "alert-over"
        assert watched.states() == {}


def test_rules(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RULES) as watched:
        fired(watched)
        rules = watched.get("/api/rules")
        assert [(file["state"], file["rules"], file["built_in"]) for file in rules["files"]] == [("ok", 3, False)]
        (group,) = rules["groups"]
        assert (group["name"], group["interval_seconds"], group["missed"]) == ("g", 2.0, 0)
        high, slow, recorded = group["rules"]
        assert (high["state"], high["firing"], high["health"], high["line"]) == ("firing", 2, "ok", 6)
        assert (slow["state"], slow["pending"], slow["for_seconds"]) == ("pending", 1, 60.0)
        assert (recorded["kind"], recorded["state"]) == ("recording", "inactive")
        assert all(one["evaluated_ms"] and one["evaluation_seconds"] >= 0 for one in group["rules"])


def test_prometheus_rules_and_alerts(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RULES) as watched:
        fired(watched)
        path = "/prometheus/api/v1/rules"
        (group,) = watched.get(path)["data"]["groups"]
        assert [(rule["name"], rule["type"], rule["health"]) for rule in group["rules"]] == [
            ("High", "alerting", "ok"),
            ("Slow", "alerting", "ok"),
            ("x:sum", "recording", "ok"),
        ]
        assert group["rules"][0]["state"] == "firing"
        assert group["rules"][1]["duration"] == 60
        alerts = group["rules"][0]["alerts"]
        assert {alert["labels"]["i"]: alert["value"] for alert in alerts} == {"a": "6e+00", "b": "7.5e+00"}
        assert alerts[0]["activeAt"] == "2026-01-16T08:00:00.000Z"
        assert group["rules"][2]["labels"] == {"made": "yes"}
        assert len(watched.get("/prometheus/api/v1/alerts")["data"]["alerts"]) == 3

        def names(**parameters: str) -> list[str]:
            return [rule["name"] for one in watched.get(path, **parameters)["data"]["groups"] for rule in one["rules"]]

        assert names(type="alert") == ["High", "Slow"]
        assert names(type="record") == ["x:sum"]
        assert names(**{"rule_name[]": "Slow"}) == ["Slow"]
        assert names(**{"rule_group[]": "other"}) == []
        assert names(**{"file[]": str(watched.rules)}) == ["High", "Slow", "x:sum"]
        excluded = watched.get(path, exclude_alerts="true")["data"]["groups"][0]["rules"][0]
        assert excluded["alerts"] == []


RUN_RULES = """
groups:
  - name: g
    interval: 1s
    rules:
      - {alert: High, expr: x > 5, annotations: {runbook_url: '{{ $externalURL }}/runbooks/pool-waits'}}
      - {alert: Slow, expr: y > 3, keep_firing_for: 1h}
      - {alert: Failing, expr: "sum by (run) (rate(requests[1m])) > 0", annotations: {loadwatch_no_data: keep}}
"""


def test_alerts_of_a_run_are_one_incident_that_is_acknowledged_once(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RUN_RULES) as watched:
        client = watched.server.client
        run = client.post("/api/runs", json={"name": "Bulk inserts"}).json()["id"]
        watched.write(a=6)
        watched.wait_states(a="firing")
        watched.pass_seconds(1)
        watched.write("y", b=4)
        watched.wait_states(a="firing", b="firing")
        first, second = sorted(watched.alerts(), key=lambda one: one["name"])
        assert first["incident"] == second["incident"] == {"id": first["incident"]["id"], "head": first["id"]}
        detail = watched.get(f"/api/alerts/{second['id']}")
        incident = detail["incident"]
        assert detail["alert"]["id"] == second["id"]
        assert (incident["id"], incident["head"]["id"]) == (first["incident"]["id"], first["id"])
        assert incident["head"]["run"] == {"id": run, "name": "Bulk inserts"}
        assert [one["id"] for one in incident["others"]] == [second["id"]]
        assert (incident["total"], incident["firing"], incident["acknowledged"]) == (2, 2, 0)
        assert (incident["began_ms"], incident["ended_ms"]) == (NOW_MS, None)
        assert [len(incident["steps"][language]) for language in ("en", "ja")] == [3, 3]
        path = f"/api/alerts/{second['id']}/acknowledgement"
        assert client.put(path, json={"comment": "Mine.", "incident": True}).status_code == 200
        said = [one["acknowledged"] for one in watched.alerts()]
        assert said == [{"by": "local", "at_ms": NOW_MS + 1_000, "comment": "Mine."}] * 2
        watched.pass_seconds(1)
        watched.write(c=6)  # It joins.
        watched.wait_states(a="firing", b="firing", c="firing")
        said = {one["labels"]["i"]: one["acknowledged"] for one in watched.alerts()}
        assert (said["a"]["comment"], said["b"]["comment"], said["c"]) == ("Mine.", "Mine.", None), "nobody saw c"
        assert watched.get(f"/api/alerts/{first['id']}")["incident"]["acknowledged"] == 2
        assert client.delete(path, params={"incident": True}).json()["acknowledged"] is None
        assert [one["acknowledged"] for one in watched.alerts()] == [None] * 3
        watched.write(c=1)
        watched.wait_states(a="firing", b="firing")
        history = watched.get("/api/alerts/history")["alerts"]
        assert {one["incident"]["id"] for one in history} == {incident["id"]}
        assert {one["incident"]["head"] for one in history} == {first["id"]}


def test_what_a_run_brought_about_ends_with_it(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RUN_RULES) as watched:
        client = watched.server.client
        run = client.post("/api/runs", json={"name": "Bulk inserts"}).json()["id"]
        load = {"__name__": "requests", "run": run}
        watched.server.write((load, [(NOW_MS - 10_000, 1), (NOW_MS, 100)]))
        watched.write(a=6)
        watched.write("y", b=4)
        watched.wait_states(a="firing", b="firing", Failing="firing")
        watched.pass_seconds(5)
        watched.write("y", b=1)
        assert client.post(f"/api/runs/{run}/finish", json={"ended_ms": watched.server.clock.now_ms}).status_code == 200
        watched.pass_seconds(2)
        watched.wait_states(a="firing", b="firing")  # Kept, as something of the run holds still.
        watched.write(a=1)
        watched.wait_states()
        ends = {one["name"]: one["resolved_reason"] for one in watched.get("/api/alerts/history")["alerts"]}
        assert ends == {"High": "recovered", "Slow": "recovered", "Failing": "run-ended"}


def test_an_alert_that_is_alone_is_its_own_incident(tmp_path: Path) -> None:
    with watch(tmp_path / "s", RULES) as watched:
        fired(watched)
        for one in watched.alerts():
            assert one["incident"] == {"id": one["id"], "head": one["id"]}
            incident = watched.get(f"/api/alerts/{one['id']}")["incident"]
            assert (incident["head"]["id"], incident["others"], incident["total"]) == (one["id"], [], 1)
            assert incident["steps"] == {}, "its runbook is none of ours"
