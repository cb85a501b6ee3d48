"""Orders through the API, by a clock that the test moves; agents are told of in tests/test_profiles.py."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.tests.conftest import RunningServer


def source(server: RunningServer, instance: str = "web-1", kinds: str = "cpu,heap", job: str = "shop") -> None:
    labels = {"__name__": "profile_source_info", "job": job, "instance": instance, "kinds": kinds, "seconds": "10"}
    server.write((labels, [(server.clock(), 1.0)]))


def begin(server: RunningServer, name: str = "r") -> str:
    body = {"name": name, "clock_ms": server.clock(), "scenario": "shop"}
    run: str = server.client.post("/api/runs", json=body).json()["id"]
    return run


def orders(server: RunningServer, run: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.client.get(f"/api/runs/{run}/profile-orders").json()["orders"]
    return found


def states(server: RunningServer, run: str) -> dict[str, str]:
    return {f"{one['instance']} {one['kind']}": one["state"] for one in orders(server, run)}


def order(server: RunningServer, run: str, *kinds: str, **which: str) -> Any:
    return server.client.post("/api/profile-orders", json={"run": run, "kinds": list(kinds), **which})


def open_orders(server: RunningServer, job: str = "shop") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.client.get("/api/profiles/orders", params={"job": job}).json()["orders"]
    return found


@pytest.fixture
def run(server: RunningServer) -> str:
    source(server)
    return begin(server)


def test_of_a_process_one_is_given_at_a_time(server: RunningServer, run: str) -> None:
    source(server, "web-2")
    assert order(server, run, "heap", "cpu").status_code == 201
    told = open_orders(server)
    assert [(one["instance"], one["kind"]) for one in told] == [("web-1", "cpu"), ("web-2", "cpu")]
    assert open_orders(server, "other") == []
    first = f"/api/profiles/orders/{told[0]['id']}"
    assert server.client.post(f"{first}/begin").status_code == 200
    assert server.client.post(f"{first}/begin").status_code == 404, "another agent"
    assert [one["instance"] for one in open_orders(server)] == ["web-2"]
    failed = server.client.post(f"{first}/failure", json={"reason": "GET …:\nanswered 403"})
    assert failed.status_code == 204
    assert [(one["instance"], one["kind"]) for one in open_orders(server)] == [("web-1", "heap"), ("web-2", "cpu")]
    assert orders(server, run)[0]["reason"] == "GET …: answered 403"


def test_a_profile_is_kept_with_its_run(server: RunningServer, run: str) -> None:
    order(server, run, "heap")
    [told] = open_orders(server)
    path = f"/api/profiles/orders/{told['id']}"
    assert server.client.post(f"{path}/profile", content=b"x").status_code == 404, "not begun"
    server.client.post(f"{path}/begin")
    taken_ms = server.clock()
    server.clock.now_ms += 3_000
    assert server.client.post(f"{path}/profile", content=b"").status_code == 400
    kept = server.client.post(f"{path}/profile", content=b"main 5\n").json()
    assert (kept["run"], kept["kind"], kept["name"]) == (run, "profile", "heap-web-1.pb.gz")
    assert kept["at_ms"] == taken_ms
    assert server.client.post(f"{path}/profile", content=b"main 5\n").status_code == 404, "once"
    assert states(server, run) == {"web-1 heap": "done"}
    [listed] = server.client.get(f"/api/runs/{run}/profiles").json()["profiles"]
    assert (listed["kind"], listed["job"], listed["instance"], listed["cause"]) == ("heap", "shop", "web-1", "hand")


def test_a_run_that_does_not_go_on_is_not_profiled(server: RunningServer, run: str) -> None:
    assert order(server, run, "goroutine").status_code == 422, "not offered"
    assert order(server, run, "cpu", instance="web-9").status_code == 422
    assert order(server, "no-such-run", "cpu").status_code == 422
    assert server.client.post("/api/profile-orders", json={"run": run, "kinds": ["rm -rf"]}).status_code == 422
    server.client.post(f"/api/runs/{run}/finish", json={"exit_code": 0, "ended_ms": server.clock()})
    assert "does not go on" in order(server, run, "cpu").json()["detail"]
    assert server.client.get(f"/api/runs/{run}/profile-orders").json()["processes"] == []


def test_a_run_has_no_more_than_it_may(server: RunningServer, run: str) -> None:
    for _ in range(60):
        assert order(server, run, "cpu", "heap").status_code == 201
    refused = order(server, run, "cpu")
    assert (refused.status_code, refused.json()["code"]) == (422, "profile-order-limit")


def test_what_is_described_badly_is_no_process(server: RunningServer, run: str) -> None:
    source(server, "w" * 201)
    source(server, "none", kinds="rm,-rf")
    labels = {"__name__": "profile_source_info", "job": "shop", "instance": "odd", "kinds": "cpu", "seconds": "1e9"}
    server.write((labels, [(server.clock(), 1.0)]))
    processes = server.client.get(f"/api/runs/{run}/profile-orders").json()["processes"]
    assert [one["instance"] for one in processes] == ["web-1"]


def test_the_watch_orders_by_itself_and_gives_up(server: RunningServer, run: str) -> None:
    server.clock.now_ms += 21_000
    source(server)
    _until(lambda: bool(orders(server, run)))
    assert states(server, run) == {"web-1 cpu": "waiting", "web-1 heap": "waiting"}
    assert {one["cause"] for one in orders(server, run)} == {"run"}
    server.clock.now_ms += 61_000
    server.client.post(f"/api/runs/{run}/progress", json={"at_ms": server.clock(), "elapsed_seconds": 82})
    _until(lambda: "waiting" not in states(server, run).values())
    assert set(states(server, run).values()) == {"untaken"}


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come")


RULES = """
groups:
  - name: shop
    interval: 100ms
    rules:
      - alert: PoolWaits
        expr: pool_waits > 0
        labels: {profile: "heap, mutex"}
"""


def test_an_alert_that_asks_for_a_profile_gets_it_while_a_run_is_under_way(
    start_server: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "rules.yml").write_text(RULES)
    with start_server(tmp_path / "data", rules=(str(tmp_path / "rules.yml"),)) as server:
        source(server)
        source(server, "web-2")
        run = begin(server)
        labels = {"__name__": "pool_waits", "job": "shop", "instance": "web-2"}
        server.write((labels, [(server.clock(), 1.0)]))
        _until(lambda: bool(orders(server, run)))
        [order] = orders(server, run)
        assert (order["instance"], order["kind"], order["cause"], order["asked_by"]) == (
            *("web-2", "heap", "alert", "PoolWaits"),
        )
