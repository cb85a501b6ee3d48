"""The whole way: samples in the store or a digest kept with the run, and the table that its page is told."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from loadwatch_collectors.sources.access_log import BOUNDS

SECOND = 1_000
LENGTH = 60
WEB = {"job": "nginx", "instance": "web-1"}


def write(
    server: Any,
    start_ms: int,
    route: str,
    rates: Mapping[str, float],
    *,
    took: float | None = 0.1,
    seconds: int = LENGTH,
    **labels: str,
) -> None:
    """Requests by status that come evenly over the run and ten seconds around it, all of one duration."""
    every = {"route": route, "method": "GET", **WEB, **labels}
    rate = sum(rates.values())

    def grown(a_second: float) -> list[tuple[int, float]]:
        return [(start_ms + at * SECOND, (at + 10) * a_second) for at in range(-10, seconds + 11)]

    server.write(
        *(({"__name__": "http_requests_total", "code": code, **every}, grown(one)) for code, one in rates.items()),
        ({"__name__": "http_response_bytes_total", **every}, grown(rate * 500)),
        ({"__name__": "up", **WEB, **labels}, [(at, 1.0) for at, _ in grown(1)]),
    )
    if took is not None:
        name = "http_request_duration_seconds"
        bounds = [*BOUNDS, float("inf")]
        server.write(
            ({"__name__": f"{name}_sum", **every}, grown(rate * took)),
            ({"__name__": f"{name}_count", **every}, grown(rate)),
            *(
                (
                    {"__name__": f"{name}_bucket", "le": "+Inf" if le == bounds[-1] else f"{le:.9g}", **every},
                    grown(rate if took <= le else 0),
                )
                for le in bounds
            ),
        )


def run_of(server: Any, start_ms: int, **facts: Any) -> str:
    created = server.client.post("/api/runs", json={"name": "a run", "started_ms": start_ms, **facts}).json()
    server.client.post(
        f"/api/runs/{created['id']}/finish", json={"ended_ms": start_ms + LENGTH * SECOND}
    ).raise_for_status()
    return created["id"]


def routes(server: Any, run: str, **params: Any) -> Any:
    answer = server.client.get(f"/api/runs/{run}/routes", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def begun(server: Any, ago: int = 600) -> int:
    return (server.clock.now_ms // SECOND - ago) * SECOND


def test_the_table_of_a_run(server: Any) -> None:
    start_ms = begun(server)
    write(server, start_ms, "/posts/:id", {"200": 6, "304": 3, "503": 1}, took=0.1)
    write(server, start_ms, "/users", {"200": 50}, took=0.01)
    found = routes(server, run_of(server, start_ms))
    assert (found["source"], found["window"], found["counted_by"], found["known"]) == ("samples", "whole", "nginx", 1.0)
    assert (found["remarks"], found["base"], found["gone"]) == ([], None, [])
    assert (found["from_ms"], found["to_ms"]) == (start_ms, start_ms + LENGTH * SECOND)
    slow, fast = found["routes"]
    assert (slow["name"], fast["name"]) == ("GET /posts/:id", "GET /users"), "what takes most time comes first"
    assert slow["requests"] == pytest.approx(600)
    assert slow["rate"] == pytest.approx(10)
    assert slow["share"] == pytest.approx(1.0 / 1.5)
    assert slow["statuses"] == {"2xx": pytest.approx(360), "304": pytest.approx(180), "5xx": pytest.approx(60)}
    assert slow["bytes"] == pytest.approx(300_000)
    assert slow["mean_seconds"] == pytest.approx(0.1)
    for name in ("p50", "p90", "p99", "max"):
        rank = slow["ranks"][name]
        assert rank["low"] <= 0.1 <= rank["high"]
        assert rank["value"] == pytest.approx(0.1, rel=found["rank_error"])
    assert found["rank_error"] == pytest.approx(0.09, abs=0.001)


def test_that_a_run_is_held_against_its_baseline(server: Any) -> None:
    before_ms, now_ms = begun(server, 1_200), begun(server)
    write(server, before_ms, "/users", {"200": 20}, took=0.01)
    write(server, before_ms, "/old", {"200": 1})
    write(server, now_ms, "/users", {"200": 40}, took=0.04)
    first, second = run_of(server, before_ms), run_of(server, now_ms)
    found = routes(server, second, base=first)
    assert found["base"]["id"] == first
    assert found["gone"] == ["GET /old"]
    (one,) = found["routes"]
    assert (one["requests"], one["base"]["requests"]) == (pytest.approx(2_400), pytest.approx(1_200))
    assert one["base"]["mean_seconds"] == pytest.approx(0.01)


def test_that_a_proxy_and_the_application_behind_it_are_not_added_up(server: Any) -> None:
    start_ms = begun(server)
    write(server, start_ms, "/users", {"200": 20})
    write(server, start_ms, "/users", {"200": 10}, job="app")
    found = routes(server, run_of(server, start_ms))
    assert [(found["counted_by"], one["requests"]) for one in found["routes"]] == [("nginx", pytest.approx(1_200))]


def test_that_the_same_route_has_one_name_whoever_counted_it(server: Any) -> None:
    before_ms, now_ms = begun(server, 1_200), begun(server)
    write(server, before_ms, "/posts/hello-world", {"200": 2})
    write(server, now_ms, "/posts/:slug", {"200": 20}, took=0.1)
    write(server, now_ms, "/posts/my-day", {"200": 9, "304": 1}, took=0.1, instance="web-2")
    first, second = run_of(server, before_ms), run_of(server, now_ms)
    found = routes(server, second, base=first)
    (one,) = found["routes"]
    assert (one["name"], one["requests"]) == ("GET /posts/:slug", pytest.approx(1_800))
    assert one["statuses"] == {"2xx": pytest.approx(1_740), "304": pytest.approx(60)}
    assert one["ranks"]["p99"]["low"] <= 0.1 <= one["ranks"]["p99"]["high"]
    assert (one["base"]["requests"], found["gone"]) == (pytest.approx(120), [])
    cost = server.client.get(f"/api/runs/{second}/cost").json()
    assert [(each["name"], each["requests"]) for each in cost["routes"]] == [
        ("GET /posts/:slug", pytest.approx(1_800, rel=0.05))
    ]


def test_that_gaps_and_missing_durations_are_said(server: Any) -> None:
    start_ms = begun(server)
    write(server, start_ms, "/users", {"200": 20}, took=None, seconds=20)
    run = run_of(server, start_ms)
    found = routes(server, run)
    (one,) = found["routes"]
    assert (one["ranks"], one["share"], one["mean_seconds"], found["rank_error"]) == (None, None, None, None)
    assert found["known"] < 0.7
    assert len(found["remarks"]) == 2
    japanese = routes(server, run, lang="ja")["remarks"]
    assert len(japanese) == 2
    assert "リクエスト" in japanese[0]


def test_that_nobody_counted_is_an_answer(server: Any) -> None:
    run = run_of(server, begun(server))
    found = routes(server, run)
    assert (found["source"], found["routes"], found["known"]) == ("none", [], 0.0)
    assert f"--run {run}" in found["remarks"][0]


def test_that_an_unknown_run_is_not_found(server: Any) -> None:
    assert server.client.get("/api/runs/none/routes").status_code == 404


def digest(start_ms: int, **more: Any) -> dict[str, Any]:
    row = {"method": "GET", "route": "/posts", "count": 40, "sum": 8.0, "mean": 0.2, "p50": 0.1, "p90": 0.3, "p99": 0.9}
    row |= {"max": 1.0, "status": {"200": 30, "304": 10}, "bytes": 9_000, "body": {"count": 40}}
    lines = {"read": 40, "unreadable": 2, "too_long": 1, "outside": 1_234, "percentile_error": 0.005}
    return {
        "routes": [row],
        "lines": lines,
        "window": {"first_ms": start_ms + 5, "last_ms": start_ms + 59_000},
        "run": {"from_ms": start_ms, "to_ms": start_ms + LENGTH * SECOND, "file": "access.log"},
        **more,
    }


def keep(server: Any, run: str, content: bytes) -> None:
    params = {"kind": "access_log", "name": "access.json"}
    server.client.post(f"/api/runs/{run}/evidence", params=params, content=content).raise_for_status()


@pytest.mark.parametrize("size", [9_000, {"count": 40, "sum": 9_000, "min": 1, "mean": 225, "max": 900}])
def test_that_an_imported_log_takes_the_place_of_samples(server: Any, size: Any) -> None:
    start_ms = begun(server)
    write(server, start_ms, "/users", {"200": 20})
    run = run_of(server, start_ms)
    document = digest(start_ms)
    document["routes"][0]["bytes"] = size
    keep(server, run, json.dumps(document).encode())
    found = routes(server, run)
    (one,) = found["routes"]
    assert (found["source"], found["counted_by"]) == ("access_log", "access.log")
    assert found["rank_error"] == pytest.approx(0.005)
    assert (one["name"], one["requests"], one["rate"], one["share"]) == ("GET /posts", 40, 40 / 60, 1.0)
    assert one["statuses"] == {"2xx": 30, "304": 10}
    assert one["bytes"] == 9_000, "agents of older versions wrote an object"
    assert one["ranks"]["p99"]["value"] == 0.9
    assert one["ranks"]["max"] == {"value": 1.0, "low": 1.0, "high": 1.0}, "the largest is exact"
    assert "1,234" in found["remarks"][0]
    assert "3 lines" in found["remarks"][1]


def test_that_the_digest_of_a_whole_file_says_so(server: Any) -> None:
    start_ms = begun(server)
    run = run_of(server, start_ms)
    whole = digest(start_ms)
    del whole["run"]
    keep(server, run, json.dumps(whole).encode())
    found = routes(server, run)
    assert (found["from_ms"], found["to_ms"]) == (start_ms + 5, start_ms + 59_001)
    assert "whole file" in found["remarks"][0]


@pytest.mark.parametrize(
    "content",
    [
        *(b"1.2.3.4 - - GET /", b"{}", b'{"routes": [{"count": 1}], "window": {"first_ms": 1, "last_ms": 2}}', b"[1]"),
        b'{"routes": [{"count": -1, "method": "", "route": ""}], "window": {"first_ms": 1, "last_ms": 2}}',
    ],
)
def test_that_a_file_which_is_no_digest_is_left_alone(server: Any, content: bytes) -> None:
    start_ms = begun(server)
    write(server, start_ms, "/users", {"200": 20})
    run = run_of(server, start_ms)
    keep(server, run, content)
    assert routes(server, run)["source"] == "samples"
