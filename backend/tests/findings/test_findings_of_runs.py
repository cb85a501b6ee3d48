"""Findings of runs and of the present over the interface of a real server: kept as said, judged, muted, said again."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from backend.tests.conftest import NOW_MS, RunningServer
from backend.tests.runs.sending import imported

POOL = {"job": "app", "instance": "app-1", "db_name": "hits"}
SECONDS = 40
START_MS = NOW_MS - 200_000


def _gauge(name: str, value: float) -> tuple[dict[str, str], Sequence[tuple[int, float]]]:
    times = [START_MS + 1_000 * second for second in range(-30, SECONDS + 30)]
    return {"__name__": name, **POOL}, [(time, value) for time in times]


def _counter(name: str, per_second: float) -> tuple[dict[str, str], Sequence[tuple[int, float]]]:
    samples = [
        (START_MS + 1_000 * second, 1_000.0 + per_second * min(max(second, 0), SECONDS))
        for second in range(-30, SECONDS + 30)
    ]
    return {"__name__": name, **POOL}, samples


def _write_pool(server: RunningServer, *, waiting: float) -> None:
    server.write(
        _gauge("go_sql_in_use_connections", 30.0 if waiting else 4.0),
        _gauge("go_sql_max_open_connections", 30.0),
        _counter("go_sql_wait_count_total", waiting),
        _counter("go_sql_wait_duration_seconds_total", waiting * 0.8),
    )


def _run(server: RunningServer) -> str:
    server.clock.now_ms = START_MS
    run = server.client.post("/api/runs", json={"name": "a run", "tool": "hey"}).raise_for_status().json()
    server.clock.now_ms = START_MS + SECONDS * 1_000
    server.client.post(
        f"/api/runs/{run['id']}/finish", json={"ended_ms": server.clock.now_ms, "exit_code": 0}
    ).raise_for_status()
    server.clock.now_ms = NOW_MS
    return run["id"]


def test_a_run_says_what_ran_out_with_its_evidence(server: RunningServer) -> None:
    _write_pool(server, waiting=50.0)
    run = server.client.get(f"/api/runs/{_run(server)}").raise_for_status().json()
    (finding,) = run["findings"]
    assert finding["id"] == "pool-exhausted"
    assert finding["labels"] == POOL
    assert finding["certainty"] == "likely"
    assert {one["link"] for one in finding["evidence"]} == {"limit", "demand"}
    assert all(len(one["chart"]["values"]) <= 60 for one in finding["evidence"])
    assert run["diagnosis"]["state"] == "found"
    # What could not be looked at says so, with the lines that switch it on.
    missing = {one["id"]: one["config"] for one in run["diagnosis"]["missing"]}
    assert "mysql:" in missing["database-connections-exhausted"]


def test_runs_are_filtered_by_what_ran_out(server: RunningServer) -> None:
    _write_pool(server, waiting=50.0)
    run = _run(server)
    server.client.get(f"/api/runs/{run}").raise_for_status()

    def filtered(finding: str) -> list[str]:
        answer = server.client.get("/api/runs", params={"finding": finding}).raise_for_status()
        return [one["id"] for one in answer.json()["runs"]]

    assert filtered("pool-exhausted") == filtered("pool") == [run]
    assert filtered("exhausted") == filtered("none") == filtered("cannot-tell") == []


def test_the_present_says_the_harm_of_the_run_under_way_before_what_ended_earlier(server: RunningServer) -> None:
    """A pool of which many waited, and after it another one: with a run at that time, that one leads."""
    later = {**POOL, "instance": "app-2"}
    seconds = range(-200, 1)
    for labels, first, last in ((POOL, -180, -120), (later, -60, 0)):
        waits = [(at, 1_000.0 + 50.0 * min(max(at - first, 0), last - first)) for at in seconds]
        used = [(at, 30.0 if first <= at <= last else 4.0) for at in seconds]
        for name, samples in (
            ("go_sql_in_use_connections", used),
            ("go_sql_max_open_connections", [(at, 30.0) for at in seconds]),
            ("go_sql_wait_count_total", waits),
            ("go_sql_wait_duration_seconds_total", [(at, 0.8 * count) for at, count in waits]),
        ):
            server.write(({"__name__": name, **labels}, [(NOW_MS + 1_000 * at, value) for at, value in samples]))

    def instances() -> list[str]:
        found = server.client.get("/api/findings").raise_for_status().json()["findings"]
        return [one["labels"]["instance"] for one in found if one["id"] == "pool-exhausted"]

    assert instances() == ["app-1", "app-2"]
    server.clock.now_ms = NOW_MS - 70_000
    server.client.post("/api/runs", json={"name": "second", "tool": "hey"}).raise_for_status()
    # A look later than the one that is kept.
    server.clock.now_ms = NOW_MS + 61_000
    assert instances() == ["app-2", "app-1"]


def test_a_run_without_an_agent_cannot_tell(server: RunningServer) -> None:
    run = server.client.get(f"/api/runs/{_run(server)}").raise_for_status().json()
    assert run["findings"] == []
    assert run["diagnosis"]["state"] == "cannot-tell"


def test_totals_of_a_tool_without_seconds_are_symptoms(server: RunningServer) -> None:
    """What hey sums up is all that is known; nothing that was measured explains the failures."""
    _write_pool(server, waiting=0.0)
    summary = (Path(__file__).parents[1] / "importers/fixtures/hey/mixed.txt").read_bytes()
    diagnosis = imported(server, summary, run=_run(server))["diagnosis"]
    said = "33 of 200 requests failed (16 %); most were answered 5xx."
    assert (diagnosis["state"], [one["en"] for one in diagnosis["symptoms"]]) == ("cannot-tell", [said])
    assert diagnosis["cannot_tell"]["en"].startswith(f"{said} Not measured: ")
    assert diagnosis["cannot_tell"]["ja"].startswith("リクエスト200件中33件が失敗")


def test_findings_stay_as_they_were_said_until_asked_again(server: RunningServer) -> None:
    _write_pool(server, waiting=50.0)
    run_id = _run(server)
    said = server.client.get(f"/api/runs/{run_id}").json()["findings"]
    # Samples that come late, by an agent that was cut off, change nothing of what was said.
    _write_pool(server, waiting=0.0)
    server.client.patch(f"/api/runs/{run_id}", json={"name": "looked at"}).raise_for_status()
    assert server.client.get(f"/api/runs/{run_id}").json()["findings"] == said
    again = server.client.post(f"/api/runs/{run_id}/findings").raise_for_status().json()
    assert again["now"]["findings"] == []
    assert [(one["key"], one["change"]) for one in again["changes"]] == [(said[0]["key"], "gone")]
    assert not again["kept"]
    assert server.client.get(f"/api/runs/{run_id}").json()["findings"] == said
    server.client.post(f"/api/runs/{run_id}/findings", params={"keep": True}).raise_for_status()
    assert server.client.get(f"/api/runs/{run_id}").json()["findings"] == []


def test_a_finding_is_marked_wrong_with_a_reason_until_that_is_taken_back(server: RunningServer) -> None:
    _write_pool(server, waiting=50.0)
    run_id = _run(server)
    (finding,) = server.client.get(f"/api/runs/{run_id}").json()["findings"]
    body = {"run": run_id, "key": finding["key"], "reason": "the waits were wanted", "author": "Mika"}
    first = server.client.post("/api/findings/marks", json=body).raise_for_status().json()
    made = server.client.post("/api/findings/marks", json=body | {"reason": "planned"}).raise_for_status().json()
    assert (made["run"], made["finding_id"], made["labels"]) == (run_id, "pool-exhausted", finding["labels"])
    (mark,) = (one["mark"] for one in server.client.get(f"/api/runs/{run_id}").json()["findings"])
    assert mark == {key: made[key] for key in ("id", "opinion", "reason", "author", "said_ms")}
    assert (mark["opinion"], mark["reason"], mark["author"]) == ("rejected", "planned", "Mika")
    assert server.client.get("/api/findings/marks").json() == {"marks": [made]}
    assert server.client.delete(f"/api/findings/marks/{first['id']}").status_code == 404
    server.client.delete(f"/api/findings/marks/{made['id']}").raise_for_status()
    assert server.client.get(f"/api/runs/{run_id}").json()["findings"][0]["mark"] is None


def test_a_mark_on_what_a_run_does_not_say_or_without_a_reason_is_refused(server: RunningServer) -> None:
    body = {"run": _run(server), "key": "pool-exhausted|instance=other", "reason": "x"}
    answer = server.client.post("/api/findings/marks", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, "finding-not-found")
    for lacking in (body | {"reason": " "}, body | {"key": ""}, {"labels": {"job": "a"}}):
        assert server.client.post("/api/findings/marks", json=lacking).status_code == 422


@pytest.mark.parametrize(
    ("labels", "muted"), [({"instance": "app-1"}, True), ({"instance": "app-2"}, False), ({}, True)]
)
def test_a_mute_holds_for_its_target(server: RunningServer, labels: dict[str, str], muted: bool) -> None:
    _write_pool(server, waiting=50.0)
    mute = {"finding_id": "pool-exhausted", "labels": labels, "reason": "known"}
    made = server.client.post("/api/findings/marks", json=mute).raise_for_status().json()
    assert server.client.post("/api/findings/marks", json=mute).json()["id"] == made["id"]
    (finding,) = server.client.get(f"/api/runs/{_run(server)}").json()["findings"]
    assert finding["muted"] is muted
    live = server.client.get("/api/findings").json()
    assert [(one["muted"], one["mute"]) for one in live["findings"]] == [(muted, made["id"] if muted else None)]
    server.client.delete(f"/api/findings/marks/{made['id']}").raise_for_status()
    assert not any(one["muted"] for one in server.client.get("/api/findings").json()["findings"])
    assert server.client.delete(f"/api/findings/marks/{made['id']}").status_code == 404
