from loadwatch_collectors.runs.screen.status import (
    Nearest,
    change,
    clock,
    describe_progress,
    describe_run,
    describe_threshold,
    in_unit,
    number,
    percent,
    read_nearest,
    seconds,
)
from loadwatch_collectors.runs.streams.live_seconds import LiveFigures
from loadwatch_collectors.runs.tools.tool import Target


def test_the_live_line() -> None:
    text = describe_progress(
        run="r1",
        elapsed=62.7,
        target=Target(rate=450, duration_seconds=3600),
        figures=LiveFigures(requests=27000, failures=27, rate=449.67),
        nearest=Nearest(name="Pool main", used=46, limit=50),
        problem="server away",
    )
    assert text == (
        "r1 | 1:02 of 1:00:00 | 449.7/s of 450/s | 27000 requests, 27 failed (0.1%) | "
        "nearest limit: Pool main 92% of 50 | server away"
    )
    bare = describe_progress(run="r1", elapsed=0, target=Target(), figures=None, nearest=None, problem="")
    assert bare == "r1 | 0:00"


def test_numbers() -> None:
    assert [clock(value) for value in (0, 59.9, 3661)] == ["0:00", "0:59", "1:01:01"]
    assert [number(value) for value in (0.0, 5.0, 449.67, 12345.6)] == ["0", "5", "449.7", "12346"]
    assert [percent(value) for value in (1, 0.99999999, 0.5, 0)] == ["100%", ">99.99%", "50%", "0%"]
    assert [seconds(value) for value in (0.0000123, 0.0123, 1.5)] == ["12us", "12.3ms", "1.5s"]


def test_units_and_changes() -> None:
    assert in_unit(450, "per_second") == "450/s"
    assert in_unit(0.25, "seconds") == "250ms"
    assert in_unit(3, "count") == "3"
    assert in_unit(3, "connections") == "3 connections"
    assert [change(value) for value in (0.125, -0.5, 872.65)] == ["+12.5%", "-50.0%", "x874"]


def test_the_nearest_resource() -> None:
    assert read_nearest({"resources": []}) is None
    entry = {"title": "Pool", "name": "main", "used": 4, "limit": 5}
    assert read_nearest({"resources": [entry, {}]}) == Nearest(name="Pool main", used=4, limit=5)


def test_thresholds() -> None:
    threshold = {"state": "failed", "expression": "p95<300ms", "actual": 0.4, "unit": "seconds", "window": "steady"}
    assert describe_threshold(threshold) == "failed  p95<300ms: 400ms over steady"
    unknown = {**threshold, "state": "unknown", "actual": None, "detail": "no samples"}
    assert describe_threshold(unknown) == "unknown p95<300ms: not measured over steady (no samples)"


def test_a_run_whose_clients_waited_says_so_and_no_more_than_that() -> None:
    check = {"state": "held-back", "detail": "100 can send 208.3 requests/s at most."}
    run = {"id": "r1", "state": "finished", "verdict": "passed", "generator": check}
    assert describe_run(run) == [
        "r1: finished, verdict: passed",
        "  target rate not reached: clients waited for answers (100 can send 208.3 requests/s at most.)",
    ]
    assert describe_run(run | {"generator": check | {"state": "ok"}}) == ["r1: finished, verdict: passed"]


def test_a_run_of_one_request_has_no_rate() -> None:
    run = {"id": "r1", "state": "finished", "requests": 1, "rate": None, "success_ratio": 1.0, "outcomes": {"ok": 1}}
    assert describe_run({**run, "latency_seconds": {"p50": 0.0015}}) == [
        "r1: finished",
        "  1 requests, -/s, 100% good",
        "  latency: p50 1.5ms",
    ]
    assert describe_run({**run, "success_ratio": None, "latency_seconds": {}})[1] == "  1 requests, -/s"


def test_a_threshold_that_nobody_can_tell_says_why() -> None:
    few = {"state": "unknown", "expression": "error_rate<1%", "actual": 0.0, "unit": "ratio", "window": "steady"}
    detail = "Too few requests to tell: 11, at least 100 are needed."
    assert describe_threshold({**few, "detail": detail}) == f"unknown error_rate<1%: 0% over steady ({detail})"
