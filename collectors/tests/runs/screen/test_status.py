from loadwatch_collectors.runs.live_seconds import LiveFigures
from loadwatch_collectors.runs.screen.status import (
    Nearest,
    change,
    clock,
    describe_progress,
    describe_run,
    describe_threshold,
    percent,
    read_nearest,
)
from loadwatch_collectors.runs.tools import Target


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
        "r1 | 1:02 of 1:00:00 | 450/s of 450/s | 27,000 requests, 27 failed (0.1%) | "
        "nearest limit: Pool main 92% of 50 | server away"
    )
    bare = describe_progress(run="r1", elapsed=0, target=Target(), figures=None, nearest=None, problem="")
    assert bare == "r1 | 0:00"


def test_numbers() -> None:
    assert [clock(value) for value in (0, 59.9, 3661)] == ["0:00", "0:59", "1:01:01"]
    assert [percent(value) for value in (1, 0.99999999, 0.5, 0)] == ["100%", ">99.99%", "50%", "0%"]


def test_changes() -> None:
    assert [change(value) for value in (0.125, -0.5, 872.65)] == ["+12.5%", "-50.0%", "x874"]


def test_figures_of_ones_own_read_as_on_the_page() -> None:
    values = [(1234.5, ""), (12345.6, ""), (15300, ""), (0.25, "seconds"), (15300, "per_second"), (None, "seconds")]
    own = [{"name": "score", "value": value, "unit": unit, "detail": ""} for value, unit in values]
    assert describe_run({"id": "r1", "state": "finished", "own_figures": own})[1:] == [
        f"  score: {text}" for text in ("1,235", "12,346", "15,300", "250 ms", "15.3k/s", "-")
    ]


def test_the_nearest_resource() -> None:
    assert read_nearest({"resources": []}) is None
    entry = {"title": "Pool", "name": "main", "used": 4, "limit": 5}
    assert read_nearest({"resources": [entry, {}]}) == Nearest(name="Pool main", used=4, limit=5)


def test_thresholds() -> None:
    threshold = {"state": "failed", "expression": "p95<300ms", "actual": 0.4, "unit": "seconds", "window": "steady"}
    assert describe_threshold(threshold) == "failed  p95<300ms: 400 ms over steady"
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
        "  latency: p50 1.50 ms",
    ]
    assert describe_run({**run, "success_ratio": None, "latency_seconds": {}})[1] == "  1 requests, -/s"


def test_a_threshold_that_nobody_can_tell_says_why() -> None:
    few = {"state": "unknown", "expression": "error_rate<1%", "actual": 0.0, "unit": "ratio", "window": "steady"}
    detail = "Too few requests to tell: 11, at least 100 are needed."
    assert describe_threshold({**few, "detail": detail}) == f"unknown error_rate<1%: 0% over steady ({detail})"
