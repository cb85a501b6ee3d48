"""Forecasts of a scenario whose runs a real server has imported: made, kept, and scored by a later run."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from backend.tests.conftest import NOW_MS, RunningServer, run_server
from backend.tests.runs.sending import imported, vegeta_csv

MINUTE_MS = 60_000
SECONDS = 40
RATES = (20, 40, 60, 80, 100)
POOL = {"job": "app", "instance": "app-1", "db_name": "main"}
HOST = {"job": "node", "instance": "web-1"}
FULL_AT = 200
"""A tenth of a connection for each request per second, of twenty."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_server(tmp_path_factory.mktemp("forecasts")) as running:
        yield running


def measured(server: RunningServer, start_ms: int, used: Sequence[float], *, pool: int = 20) -> None:
    """What an agent would have sent while a run lasted: its pool, and memory that does not care."""
    times = [start_ms + 1_000 * second for second in range(len(used))]

    def every(name: str, labels: dict[str, str], values: Sequence[float]) -> None:
        server.write(({"__name__": name, **labels}, list(zip(times, values, strict=True))))

    every("go_sql_in_use_connections", POOL, used)
    every("go_sql_max_open_connections", POOL, [pool] * len(used))
    every("node_memory_MemTotal_bytes", HOST, [8e9] * len(used))
    every("node_memory_MemAvailable_bytes", HOST, [5e9 + 1e6 * (second % 7) for second in range(len(used))])


def run_at(server: RunningServer, number: int, rate: int, scenario: str, **facts: Any) -> str:
    """A run of 40 s with its samples; some are a little more in use than others."""
    start_ms = NOW_MS - (60 - 2 * number) * MINUTE_MS
    used = [min(rate / 10 * (1 + 0.05 * math.sin(second * 1.7)) + rate // FULL_AT, 20) for second in range(SECONDS + 2)]
    measured(server, start_ms, used)
    return imported(server, vegeta_csv(start_ms, seconds=SECONDS, rate=rate), scenario=scenario, **facts)["id"]


def ask(server: RunningServer, scenario: str, **params: str) -> dict[str, Any]:
    answer = server.client.get("/api/forecasts", params={"scenario": scenario, **params})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_forecast_is_made_kept_and_scored_by_a_later_run(server: RunningServer) -> None:
    ids = [run_at(server, number, rate, "checkout") for number, rate in enumerate(RATES)]
    first = ask(server, "checkout")["now"]
    pool, memory = first["resources"]
    assert (pool["resource"], pool["name"], pool["limit"], pool["unit"]) == (
        "pool_connections",
        "app-1 main",
        20,
        "count",
    )
    assert pool["law"]["rate"] == pytest.approx(FULL_AT, rel=0.05)
    assert pool["law"]["low"] <= FULL_AT <= pool["law"]["high"]
    assert {point["run"] for point in pool["points"]} == set(ids)
    assert (memory["resource"], memory["law"], memory["refused"]) == ("host_memory", None, "stock")
    assert first["sentence"]["en"].startswith("At about 2")
    assert "最初の上限" in first["sentence"]["ja"]
    assert [run["run"] for run in first["runs"]] == ids
    assert (first["peak"], first["other_runs"]) == (None, 0)

    again = ask(server, "checkout")
    assert again["now"] == first
    assert again["past"] == []

    later = run_at(server, 6, FULL_AT, "checkout")
    scored = ask(server, "checkout")
    (past,) = scored["past"]
    (score,) = past["scores"]
    assert (score["run"], score["result"], score["key"]) == (later, "hit", pool["key"])
    assert score["truth"] == pytest.approx(FULL_AT, rel=0.02)
    assert scored["record"] == {"hits": 1, "too_high": 0, "too_low": 0, "bias": score["error"]}
    assert scored["now"]["resources"][0]["law"]["reached"] == pytest.approx(FULL_AT, rel=0.02)
    assert "has been reached in a run" in scored["now"]["sentence"]["en"]
    # A score stands, whatever comes later.
    run_at(server, 7, 150, "checkout")
    assert ask(server, "checkout")["record"] == scored["record"]


def test_what_is_promised_too_low_counts_against_it(server: RunningServer) -> None:
    for number, rate in enumerate(RATES):
        run_at(server, number, rate, "faster")
    ask(server, "faster")
    start_ms = NOW_MS - 20 * MINUTE_MS
    measured(server, start_ms, [12.0] * 42)
    imported(server, vegeta_csv(start_ms, seconds=SECONDS, rate=300), scenario="faster")
    found = ask(server, "faster")
    (score,) = found["past"][0]["scores"]
    assert (score["result"], score["truth"], score["error"]) == ("too-low", None, None)
    assert found["record"] == {"hits": 0, "too_high": 0, "too_low": 1, "bias": None}


def test_runs_of_another_system_and_version_are_left_out(server: RunningServer) -> None:
    for number, rate in enumerate((20, 30, 40)):
        run_at(server, number, rate, "mixed", scenario_version="1")
    for number, rate in enumerate(RATES):
        gc = "gc=off" if number == 0 else "gc=on"
        run_at(server, 10 + number, rate, "mixed", scenario_version="2", parameter=[gc, f"rate={rate}"])
    found = ask(server, "mixed")
    assert (found["scenario_version"], len(found["now"]["runs"]), found["now"]["other_runs"]) == ("2", 4, 1)
    old = ask(server, "mixed", scenario_version="1")["now"]
    assert {one["refused"] for one in old["resources"]} == {"few-steps", "stock"}
    assert old["sentence"]["en"].startswith("No forecast")


def test_declared_caps_and_users_count(server: RunningServer) -> None:
    """A cap of 1 MB/s of which each request takes 4 kB; as many users as requests in a fiftieth of a second."""
    for number, rate in enumerate(RATES):
        start_ms = NOW_MS - (400 - 2 * number) * MINUTE_MS
        times = [start_ms + 1_000 * second for second in range(-10, SECONDS + 5)]
        for name, labels, values in (
            ("declared_limit", {"resource": "eth0", "unit": "bytes_per_second"}, [1e6] * len(times)),
            ("node_network_transmit_bytes_total", {"device": "eth0"}, [4e3 * rate * at for at in range(len(times))]),
        ):
            server.write(({"__name__": name, **HOST, **labels}, list(zip(times, values, strict=True))))
        imported(
            server,
            vegeta_csv(start_ms, seconds=SECONDS, rate=rate),
            scenario="capped",
            parameter=[f"users={rate // 50 + 1}", f"rate={rate}"],
        )
    now = ask(server, "capped")["now"]
    (cap,) = now["resources"]
    assert (cap["resource"], cap["name"], cap["limit"]) == ("declared_transmit", "web-1 eth0", 1e6)
    assert cap["law"]["rate"] == pytest.approx(250, rel=0.03)
    assert cap["law"]["demand"] == pytest.approx(4_000, rel=0.03)
    assert "3 numbers of users were tried" in now["peak_text"]["en"]
    # 13 ms of mean latency times the rate, over the users that were said.
    assert [run["little"] for run in now["runs"]] == pytest.approx(
        [rate * 0.013 / (rate // 50 + 1) for rate in RATES], rel=0.03
    )


def test_a_scenario_without_runs_has_an_answer(server: RunningServer) -> None:
    found = ask(server, "nobody")
    assert (found["now"]["resources"], found["past"]) == ([], [])
    assert "none of these runs" in found["now"]["sentence"]["en"]


def test_too_long_a_name_is_refused(server: RunningServer) -> None:
    assert server.client.get("/api/forecasts", params={"scenario": "x" * 201}).status_code == 422
    assert server.client.get("/api/forecasts").status_code == 422


def test_a_host_that_others_filled_is_no_limit_that_was_reached(server: RunningServer) -> None:
    for number, rate in enumerate((20, 40, 60, 80, 100)):
        start_ms = NOW_MS - (400 - 2 * number) * MINUTE_MS
        measured(server, start_ms, [rate / 10] * (SECONDS + 2))
        # A watched program of a tenth of a core, and others that fill both cores while the last run lasts.
        _cpu(server, start_ms, own=rate / 1_000, others=1.9 if rate == 100 else 0.1)
        imported(server, vegeta_csv(start_ms, seconds=SECONDS, rate=rate), scenario="noisy")
    said = ask(server, "noisy")["now"]
    found = {one["resource"]: one for one in said["resources"]}
    assert found["pool_connections"]["law"]["rate"] == pytest.approx(FULL_AT, rel=0.1)
    assert found["host_cpu"]["law"] is None
    assert "others" in {left["reason"] for left in said["runs"][-1]["left_out"]}


def _cpu(server: RunningServer, start_ms: int, *, own: float, others: float) -> None:
    seconds = range(-30, SECONDS + 30)
    shares = {"user": own + others, "idle": 2.0 - own - others}
    for cpu in ("0", "1"):
        for mode, share in shares.items():
            labels = {"__name__": "node_cpu_seconds_total", **HOST, "cpu": cpu, "mode": mode}
            server.write((labels, [(start_ms + 1_000 * second, 1e6 + share / 2 * second) for second in seconds]))
    program = {"__name__": "process_cpu_seconds_total", "job": "app", "instance": "web-1", "name": "app"}
    server.write((program, [(start_ms + 1_000 * second, 1e6 + own * second) for second in seconds]))
