"""Reviews and meetings over HTTP."""

from typing import Any

from backend.tests.runs.sending import imported, vegeta_csv

NOW_MS = 1_768_550_400_000


def write(server: Any, run: str, version: int, **fields: Any) -> Any:
    return server.client.put(f"/api/runs/{run}/review", json={"version": version, **fields})


def test_what_was_expected_stands_beside_what_was_measured(server: Any):
    base = imported(server, vegeta_csv(NOW_MS - 100_000), scenario="s")["id"]
    assert server.client.put(f"/api/runs/{base}/baseline").json()["is_baseline"]
    run = imported(server, vegeta_csv(NOW_MS - 50_000, failing=2), scenario="s")["id"]
    empty = server.client.get(f"/api/runs/{run}/review").json()
    assert (empty["version"], empty["updated_ms"], empty["measured"]) == (0, None, [])
    expected = [{"expression": "error_rate<1%", "note": "after the fix"}, {"expression": "p95<"}]
    written = write(server, run, 0, author="葵", approach="x", expected=expected, monitored=["p99", "up"]).json()
    assert (written["version"], written["author"], written["updated_ms"]) == (1, "葵", NOW_MS)
    measured = {one["expression"]: one for one in written["measured"]}
    assert list(measured) == ["error_rate<1%", "p95<", "p99", "up"]
    rate = measured["error_rate<1%"]
    assert (rate["state"], rate["expected"], rate["actual"], rate["baseline"]) == ("failed", 0.01, 0.1, 0.0)
    assert (measured["p95<"]["state"], measured["up"]["state"]) == ("unknown", "unknown")
    assert measured["p95<"]["detail"]
    assert measured["p99"]["actual"] == 0.016


def test_nobody_writes_over_what_somebody_else_wrote(server: Any):
    run = server.client.post("/api/runs", json={}).json()["id"]
    assert write(server, run, 0, author="a", outcome="first").status_code == 200
    conflict = write(server, run, 0, author="b", outcome="lost?")
    assert (conflict.status_code, conflict.json()["code"]) == (409, "review-conflict")
    assert conflict.json()["other"]["outcome"] == "first"
    assert conflict.json()["other"]["version"] == 1
    assert write(server, run, 1, author="b", outcome="second").json()["version"] == 2
    history = server.client.get(f"/api/runs/{run}/review/history").json()["versions"]
    told = [(one["version"], one["author"], one["outcome"]) for one in history]
    assert told == [(2, "b", "second"), (1, "a", "first")]


def test_a_meeting_goes_through_the_runs_since_the_last_one_and_begins_with_the_newest(server: Any):
    first = imported(server, vegeta_csv(NOW_MS - 5_000_000))["id"]
    running = server.client.post("/api/runs", json={}).json()["id"]
    meeting = server.client.get("/api/meetings/next").json()
    assert meeting == {"since_ms": None, "runs": [running, first], "scenarios": ["", ""]}
    server.clock.now_ms += 10_000
    assert server.client.post("/api/meetings", json={"attendees": ["a"]}).json() == meeting
    assert server.client.get("/api/meetings/next").json() == {
        "since_ms": NOW_MS + 10_000,
        "runs": [],
        "scenarios": [],
    }
    server.clock.now_ms += 10_000
    late = imported(server, vegeta_csv(NOW_MS - 9_000_000))["id"]
    server.client.post(f"/api/runs/{running}/finish", json={"ended_ms": server.clock.now_ms})
    assert server.client.get("/api/meetings/next").json()["runs"] == [running, late]


def test_a_meeting_about_one_scenario_leaves_the_runs_of_others(server: Any):
    checkout, search = (imported(server, vegeta_csv(NOW_MS - at), scenario=name)["id"] for name, at in SCENARIOS)

    def runs() -> list[str]:
        return server.client.get("/api/meetings/next").json()["runs"]

    def end(scenario: str) -> Any:
        server.clock.now_ms += 10_000
        ended = server.client.post("/api/meetings", json={"scenario": scenario}).json()
        server.clock.now_ms += 10_000
        return ended

    assert runs() == [search, checkout]
    assert server.client.get("/api/meetings/next").json()["scenarios"] == ["search", "checkout"]
    assert end("checkout") == {"since_ms": None, "runs": [checkout], "scenarios": ["checkout"]}
    assert runs() == [search]
    again = imported(server, vegeta_csv(NOW_MS - 4_000_000), scenario="checkout")["id"]
    assert runs() == [again, search]
    assert end("search")["runs"] == [search]
    assert runs() == [again]
    # One about all scenarios is later than each of theirs.
    assert end("")["runs"] == [again]
    assert runs() == []
    assert server.client.get("/api/meetings/next").json()["since_ms"] == server.clock.now_ms - 10_000


SCENARIOS = (("checkout", 6_000_000), ("search", 5_000_000))
