"""CPU time by route: found from counters alone, and 'cannot tell' where it cannot be."""

from typing import Any

import numpy as np
import pytest

from backend.tests.evidence.cost.made import Array, counter, make_load
from backend.tests.evidence.cost.test_cost_of_runs import ACCESS, LENGTH, beat, begun, cost, run_of

ROUTES = (("POST", "/register"), ("GET", "/timeline"), ("GET", "/health"))
EACH = (0.06, 0.002, 0.0)
APP = {"job": "app", "instance": "app-1"}


def write(server: Any, start_ms: int, ends: list[Array], seconds: int, each: tuple[float, ...] = EACH) -> None:
    for (method, route), times in zip(ROUTES, ends, strict=True):
        labels = {"route": route, "method": method, "code": "200", **ACCESS}
        server.write(({"__name__": "http_requests_total", **labels}, counter(times, start_ms, seconds)))
    for target in (ACCESS, APP):
        beat(server, start_ms, seconds, target)
    at = np.arange(seconds + 1)
    used = sum(np.searchsorted(np.sort(times), at) * spent for times, spent in zip(ends, each, strict=True))
    # The kernel counts hundredths of a second; 5 % of a core go to what no request asks for.
    ticks = np.floor((used + 0.05 * at) * 100) / 100
    samples = [(start_ms + second * 1_000, float(ticks[second])) for second in range(seconds + 1)]
    server.write(({"__name__": "process_cpu_seconds_total", **APP}, samples))


def test_the_route_that_takes_the_cpu_is_found_without_labels_in_the_application(server: Any) -> None:
    load = make_load({}, routes=3, statements=1, rate=[8.0, 120.0, 1.0], seconds=LENGTH)
    start_ms = begun(server)
    write(server, start_ms, list(load.ends), load.seconds)
    run = run_of(server, start_ms)
    (app,) = cost(server, run)["cpu"]
    assert app["job"] == "app"
    found = {one["routes"][0]: one for one in app["routes"]}
    register = found["POST /register"]
    assert register["each"]["value"] == pytest.approx(0.06, rel=0.05)
    assert register["each"]["low"] <= 0.06 <= register["each"]["high"]
    assert found["GET /timeline"]["each"]["value"] == pytest.approx(0.002, rel=0.1)
    assert register["share"] > 0.6
    assert app["untold"] == ["GET /health"], "it costs nothing that could be told"
    for form in ("md", "html"):
        report = server.client.get(f"/api/runs/{run}/report", params={"format": form}).text
        assert "CPU time of app for each request, by regression" in report
        assert "CPU time of app for each request cannot be told of GET /health" in report


def test_routes_that_always_move_together_are_not_told_apart(server: Any) -> None:
    load = make_load({}, routes=3, statements=1, rate=[20.0, 20.0, 1.0], seconds=LENGTH)
    start_ms = begun(server)
    write(server, start_ms, [load.ends[0], load.ends[0] + 0.0, load.ends[2]], load.seconds, (0.02, 0.01, 0.0))
    (app,) = cost(server, run_of(server, start_ms))["cpu"]
    (together,) = app["routes"]
    assert together["basis"] == "together"
    assert {"POST /register", "GET /timeline"} <= set(together["routes"])
    # 30 ms for each pair, of which both routes have one: half of it is each request's, whosever it is.
    assert together["each"]["value"] == pytest.approx(0.015, rel=0.1)


def test_cpu_that_follows_no_requests_accuses_no_route(server: Any) -> None:
    load = make_load({}, routes=3, statements=1, rate=20.0, seconds=LENGTH)
    start_ms = begun(server)
    write(server, start_ms, list(load.ends), load.seconds, (0.0, 0.0, 0.0))
    (app,) = cost(server, run_of(server, start_ms))["cpu"]
    assert app["routes"] == []
    assert len(app["untold"]) == 3


def test_without_a_watched_process_nothing_is_said(server: Any) -> None:
    load = make_load({}, routes=3, statements=1, rate=20.0, seconds=LENGTH)
    start_ms = begun(server)
    labels = {"route": "/", "method": "GET", "code": "200", **ACCESS}
    server.write(({"__name__": "http_requests_total", **labels}, counter(load.ends[0], start_ms, load.seconds)))
    assert cost(server, run_of(server, start_ms))["cpu"] == []
