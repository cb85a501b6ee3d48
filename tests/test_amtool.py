"""The real amtool against a real server: alerts, groups, receivers and routes; silences that come, change and end."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.alerting import Pager, Watch, make_watch, wait_for

RULES = """
groups:
  - name: rooms
    interval: 500ms
    rules:
      - alert: Hot
        expr: temperature > 30
        labels: {severity: page}
        annotations: {summary: "{{ $labels.room }} is {{ $value }} degrees"}
      - alert: Warm
        expr: temperature > 30
        labels: {severity: ticket}
      - alert: Night
        expr: temperature > 30
        labels: {severity: night}
"""
ROUTES = """
route:
  receiver: pager
  group_by: [room]
  group_wait: 0s
  routes:
    - receiver: team
      matchers: [severity="night"]
      mute_time_intervals: [always-night]
inhibit_rules:
  - source_matchers: [severity="page"]
    target_matchers: [severity="ticket"]
    equal: [room]
time_intervals:
  - name: always-night
    time_intervals:
      - times: [{start_time: "00:00", end_time: "24:00"}]
        weekdays: ["sunday:saturday"]
receivers:
  - name: pager
    webhook_configs: [{url: "http://127.0.0.1:9/very-secret-path"}]
  - name: team
"""


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    folder = tmp_path_factory.mktemp("amtool")
    pager = Pager()
    made = make_watch(folder, pager)
    (folder / "rules.yml").write_text(RULES)
    (folder / "notifications.yml").write_text(ROUTES)
    made.server.start()
    try:
        made.write(35, room="a")
        made.write(36, room="b")
        wait_for("six alerts", lambda: made.get("/api/alerts?sparklines=false")["counts"]["firing"] == 6)
        yield made
    finally:
        made.server.stop()
        pager.close()


def amtool(watch: Watch, *arguments: str) -> str:
    program = shutil.which("amtool")
    assert program, "amtool comes with the package prometheus-alertmanager"
    done = subprocess.run(
        [program, *arguments, f"--alertmanager.url={watch.server.url}/alertmanager"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def alerts(watch: Watch, *arguments: str) -> dict[tuple[str, str], dict[str, Any]]:
    found = json.loads(amtool(watch, "alert", "query", "-o", "json", *arguments))
    return {(one["labels"]["alertname"], one["labels"]["room"]): one for one in found}


def silences(watch: Watch, *arguments: str) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in json.loads(amtool(watch, "silence", "query", "-o", "json", *arguments))}


def test_alerts_with_what_keeps_them_quiet(watch: Watch) -> None:
    # amtool asks for the active ones unless told otherwise.
    shown = alerts(watch)
    assert set(shown) == {("Hot", "a"), ("Hot", "b"), ("Night", "a"), ("Night", "b")}
    hot = shown["Hot", "a"]
    assert hot["status"] == {"inhibitedBy": [], "mutedBy": [], "silencedBy": [], "state": "active"} or (
        # amtool before 0.28 knows no mutedBy.
        hot["status"] == {"inhibitedBy": [], "silencedBy": [], "state": "active"}
    )
    assert hot["receivers"] == [{"name": "pager"}]
    assert hot["annotations"] == {"summary": "a is 35 degrees"}
    assert hot["startsAt"] < hot["endsAt"]
    inhibited = alerts(watch, "--inhibited")
    assert inhibited["Warm", "b"]["status"]["inhibitedBy"] == [shown["Hot", "b"]["fingerprint"]]
    assert inhibited["Warm", "b"]["status"]["state"] == "suppressed"
    assert set(alerts(watch, "room=~a|c", "alertname!=Night")) == {("Hot", "a")}
    everything = watch.get("/alertmanager/api/v2/alerts")
    night = next(one for one in everything if one["labels"]["alertname"] == "Night")
    assert night["status"]["mutedBy"] == ["always-night"]
    assert {one["labels"]["alertname"] for one in watch.get("/alertmanager/api/v2/alerts?receiver=te.m")} == {"Night"}


def test_groups(watch: Watch) -> None:
    groups = watch.get("/alertmanager/api/v2/alerts/groups")
    assert [(one["receiver"]["name"], one["labels"], len(one["alerts"])) for one in groups] == [
        ("pager", {"room": "a"}, 2),
        ("team", {"room": "a"}, 1),
        ("pager", {"room": "b"}, 2),
        ("team", {"room": "b"}, 1),
    ]


def test_the_life_of_a_silence(watch: Watch) -> None:
    id = amtool(watch, "silence", "add", "room=a", "alertname=~Hot|Cold", "-a", "ann", "-c", "painters", "-d", "1h")
    id = id.strip()
    one = silences(watch)[id]
    assert (one["createdBy"], one["comment"], one["status"]["state"]) == ("ann", "painters", "active")
    assert {(m["name"], m["value"], m["isRegex"], m["isEqual"]) for m in one["matchers"]} == {
        ("room", "a", False, True),
        ("alertname", "Hot|Cold", True, True),
    }
    assert ("Hot", "a") not in alerts(watch)
    assert alerts(watch, "--silenced")["Hot", "a"]["status"]["silencedBy"] == [id]
    assert set(silences(watch, "room=a")) == {id}
    assert silences(watch, "room=b") == {}
    # Ours see the same silence.
    assert [silence["id"] for silence in watch.get("/api/silences?state=active")["silences"]] == [id]
    assert amtool(watch, "silence", "update", id, "-d", "2h", "-c", "still painting").strip()
    assert silences(watch)[id]["comment"] == "still painting"
    amtool(watch, "silence", "expire", id)
    assert silences(watch) == {}
    assert ("Hot", "a") in alerts(watch)
    assert id in silences(watch, "--expired")


def test_a_silence_that_comes_from_a_file(watch: Watch, tmp_path: Path) -> None:
    first = amtool(watch, "silence", "add", "room=z", "-a", "ann", "-c", "moving", "-d", "1h").strip()
    exported = json.dumps(list(silences(watch, "room=z").values()))
    amtool(watch, "silence", "expire", first)
    file = tmp_path / "silences.json"
    file.write_text(exported)
    amtool(watch, "silence", "import", "--force", str(file))
    again = silences(watch, "room=z")
    assert len(again) == 1
    assert first not in again
    amtool(watch, "silence", "expire", *again)


def test_other_matchers_make_another_silence(watch: Watch) -> None:
    url = f"{watch.server.url}/alertmanager/api/v2/silences"

    def post(**document: Any) -> Any:
        whole = {
            "startsAt": "2020-01-01T00:00:00Z",
            "endsAt": "2099-01-01T00:00:00Z",
            "createdBy": "ann",
            "comment": "c",
            **document,
        }
        return watch.http.request("POST", url, json=whole)

    matcher = {"name": "room", "value": "y", "isRegex": False}
    first = post(matchers=[matcher]).json()["silenceID"]
    # A start in the past is now, as in Alertmanager.
    assert watch.get(f"/alertmanager/api/v2/silence/{first}")["startsAt"] > "2026"
    second = post(id=first, matchers=[{**matcher, "isEqual": False, "value": "q"}, matcher]).json()["silenceID"]
    assert second != first
    states = {one["id"]: one["status"]["state"] for one in watch.get("/alertmanager/api/v2/silences")}
    assert (states[first], states[second]) == ("expired", "active")
    assert watch.http.request("DELETE", url.replace("silences", f"silence/{second}")).status == 200
    answer = post(id="0123", matchers=[matcher])
    assert (answer.status, answer.json()[:24]) == (404, "There is no silence 0123")


def test_errors_are_a_text(watch: Watch) -> None:
    url = f"{watch.server.url}/alertmanager/api/v2"
    for method, path, status in (
        ("GET", "/silence/nothing", 404),
        ("GET", "/nothing", 404),
        ("GET", "/alerts?filter=room%3D~a%28", 400),
        ("GET", "/silences?filter=%7B%7B", 400),
        ("GET", "/alerts?receiver=(", 400),
        ("POST", "/alerts", 405),
    ):
        answer = watch.http.request(method, url + path, json=[] if method == "POST" else None)
        assert (answer.status, type(answer.json())) == (status, str), (path, answer.data)


def test_status_shows_routes_and_no_secret(watch: Watch) -> None:
    shown = amtool(watch, "config", "show")
    assert "very-secret-path" not in shown
    assert "127.0.0.1:9" not in shown
    assert amtool(watch, "config", "routes", "test", "severity=night", "room=a").strip() == "team"
    assert amtool(watch, "config", "routes", "test", "severity=page").strip() == "pager"
    assert "severity" in amtool(watch, "config", "routes", "show")
    assert watch.get("/alertmanager/api/v2/receivers") == [{"name": "pager"}, {"name": "team"}]
