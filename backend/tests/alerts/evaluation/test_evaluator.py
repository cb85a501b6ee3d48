"""Rules evaluated on real samples as they arrive, with states in real tables, over restarts and reloads."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from loadwatch_backend.alerting.alerts.history.journal import Entry, Journal, Request
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from structlog.testing import capture_logs

from backend.tests.alerts.watched import wait_for, watch
from backend.tests.conftest import NOW_MS

HIGH = """
groups:
  - name: g
    interval: {interval}
    rules:
      - alert: High
        expr: x > 5
        {more}
"""
SLOW = HIGH.format(interval="1h", more="labels: {severity: page}")


def test_rules_are_evaluated_when_their_samples_arrive(tmp_path: Path) -> None:
    """The group's interval is an hour: only arrivals can be the reason."""
    with watch(tmp_path / "s", SLOW) as watched:
        wait_for("a first evaluation", lambda: watched.get("/api/alerts")["evaluated_ms"] is not None)
        watched.write(a=6, b=1)
        watched.wait_states(a="firing")
        watched.write(a=1, b=7)
        watched.wait_states(b="firing")
        watched.write(b=1)
        watched.wait_states()


def test_samples_that_arrive_while_a_turn_begins_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are younger than the time that this turn evaluates at, and nothing else would wake the rule for an hour."""
    beat = Journal.beat
    with watch(tmp_path / "s", SLOW) as watched:
        wait_for("a first evaluation", lambda: watched.get("/api/alerts")["evaluated_ms"] is not None)
        written: list[int] = []

        def write_and_beat(journal: Journal, now_ms: int) -> Sequence[Request]:
            if not written:
                written.append(now_ms)
                watched.pass_seconds(1)
                watched.write(a=6)
                wait_for("it can be read", lambda: watched.query("x") == {"a": 6})
            return beat(journal, now_ms)

        monkeypatch.setattr(Journal, "beat", write_and_beat)
        watched.wait_states(a="firing")
        assert written


def test_what_a_recording_rule_makes_wakes_rules_of_other_groups(tmp_path: Path) -> None:
    rules = """
groups:
  - name: second
    interval: 1h
    rules: [{alert: Twice, expr: "x:twice > 10"}]
  - name: first
    interval: 1h
    rules:
      - {record: "x:twice", expr: 2 * x, labels: {kind: made}}
      - {record: "x:four", expr: "2 * x:twice"}
"""
    with watch(tmp_path / "s", rules) as watched:
        watched.write(a=6, b=1)
        watched.wait_states(a="firing")
        assert watched.query("x:twice") == {"a": 12, "b": 2}
        wait_for("in the same evaluation", lambda: watched.query("x:four") == {"a": 24, "b": 4})
        assert watched.query('x:twice{kind="made"}') == {"a": 12, "b": 2}


def test_series_that_a_rule_no_longer_makes_end(tmp_path: Path) -> None:
    rules = 'groups: [{name: g, interval: 1h, rules: [{record: "x:high", expr: x > 5}]}]'
    with watch(tmp_path / "s", rules) as watched:
        watched.write(a=6, b=7)
        wait_for("made", lambda: watched.query("x:high") == {"a": 6, "b": 7})
        watched.pass_seconds(1)
        watched.write(a=6, b=1)
        wait_for("ended", lambda: watched.query("x:high") == {"a": 6})


def test_alerts_are_series_too(tmp_path: Path) -> None:
    with watch(tmp_path / "s", HIGH.format(interval="1h", more="for: 10s")) as watched:
        watched.write(a=6)
        wait_for("pending", lambda: watched.query('ALERTS{alertstate="pending"}') == {"a": 1})
        assert watched.query("ALERTS_FOR_STATE") == {"a": NOW_MS / 1_000}
        watched.pass_seconds(10)
        watched.write(a=6)
        wait_for("firing", lambda: watched.query('ALERTS{alertstate="firing", alertname="High"}') == {"a": 1})
        assert watched.query('ALERTS{alertstate="pending"}') == {}
        watched.pass_seconds(1)
        watched.write(a=1)
        wait_for("over", lambda: watched.query("ALERTS") == {})
        assert watched.query("ALERTS_FOR_STATE") == {}


def test_what_rules_write_is_no_sample_of_a_target(tmp_path: Path) -> None:
    rules = 'groups: [{name: g, interval: 1s, rules: [{record: "x:now", expr: vector(time())}]}]'
    with watch(tmp_path / "s", rules) as watched:
        watched.write(a=6)
        watched.pass_seconds(60)
        wait_for("made", lambda: watched.query("x:now").get("x:now", 0) >= NOW_MS / 1_000 + 60)
        assert watched.get("/api/status")["newest_sample_ms"] == NOW_MS


def test_states_outlive_a_restart(tmp_path: Path) -> None:
    rules = HIGH.format(interval="1s", more="for: 10s")
    with watch(tmp_path / "s", rules) as watched:
        watched.write(a=6)
        watched.wait_states(a="pending")
        (before,) = watched.alerts()
    with watch(tmp_path / "s", rules) as watched:
        (after,) = watched.alerts()
        assert (after["id"], after["active_ms"], after["state"]) == (before["id"], before["active_ms"], "pending")
        watched.pass_seconds(10)
        watched.write(a=6)
        watched.wait_states(a="firing")
    with watch(tmp_path / "s", rules) as watched:
        assert watched.states() == {"a": "firing"}
        watched.pass_seconds(11)
        watched.write(a=1)
        watched.wait_states()


def test_rules_that_are_as_they_were_keep_their_alerts(tmp_path: Path) -> None:
    other = "      - {alert: Other, expr: y > 5}\n"
    with watch(tmp_path / "s", SLOW) as watched:
        watched.write(a=6)
        watched.wait_states(a="firing")
        (before,) = watched.alerts()
        watched.rules.write_text(SLOW + other)
        assert watched.server.client.post("/api/rules/reload").status_code == 200
        watched.write("y", b=6)
        watched.wait_states(a="firing", b="firing")
        watched.rules.write_text(SLOW.replace("> 5", "> 6") + other)
        watched.server.client.post("/api/rules/reload")
        watched.wait_states(b="firing")
        over = watched.get(f"/api/alerts/{before['id']}")
        assert over["alert"]["resolved_reason"] == "rule-gone"
        assert over["transitions"][-1]["reason"] == "rule-gone"


BROKEN = SLOW.replace("> 5", "> 5: [")
MISTYPED = SLOW.replace("> 5", "> > 5") + "      - {alert: Other, expr: y > 5}\n"


@pytest.mark.parametrize(("mistyped", "state"), [(BROKEN, "broken"), (MISTYPED, "partial")])
def test_a_mistyped_rule_or_file_resolves_nothing_not_even_over_a_restart(
    tmp_path: Path, mistyped: str, state: str
) -> None:
    with watch(tmp_path / "s", SLOW) as watched:
        watched.write(a=6)
        watched.wait_states(a="firing")
        watched.rules.write_text(mistyped)
        files = watched.server.client.post("/api/rules/reload").json()["files"]
        assert files[0]["state"] == state
        watched.write(a=6)
        assert watched.states() == {"a": "firing"}
    with watch(tmp_path / "s", mistyped) as watched:
        wait_for("evaluates", lambda: watched.get("/api/alerts")["evaluator"] == "here")
        assert watched.states() == {"a": "firing"}
        watched.rules.write_text(SLOW)
        watched.server.client.post("/api/rules/reload")
        watched.write(a=1)
        watched.wait_states()


def test_a_rule_that_cannot_be_read_leaves_the_others_of_its_file(tmp_path: Path) -> None:
    with watch(tmp_path / "s", MISTYPED) as watched:
        rules = watched.get("/api/rules")
        (file,) = (one for one in rules["files"] if not one["built_in"])
        assert (file["state"], file["line"], file["rules"]) == ("partial", 7, 1)
        assert f"{watched.rules}:7:15: invalid PromQL" in file["error"]
        watched.write("y", b=6)
        watched.wait_states(b="firing")
        (group,) = watched.get("/prometheus/api/v1/rules")["data"]["groups"]
        assert [rule["name"] for rule in group["rules"]] == ["Other"]
        # What is taken out of the file is gone, whatever else there is that cannot be read.
        watched.rules.write_text(MISTYPED.replace("alert: Other", "alert: Another"))
        watched.server.client.post("/api/rules/reload")
        wait_for("only Another", lambda: [one["name"] for one in watched.alerts()] == ["Another"])


def test_a_series_that_vanishes_is_kept_told_or_over_as_the_rule_says(tmp_path: Path) -> None:
    rules = "groups:\n  - name: g\n    rules:\n" + "".join(
        f"      - {{alert: {policy}, expr: x > 5, annotations: {{loadwatch_no_data: {policy}}}}}\n"
        for policy in ("keep", "alert", "ok")
    )

    def found(watched: object) -> set[tuple[str, str, bool]]:
        assert isinstance(watched, type(first))
        return {
            (alert["name"], "gone" if alert["labels"].get("no_data") else "high", alert["no_data"])
            for alert in watched.alerts(sparklines=False)
        }

    with watch(tmp_path / "s", rules) as first:
        first.write(a=6)
        wait_for("all", lambda: found(first) == {(name, "high", False) for name in ("keep", "alert", "ok")})
        first.pass_seconds(301)
        gone = {("keep", "high", True), ("alert", "high", True), ("alert", "gone", False)}
        wait_for("by its policy", lambda: found(first) == gone)
        assert all("loadwatch_no_data" not in alert["annotations"] for alert in first.alerts())
    with watch(tmp_path / "s", rules) as watched:
        watched.server.clock.now_ms = NOW_MS + 302_000
        wait_for("evaluated again", lambda: watched.get("/api/alerts")["evaluated_ms"] == NOW_MS + 302_000)
        assert found(watched) == gone
        watched.write(a=1)
        wait_for("data again", lambda: found(watched) == set())


def test_a_series_that_vanishes_while_nobody_looks_is_noticed(tmp_path: Path) -> None:
    rules = HIGH.format(interval="1s", more="annotations: {loadwatch_no_data: alert}")
    with watch(tmp_path / "s", rules) as watched:
        watched.write(a=1)
        wait_for("evaluated", lambda: watched.get("/api/alerts")["evaluated_ms"] is not None)
        watched.pass_seconds(2)
        wait_for("noted", lambda: watched.get("/api/alerts")["evaluated_ms"] == NOW_MS + 2_000)
    with watch(tmp_path / "s", rules) as watched:
        watched.pass_seconds(400)
        wait_for("told", lambda: [one["labels"].get("no_data") for one in watched.alerts()] == ["true"])


def test_a_rule_that_fails_keeps_its_alerts_and_says_why(tmp_path: Path) -> None:
    rules = HIGH.format(interval="1s", more="labels: {severity: page}").replace("x > 5", "x * on() group_left() y > 5")
    with watch(tmp_path / "s", rules) as watched:
        watched.write("y", one=1)
        watched.write(a=6)
        watched.wait_states(a="firing")
        watched.write("y", one=1, two=1)
        watched.write(a=1)

        def rule() -> dict[str, object]:
            return dict(watched.get("/api/rules")["groups"][0]["rules"][0])

        wait_for("failed", lambda: rule()["health"] == "error")
        assert "many-to-many" in str(rule()["error"]) or "duplicate" in str(rule()["error"])
        assert watched.states() == {"a": "firing"}
        assert "loadwatch_rule_evaluation_failures_total" in watched.server.client.get("/metrics").text


def test_what_happens_while_the_database_refuses_is_written_once_it_takes(tmp_path: Path) -> None:
    with watch(tmp_path / "s", SLOW) as watched:
        wait_for("evaluates", lambda: watched.get("/api/alerts")["evaluator"] == "here")
        watched.write(a=1)
        engine = watched.server.services.relational.engine
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE alert_transitions RENAME TO away"))
        watched.write(a=6)
        wait_for("tried in vain", lambda: watched.get("/api/alerts")["evaluator"] == "elsewhere")
        assert watched.states() == {}
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE away RENAME TO alert_transitions"))
        watched.wait_states(a="firing")
        (alert,) = watched.alerts()
        assert len(watched.get(f"/api/alerts/{alert['id']}")["transitions"]) == 1


def test_a_database_that_refuses_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever arrives between two tries, and whatever else the database takes."""
    tries: list[int] = []

    def refuse(_journal: Journal, _entries: Sequence[Entry], now_ms: int) -> None:
        tries.append(now_ms)
        raise SQLAlchemyError("the disk is full")

    def tried_again() -> bool:
        watched.write(a=6)
        return len(tries) >= 4

    with watch(tmp_path / "s", SLOW) as watched:
        wait_for("evaluates", lambda: watched.get("/api/alerts")["evaluator"] == "here")
        with capture_logs() as logs:
            monkeypatch.setattr(Journal, "write", refuse)
            wait_for("tried in vain", tried_again)
            monkeypatch.undo()
            watched.wait_states(a="firing")
    said = [one for one in logs if one["event"].startswith("alerts cannot be written")]
    assert [one["error"] for one in said] == ["the disk is full"]


def test_an_alert_that_flaps_is_held_and_says_so(tmp_path: Path) -> None:
    with watch(tmp_path / "s", SLOW, flap_changes=2) as watched:
        for value in (6.0, 1.0, 6.0):
            watched.pass_seconds(1)
            watched.write(a=value)
            watched.wait_states(**({"a": "firing"} if value > 5 else {}))
        watched.pass_seconds(1)
        watched.write(a=1)
        wait_for("held", lambda: watched.alerts()[0]["flapping"])
        (alert,) = watched.alerts()
        assert alert["recent_transitions"] == 3
        assert alert["holding_until_ms"] == watched.server.clock.now_ms + 120_000
        watched.pass_seconds(121)
        watched.write(a=1)
        watched.wait_states()


def test_an_alert_bears_its_run_for_as_long_as_that_lasts(tmp_path: Path) -> None:
    with watch(tmp_path / "s", SLOW) as watched:
        run = watched.server.client.post("/api/runs", json={"name": "Bulk inserts"}).json()
        watched.write(a=6)
        watched.wait_states(a="firing")
        assert watched.alerts()[0]["labels"]["run"] == run["id"]
        ended = watched.server.client.post(f"/api/runs/{run['id']}/finish", json={"ended_ms": NOW_MS})
        assert ended.status_code == 200
        watched.pass_seconds(10)
        watched.write(a=7, b=7)  # what begins after the run is no business of the run's
        watched.wait_states(a="firing", b="firing")
        wait_for("unbound", lambda: all("run" not in alert["labels"] for alert in watched.alerts()))
        by_room = {alert["labels"]["i"]: alert for alert in watched.alerts()}
        assert by_room["a"]["run"] == {"id": run["id"], "name": "Bulk inserts"}
        assert by_room["b"]["run"] is None
        shown = watched.query("ALERTS")
        assert len(shown) == 2, shown
        history = watched.get("/api/alerts/history", run_id=run["id"])["alerts"]
        assert [alert["labels"]["i"] for alert in history] == ["a"]
