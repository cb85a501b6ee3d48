"""Figures of endpoints cover the steady window wherever single requests are kept, and the run says what they cover."""

import pytest

from backend.tests.conftest import NOW_MS, RunningServer
from backend.tests.runs.sending import imported

SECONDS, RATE, SLOW_SECONDS = 60, 20, 10


def warming_up(names: int) -> bytes:
    """Half a second an answer for ten seconds, 20 ms from then on; the requests go round the endpoints."""
    lines: list[str] = []
    for number in range(SECONDS * RATE):
        at = number / RATE
        time_ns = (NOW_MS - 3_600_000) * 1_000_000 + int(at * 1e9)
        latency_ns = (500 if at < SLOW_SECONDS else 20 + number % 3) * 1_000_000
        url = f"http://127.0.0.1/{number % names}"
        lines.append(f"{time_ns},200,{latency_ns},100,200,,,load,{number},GET,{url},")
    return ("\n".join(lines) + "\n").encode()


def test_the_warm_up_is_in_no_endpoints_figures(server: RunningServer) -> None:
    for names in (1, 3):
        run = imported(server, warming_up(names))
        window = run["steady_window"]
        assert window["from_seconds"] >= SLOW_SECONDS
        assert run["endpoints_window"] == "steady"
        assert len(run["endpoints"]) == names
        assert max(one["latency_seconds"]["max"] for one in run["endpoints"]) < 0.1
        assert sum(one["requests"] for one in run["endpoints"]) == run["steady"]["requests"] < run["requests"]
        length = window["to_seconds"] - window["from_seconds"]
        for one in run["endpoints"]:
            assert abs(one["rate"] - one["requests"] / length) < 0.01


def test_a_run_without_a_steady_part_says_that_all_of_it_is_covered(server: RunningServer) -> None:
    short = b"\n".join(warming_up(2).splitlines()[: 5 * RATE])
    run = imported(server, short)
    assert (run["steady_window"]["source"], run["endpoints_window"]) == ("whole", "whole")
    assert sum(one["requests"] for one in run["endpoints"]) == run["requests"]


def test_a_window_dragged_by_hand_moves_the_endpoints_too(server: RunningServer) -> None:
    run = imported(server, warming_up(3))
    window = {"from_seconds": 2, "to_seconds": 8}
    answer = server.client.patch(f"/api/runs/{run['id']}", json={"steady_window": window})
    assert answer.status_code == 200, answer.text
    endpoints = server.client.get(f"/api/runs/{run['id']}").json()["endpoints"]
    assert {one["latency_seconds"]["p50"] for one in endpoints} == {0.5}
    report = server.client.get(f"/api/runs/{run['id']}/report", params={"format": "md"}).text
    assert "## Endpoints (steady window)" in report


def test_any_percentile_of_the_single_requests_is_exact(server: RunningServer) -> None:
    """In the steady window the latencies are 20, 21 and 22 ms, a third each."""
    thresholds = ["p10<1s", "p50<1s", "p70<21500us", "p99.9 < 1s over whole", "p75<1s over 0s..5s"]
    run = imported(server, warming_up(1), threshold=thresholds)
    told = {one["metric"]: (one["actual"], one["state"]) for one in run["thresholds"]}
    assert told == {
        "p10": (0.020, "passed"),
        "p50": (0.021, "passed"),
        "p70": (0.022, "failed"),
        "p99.9": (0.5, "passed"),
        "p75": (0.5, "passed"),
    }


def test_any_percentile_of_the_run_and_of_its_endpoints_is_read(server: RunningServer) -> None:
    """The warm-up's half seconds are in those of the whole run alone."""
    for names in (1, 2):
        run = imported(server, warming_up(names))
        found = server.client.get(
            f"/api/runs/{run['id']}/percentiles", params={"percentile": ["p70", "p95", "p99.90"]}
        ).json()
        told = {one["name"]: (one["steady"]["seconds"], one["whole"]["seconds"]) for one in found["percentiles"]}
        assert told == {"p70": (0.022, 0.022), "p95": (0.022, 0.5), "p99.9": (0.022, 0.5)}
        assert all(one["whole"]["low"] == one["whole"]["high"] for one in found["percentiles"])
        kept = {one["name"]: one["latency_seconds"]["p95"] for one in run["endpoints"]}
        assert {one["name"]: one["seconds"][1] for one in found["endpoints"]} == kept
        assert (found["detail"], found["endpoints_detail"]) == ("", "")
    refused = server.client.get(f"/api/runs/{run['id']}/percentiles", params={"percentile": "p100"})
    assert (refused.status_code, refused.json()["code"]) == (422, "run-rule")


@pytest.mark.parametrize(("tool", "told"), [("vegeta", True), ("measuring-load", False)])
def test_what_vegetas_report_estimates_is_said_of_vegeta_alone(server: RunningServer, tool: str, told: bool) -> None:
    """Other tools write its format, too, and have no such report."""
    begun = server.client.post("/api/runs", json={"started_ms": NOW_MS - 3_600_000, "tool": tool}).json()
    run = imported(server, warming_up(1), run=begun["id"])
    assert ("vegeta-estimates" in {one["code"] for one in run["remarks"]}) == told
