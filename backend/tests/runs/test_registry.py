"""The life of a run over HTTP."""

from typing import Any

NOW_MS = 1_800_000_000_000


def create(server: Any, **fields: Any) -> dict[str, Any]:
    answer = server.client.post("/api/runs", json=fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


def finish(server: Any, run: str, **fields: Any) -> dict[str, Any]:
    answer = server.client.post(f"/api/runs/{run}/finish", json={"ended_ms": server.clock.now_ms, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_run_begins_goes_on_and_ends(server: Any):
    begun = create(server, name="first", tool="vegeta", thresholds=["p95<300ms"], parameters={"pool": "30"})
    assert (begun["state"], begun["silent"], begun["verdict"]) == ("running", False, None)
    assert begun["id"].startswith("20270115-080000-")
    assert begun["started_at"] == "2027-01-15T08:00:00.000Z"
    server.clock.now_ms += 10_000
    sign = {"at_ms": server.clock.now_ms, "elapsed_seconds": 10, "requests": 1_000, "rate": 100.0, "failures": 0}
    assert server.client.post(f"/api/runs/{begun['id']}/progress", json=sign).status_code == 204
    assert server.client.get(f"/api/runs/{begun['id']}").json()["progress"] == sign
    server.clock.now_ms += 10_000
    over = finish(server, begun["id"], exit_code=0, generator={"cpu_max": 0.5})
    assert (over["state"], over["exit_code"], over["ended_ms"]) == ("finished", 0, NOW_MS + 20_000)
    assert finish(server, begun["id"], exit_code=3) == over
