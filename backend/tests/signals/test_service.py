from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loadwatch_backend.series.store import sample_store

SECOND = 1_000


def counter(now: int, seconds: int, rate: float, step: int = 1) -> list[tuple[int, float]]:
    return [(now - (seconds - i) * SECOND, i * rate) for i in range(0, seconds + 1, step)]


def labels(name: str, **more: str) -> dict[str, str]:
    return {"__name__": name, "job": "app", "instance": "a", **more}


@pytest.fixture
def ask(server: Any) -> Callable[..., dict[str, Any]]:
    def ask(*signals: str, seconds: int = 300, **more: Any) -> dict[str, Any]:
        now = server.clock.now_ms
        body = {"signals": signals, "start_ms": now - seconds * SECOND, "end_ms": now, **more}
        answer = server.client.post("/api/signals/query", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


def values_at(answer: dict[str, Any], result: int = 0, series: int = 0) -> dict[int, float | None]:
    values = answer["results"][result]["series"][series]["values"]
    assert len(values) == answer["count"]
    return {answer["start_ms"] + i * answer["step_ms"]: value for i, value in enumerate(values)}


def test_the_catalogue_is_given_in_both_languages(server: Any):
    english, japanese = (server.client.get(f"/api/signals?lang={lang}").json() for lang in ("en", "ja"))
    assert english["groups"][0] == {"id": "mission", "title": "Mission", "optional": False}
    assert japanese["groups"][0] == {"id": "mission", "title": "ミッション", "optional": False}
    assert [one["id"] for one in english["signals"]] == [one["id"] for one in japanese["signals"]]
    assert english["signals"][0]["panel"]["id"] == "rps"
    assert server.client.get("/api/signals?lang=fr").status_code == 422


@pytest.mark.parametrize("step", [1, 15])
def test_a_rate_is_right_whether_data_comes_each_second_or_each_quarter_of_a_minute(
    server: Any, ask: Callable[..., Any], step: int
):
    server.write((labels("ingest_accepted_total"), counter(server.clock.now_ms, 300, 20.0, step)))
    answer = ask("rps_accepted")
    found = [value for value in values_at(answer).values() if value is not None]
    assert len(found) > 250 / step
    np.testing.assert_allclose(found[len(found) // 2 :], 20.0)
    assert answer["step_ms"] == step * SECOND
    assert answer["results"][0]["series"][0]["name"] == "Accepted"


@pytest.mark.parametrize(("step", "seconds", "mean"), [(1, 300, 5), (15, 300, 15), (60, 900, 60), (1, 86_400, 15)])
def test_an_answer_says_what_its_points_are_means_of(
    server: Any, ask: Callable[..., Any], step: int, seconds: int, mean: int
):
    server.write(
        (labels("ingest_accepted_total"), counter(server.clock.now_ms, 900, 20.0, step)),
        (labels("db_pool_in_use"), counter(server.clock.now_ms, 900, 0.0, step)),
    )
    rates, instants = ask("rps_accepted", "pool_in_use", seconds=seconds)["results"]
    assert rates["mean_ms"] == mean * SECOND
    assert instants["mean_ms"] is None


def test_a_spike_of_one_second_survives_a_long_range(server: Any, ask: Callable[..., Any]):
    now = server.clock.now_ms
    samples = [(now - i * SECOND, 5_000.0 if i == 1_777 else float(i % 3)) for i in range(3_600)]
    server.write((labels("tcp_accept_queue", port="80"), samples))
    answer = ask("accept_queue", seconds=3_600, max_points=100)
    assert answer["reduced"]
    assert answer["count"] <= 100
    found = values_at(answer)
    assert max(value for value in found.values() if value is not None) == 5_000
    peak = next(time for time, value in found.items() if value == 5_000)
    assert abs(peak - (now - 1_777 * SECOND)) <= 2 * answer["step_ms"]


def test_an_increment_joins_and_repeats_what_was_complete(server: Any, ask: Callable[..., Any]):
    now = server.clock.now_ms
    gauge = [(now - i * SECOND, float((i * 37) % 101)) for i in range(1_800)]
    server.write((labels("go_goroutines"), gauge[60:]))
    before = ask("goroutines", seconds=900)
    assert before["complete_ms"] <= now - 60 * SECOND
    server.write((labels("go_goroutines"), gauge[:60]))
    body = {"signals": ["goroutines"], "start_ms": before["complete_ms"], "end_ms": now, "step_ms": before["step_ms"]}
    after = server.client.post("/api/signals/query", json=body).json()
    whole = ask("goroutines", seconds=900)
    assert (after["step_ms"], after["reduced"]) == (whole["step_ms"], whole["reduced"]) == (2_000, True)
    joined = {
        **{time: value for time, value in values_at(before).items() if time < before["complete_ms"]},
        **values_at(after),
    }
    assert joined == values_at(whole)


def test_nothing_is_drawn_after_the_newest_sample_nor_across_a_gap(server: Any, ask: Callable[..., Any]):
    now = server.clock.now_ms
    times = [*range(now - 300_000, now - 200_000, SECOND), *range(now - 100_000, now - 50_000, SECOND)]
    server.write((labels("go_goroutines"), [(time, 1.0) for time in times]))
    found = values_at(ask("goroutines"))
    assert found[now - 210_000] == 1
    assert found[now - 150_000] is None
    assert found[now - 60_000] == 1
    assert [value for time, value in found.items() if time > now - 51_000 and value is not None] == []


def test_filters_narrow_every_selector(server: Any, ask: Callable[..., Any]):
    now = server.clock.now_ms
    for instance in ("a", "b.c", "d"):
        gauge = [(now - i * SECOND, 1.0) for i in range(60)]
        server.write(({"__name__": "go_goroutines", "job": "app", "instance": instance}, gauge))

    def names(**filters: list[str]) -> list[str]:
        answer = ask("goroutines", seconds=30, filters=filters)
        return [one["labels"]["instance"] for one in answer["results"][0]["series"]]

    assert names() == ["a", "b.c", "d"]
    assert names(instance=["b.c"]) == ["b.c"]
    assert names(instance=["a", "b.c"]) == ["a", "b.c"]
    assert names(instance=["bxc"]) == []
    assert names(instance=[]) == ["a", "b.c", "d"]
    assert names(instance=["a"], job=["other"]) == []


def test_one_signals_failure_leaves_the_others(
    server: Any, ask: Callable[..., Any], start_server: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
):
    now = server.clock.now_ms
    server.write((labels("go_goroutines"), [(now, 4.0)]))
    answer = ask("nonsense", "goroutines", "goroutines")
    first, second, third = answer["results"]
    assert first == {
        "signal": "nonsense",
        "series": [],
        "error": {"code": "unknown-signal", "detail": "There is no signal 'nonsense'; GET /api/signals lists all."},
        "newest_ms": None,
        "final_ms": None,
        "mean_ms": None,
    }
    assert second == third
    assert second["error"] is None
    monkeypatch.setattr(sample_store, "QUERY_SAMPLES", 1_000)
    with start_server(tmp_path / "small") as small:
        rows = [(small.clock.now_ms - i * SECOND, 1.0) for i in range(1_500)]
        small.write((labels("go_goroutines"), rows), (labels("process_threads"), rows[:10]))
        body = {"signals": ["goroutines", "process_threads"], "start_ms": rows[-1][0], "end_ms": rows[0][0]}
        results = small.client.post("/api/signals/query", json=body).json()["results"]
        assert results[0]["error"]["code"] == "query-limit"
        assert "LOADWATCH_" in results[0]["error"]["detail"]
        assert len(results[1]["series"]) == 1


def test_questions_that_make_no_sense_are_refused(server: Any):
    def refused(**body: Any) -> tuple[int, str]:
        answer = server.client.post("/api/signals/query", json={"signals": ["rps_sent"], **body})
        return answer.status_code, answer.json()["code"]

    assert refused(start_ms=2, end_ms=1) == (422, "signal-span")
    assert refused(start_ms=0, end_ms=10**12, step_ms=1_000) == (422, "signal-points")
    assert refused(start_ms=0, end_ms=1, max_points=1) == (422, "invalid")
    assert refused(start_ms=0, end_ms=1, step_ms=0) == (422, "invalid")
    assert refused(start_ms=0) == (422, "invalid")


def test_a_range_before_all_data_and_beyond_is_empty(server: Any, ask: Callable[..., Any]):
    server.write((labels("go_goroutines"), [(server.clock.now_ms, 4.0)]))
    body = {"signals": ["goroutines"], "start_ms": 0, "end_ms": 60_000}
    answer = server.client.post("/api/signals/query", json=body).json()
    assert answer["results"][0]["series"] == []
    body = {"signals": ["goroutines"], "start_ms": server.clock.now_ms + 10_000, "end_ms": server.clock.now_ms + 20_000}
    answer = server.client.post("/api/signals/query", json=body).json()
    assert answer["results"][0]["series"] == []
    assert answer["complete_ms"] >= answer["start_ms"]


def test_stored_is_read_from_the_table_where_the_application_says_nothing(server: Any, ask: Callable[..., Any]):
    now = server.clock.now_ms
    server.write(
        (labels("table_rows", table="orders"), counter(now, 300, 40.0)),
        (labels("table_rows", table="audit"), counter(now, 300, 2.0)),
    )
    found = [value for value in values_at(ask("rps_stored")).values() if value is not None]
    assert len(found) > 200
    np.testing.assert_allclose(found, 40.0, atol=1e-6)
    server.write((labels("ingest_stored_total"), counter(now, 300, 30.0)))
    newest = [value for value in values_at(ask("rps_stored")).values() if value is not None]
    np.testing.assert_allclose(newest[-100:], 30.0)


def test_what_is_stored_is_drawn_no_longer_than_it_was_written(server: Any, ask: Callable[..., Any]):
    """Whoever counts, and whether the application is stopped after its load or goes on."""
    end = server.clock.now_ms - 60 * SECOND
    rows = [
        (time, 40.0 * min(time, end) / SECOND) for time in range(end - 200 * SECOND, end + 61 * SECOND, 10 * SECOND)
    ]
    server.write((labels("table_rows", table="orders"), [(time + 3 * SECOND, value) for time, value in rows[:-1]]))

    def after(wait_ms: int) -> set[float]:
        drawn = values_at(ask("rps_stored", seconds=180, step_ms=SECOND)).items()
        return {round(value, 6) for time, value in drawn if time > end + wait_ms and value is not None}

    # The count at the end's third second is the first that knows: until it, its mean is all that is known.
    assert after(3 * SECOND) == {0.0}
    counter = [(time, 40.0 * min(time, end) / SECOND) for time in range(end - 100 * SECOND, end + 3 * SECOND, SECOND)]
    server.write((labels("ingest_stored_total"), counter))
    server.clock.now_ms += 31 * SECOND
    assert max(after(-20 * SECOND)) == 40.0
    assert after(5 * SECOND) <= {0.0}


def test_a_table_of_which_rows_are_deleted_says_nothing_of_what_is_stored(server: Any, ask: Callable[..., Any]):
    now = server.clock.now_ms
    falling = [(time, 10_000.0 - value) for time, value in counter(now, 300, 40.0)]
    server.write((labels("table_rows", table="orders"), falling))
    assert ask("rps_stored")["results"][0]["series"] == []


def test_of_several_runs_the_fastest_answer_is_the_least_and_the_slowest_the_greatest(
    server: Any, ask: Callable[..., Any]
):
    times = [server.clock.now_ms - i * SECOND for i in range(60)]
    server.write(
        *(
            (
                {"__name__": "loadtest_request_duration_seconds", "run": run, "quantile": quantile},
                [(at, value) for at in times],
            )
            for run, quantile, value in (("a", "0", 0.142), ("b", "0", 0.3), ("a", "1", 3.264), ("b", "1", 2.0))
        )
    )
    series = ask("load_latency")["results"][0]["series"]
    drawn = {one["name"]: {value for value in one["values"] if value is not None} for one in series}
    assert drawn == {"Response time · min": {0.142}, "Response time · max": {3.264}}


def test_connections_lead_from_host_to_host_by_the_names_of_watched_hosts(server: Any, ask: Callable[..., Any]):
    times = [server.clock.now_ms - i * SECOND for i in range(60)]
    ends = [
        ("app-1", "10.0.0.1", "10.0.0.9", "app", "remote", 30),
        ("app-2", "10.0.0.2", "10.0.0.9", "app", "remote", 10),
        ("db", "10.0.0.9", "10.0.0.1", "mysqld", "local", 30),
        ("db", "10.0.0.9", "10.0.0.77", "mysqld", "local", 5),
        ("app-1", "127.0.0.1", "127.0.0.1", "nginx", "remote", 4),
        ("app-2", "127.0.0.1", "203.0.113.5", "app", "remote", 1),
        # Two hosts have this address of their own: what leads to it has no name.
        ("app-1", "172.17.0.1", "172.17.0.1", "docker-proxy", "remote", 2),
        ("app-2", "172.17.0.1", "172.17.0.9", "docker-proxy", "remote", 2),
    ]
    server.write(
        *(
            (
                {"__name__": "tcp_peer_connections", "job": "host", "instance": instance, "address": address}
                | {"peer": peer, "process": process, "port": "3306", "side": side},
                [(at, float(count)) for at in times],
            )
            for instance, address, peer, process, side, count in ends
        )
    )

    def drawn(signal: str) -> dict[str, float]:
        (found,) = ask(signal)["results"]
        return {one["name"]: next(value for value in one["values"] if value is not None) for one in found["series"]}

    assert drawn("host_to_host") == {
        "app-1 → db": 30,
        "app-2 → db": 10,
        "app-1 → 127.0.0.1": 4,
        "app-2 → 203.0.113.5": 1,
        "app-1 → 172.17.0.1": 2,
        "app-2 → 172.17.0.9": 2,
    }
    peers = drawn("tcp_peers")
    assert peers["app-1 app → 10.0.0.9:3306"] == 30
    assert peers["db mysqld:3306 ← 10.0.0.77"] == 5


def test_seconds_whose_requests_may_still_wait_are_said_and_asked_for_again(server: Any, ask: Callable[..., Any]):
    now = server.clock.now_ms
    run = {"run": "r", "outcome": "ok"}
    sent = [(now - i * SECOND, 60.0 * (300 - max(i, 8))) for i in range(300)]
    told = [(now - i * SECOND, 6.0 if i == 100 else 0.2) for i in range(2, 300)]
    server.write(
        ({"__name__": "loadtest_requests_total", **run}, sent),
        ({"__name__": "loadtest_request_duration_seconds", "run": "r", "quantile": "1"}, told),
        (labels("go_goroutines"), told),
    )
    answer = ask("rps_sent", "goroutines")
    assert [one["final_ms"] for one in answer["results"]] == [now - 8 * SECOND, None]
    assert answer["complete_ms"] <= now - 8 * SECOND
    stale = float(np.array([0x7FF0000000000002], np.uint64).view(np.float64)[0])
    server.write(({"__name__": "loadtest_request_duration_seconds", "run": "r", "quantile": "1"}, [(now, stale)]))
    assert ask("rps_sent")["results"][0]["final_ms"] is None, "the run has ended: nothing is awaited"
