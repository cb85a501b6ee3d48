"""Which runs a run's profiles can be held against."""

from pathlib import Path
from typing import Any

PROFILE = Path(__file__).parents[1] / "fixtures" / "go" / "00-cpu-now.pb.gz"
NOW_MS = 1_768_550_400_000


def made(server: Any, name: str, ago_ms: int, scenario: str = "shop", *, profiled: bool = True) -> None:
    body = {"id": name, "name": name, "scenario": scenario, "started_ms": NOW_MS - ago_ms, "clock_ms": NOW_MS}
    assert server.client.post("/api/runs", json=body).status_code == 201
    ended = {"ended_ms": NOW_MS - ago_ms + 1_000, "clock_ms": NOW_MS}
    assert server.client.post(f"/api/runs/{name}/finish", json=ended).status_code == 200
    if profiled:
        path = f"/api/runs/{name}/profiles?name=cpu.pb.gz"
        assert server.client.post(path, content=PROFILE.read_bytes()).status_code == 201


def listed(server: Any, run: str, **query: str) -> dict[str, Any]:
    answer = server.client.get(f"/api/runs/{run}/profiles", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_any_other_run_of_the_scenario_that_keeps_profiles_is_one_to_hold_against(server: Any):
    made(server, "newest", 10_000)
    made(server, "this-one", 20_000)
    made(server, "before", 30_000, profiled=False)
    made(server, "oldest", 40_000)
    made(server, "elsewhere", 50_000, scenario="other")
    found = listed(server, "this-one")
    assert [one["run"] for one in found["bases"]] == ["newest", "oldest"]
    assert (found["baseline"], found["base"]["run"], found["base"]["profiles"]) == ("before", "before", [])
    chosen = listed(server, "this-one", base="oldest")
    assert (chosen["base"]["run"], chosen["base"]["name"]) == ("oldest", "oldest")
    assert [one["kind"] for one in chosen["base"]["profiles"]] == ["cpu"]
    assert chosen["baseline"] == "before"
    assert server.client.get("/api/runs/this-one/profiles?base=never").status_code == 404


def test_a_run_without_a_scenario_has_none(server: Any):
    made(server, "first", 30_000, scenario="")
    made(server, "second", 20_000, scenario="")
    found = listed(server, "second")
    assert (found["base"], found["baseline"], found["bases"]) == (None, None, [])
