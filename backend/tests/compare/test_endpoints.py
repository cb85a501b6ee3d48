"""Comparison, sweep and trend of runs that a real server has imported."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.tests.conftest import NOW_MS, RunningServer, run_server
from backend.tests.runs.sending import imported, vegeta_csv

HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("compare")
    with run_server(folder) as running:
        yield running


@pytest.fixture(scope="module")
def runs(server: RunningServer) -> list[str]:
    """Eight runs: four of an old commit at 20/s, four of a new one at 30/s of which one in ten fails."""
    ids: list[str] = []
    for number in range(8):
        new = number >= 4
        content = vegeta_csv(
            NOW_MS - (20 - number) * HOUR_MS, seconds=40, rate=(30 if new else 20) + number % 2, failing=3 if new else 0
        )
        run = imported(
            server,
            content,
            scenario="checkout",
            scenario_version="2" if number == 7 else "1",
            commit="bbbb222" if new else "aaaa111",
            parameter=[f"pool={10 * (number + 1)}", "gc=on"] if number < 6 else ["gc=off"],
        )
        ids.append(run["id"])
    return ids


@pytest.fixture(scope="module")
def repeats(server: RunningServer) -> list[str]:
    """Four runs of one commit at 20/s and four of another at 30/s, all else equal."""
    return [
        imported(
            server,
            vegeta_csv(NOW_MS - (60 + 8 - number) * HOUR_MS, seconds=30, rate=(20 if number < 4 else 30) + number % 2),
            scenario="repeats",
            commit="c0ffee1" if number < 4 else "deadbee",
            parameter=["pool=30"],
        )["id"]
        for number in range(8)
    ]


def ask(server: RunningServer, path: str, **params: str) -> dict[str, Any]:
    answer = server.client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_two_runs_are_laid_over_each_other(server: RunningServer, runs: list[str]) -> None:
    found = server.client.get("/api/compare", params={"run": [runs[0], runs[4]]}).json()
    assert [one["id"] for one in found["runs"]] == [runs[0], runs[4]]
    assert found["groups"][0]["is_base"]
    assert found["step_seconds"] == 1
    (headline,) = found["headlines"]
    assert headline["group"] == runs[4]
    assert headline["text"].startswith("good answers ")
    assert headline["text"].endswith("; in these two runs")
    for series in found["series"]:
        assert len(series["rate"]) == found["count"]
    rows = {row["metric"]["id"]: row["cells"] for row in found["rows"]}
    assert rows["rate"][1]["delta"] == pytest.approx(0.5, abs=0.05)
    assert rows["rate"][1]["opinion"] == "better"
    assert rows["error_rate"][1]["value"] == pytest.approx(0.1, abs=0.01)
    assert {one["name"] for one in found["endpoints"]} == {"GET http://127.0.0.1/a", "GET http://127.0.0.1/b"}
    assert [(one["base"], one["run"]) for one in found["configuration"]] == [(runs[0], runs[4])]


def test_aligned_at_steady_state_the_steady_windows_begin_at_zero(server: RunningServer, runs: list[str]) -> None:
    found = server.client.get("/api/compare", params={"run": [runs[0], runs[1]], "align": "steady"}).json()
    for run, series in zip(found["runs"], found["series"], strict=True):
        window = server.client.get(f"/api/runs/{run['id']}").json()["steady_window"]
        assert series["offset_seconds"] == int(window["from_seconds"])


def test_what_makes_runs_unlike_is_said(server: RunningServer, runs: list[str]) -> None:
    found = server.client.get("/api/compare", params={"run": [runs[6], runs[7]]}).json()
    assert "version-differs" in found["remarks"]


def test_repeats_of_one_commit_and_parameters_are_taken_together(server: RunningServer, repeats: list[str]) -> None:
    found = server.client.get("/api/compare", params={"run": repeats}).json()
    assert [group["runs"] for group in found["groups"]] == [repeats[:4], repeats[4:]]
    assert [group["label"] for group in found["groups"]] == ["c0ffee1", "deadbee"]
    row = next(row for row in found["rows"] if row["metric"]["id"] == "rate")
    cell = row["cells"][1]
    assert (cell["remark"], cell["opinion"], row["margin"]) == ("", "better", 0.02)
    assert cell["grade"] == "holds-over-repeats"
    assert len(cell["per_run"]) == 4
    assert cell["low"] < cell["value"] < cell["high"]
    assert cell["delta_low"] < cell["delta"] < cell["delta_high"]


def test_the_mean_response_of_single_runs_is_compared_as_all_others(server: RunningServer, runs: list[str]) -> None:
    found = server.client.get("/api/compare", params={"run": [runs[0], runs[1]]}).json()
    cell = next(row for row in found["rows"] if row["metric"]["id"] == "mean")["cells"][1]
    assert cell["remark"] == "single-run"
    assert cell["delta_low"] is not None


def test_endpoints_are_those_of_all_repeats(server: RunningServer, repeats: list[str]) -> None:
    found = server.client.get("/api/compare", params={"run": repeats}).json()
    each = [server.client.get(f"/api/runs/{run}").json()["endpoints"] for run in repeats]
    for row in found["endpoints"]:
        expected = [
            sum(one["requests"] for run in part for one in run if one["name"] == row["name"])
            for part in (each[:4], each[4:])
        ]
        assert row["requests"] == expected
    assert [sum(row["share"][place] for row in found["endpoints"]) for place in (0, 1)] == pytest.approx([1, 1])
    assert "mix-differs" not in found["remarks"]


def test_figures_stand_by_how_well_they_repeat_between_equal_runs(server: RunningServer, repeats: list[str]) -> None:
    found = server.client.get("/api/compare", params={"run": repeats}).json()["repeats"]
    scatters = {one["metric"]["id"]: one["scatter"] for one in found}
    assert list(scatters.values()) == sorted(scatters.values())
    # 20 and 21, 30 and 31 requests a second, each twice; all answers take the same.
    assert 0.01 < scatters["ok_rate"] < 0.04
    assert scatters["p95"] < scatters["ok_rate"]
    assert {one["runs"] for one in found} == {8}
    report = server.client.get(f"/api/runs/{repeats[0]}/report?format=md").text
    assert "## How well figures repeat between equal runs" in report
    document = server.client.get(f"/api/runs/{repeats[0]}/report?format=json").json()
    assert document["repeats"] == found


def test_without_three_equal_runs_nobody_can_tell_what_repeats(server: RunningServer, runs: list[str]) -> None:
    found = server.client.get("/api/compare", params={"run": runs[:2]}).json()
    assert found["repeats"] == []


@pytest.mark.parametrize("count", [1, 9])
def test_too_few_and_too_many_runs_are_refused(server: RunningServer, runs: list[str], count: int) -> None:
    answer = server.client.get("/api/compare", params={"run": (runs * 2)[:count]})
    assert answer.status_code == 422


def test_a_run_named_twice_is_refused(server: RunningServer, runs: list[str]) -> None:
    answer = server.client.get("/api/compare", params={"run": [runs[0], runs[0]]})
    assert (answer.status_code, answer.json()["code"]) == (422, "compare-same")


def test_a_run_that_is_gone_is_named(server: RunningServer, runs: list[str]) -> None:
    answer = server.client.get("/api/compare", params={"run": [runs[0], "no-such-run"]})
    assert answer.status_code == 404
    assert "no-such-run" in answer.json()["detail"]


def test_a_sweep_has_a_point_for_each_value(server: RunningServer, runs: list[str]) -> None:
    found = ask(server, "/api/sweep", scenario="checkout", parameter="pool", first="rate", second="p95")
    points = found["points"]
    assert [point["value"] for point in points] == [10, 20, 30, 40, 50, 60]
    assert [point["runs"] for point in points] == [[run] for run in runs[:6]]
    # 30/s and 31/s cannot be told apart by a run each; nothing beyond 60 was tried.
    assert (found["best"], found["tied"]) == (50, [50, 60])
    assert found["diminishing"] == 50
    assert found["next"] == {"value": None, "reason": "plateau", "beside": None}
    assert {"single-runs", "mixed:commit"} & set(found["remarks"]) == {"single-runs"}


def test_a_sweep_shows_runs_that_do_not_count_beside_those_that_do(server: RunningServer) -> None:
    """Vegeta waits for no answer: of 400/s it sent 60/s and 50/s and was the limit itself. Others have the best."""
    sent = ((20, 20), (40, 40), (40, 50), (60, 60), (10, 10))
    ids: list[str] = []
    for number, (pool, rate) in enumerate(sent):
        content = vegeta_csv(NOW_MS - (90 - number) * HOUR_MS, seconds=30, rate=rate)
        asked = {"target_rate": 400 if rate >= 50 else rate, "threshold": ["p95<300ms"]}
        run = imported(server, content, scenario="limited", parameter=[f"pool={pool}"], **asked)
        assert run["verdict"] == ("invalid" if rate >= 50 else "passed")
        ids.append(run["id"])
        if number == 3:
            early = ask(server, "/api/sweep", scenario="limited", parameter="pool", first="rate", second="p95")
            assert (early["best"], early["tied"], early["next"]["reason"]) == (None, [], "few-values")
    found = ask(server, "/api/sweep", scenario="limited", parameter="pool", first="rate", second="p95")
    points = found["points"]
    assert [point["runs"] for point in points] == [ids[4:], ids[:1], ids[1:3], ids[3:4]]
    assert [point["x"] and round(point["x"]) for point in points] == [10, 20, 40, None]
    assert [point["verdict"] for point in points] == ["passed", "passed", "passed", None]
    left_out = [[(one["run"], round(one["x"]), one["verdict"]) for one in point["left_out"]] for point in points]
    assert left_out == [[], [], [(ids[2], 50, "invalid")], [(ids[3], 60, "invalid")]]
    assert all(one["y"] == pytest.approx(0.016) for point in points for one in point["left_out"])
    assert (found["best"], "left-out:2" in found["remarks"]) == (40, True)
    trend = ask(server, "/api/trend", scenario="limited", metric="rate")
    assert [round(point["value"]) for point in trend["points"]] == [20, 40, 50, 60, 10]


def test_a_parameter_of_words_cannot_be_swept(server: RunningServer, runs: list[str]) -> None:
    found = ask(server, "/api/sweep", scenario="checkout", parameter="gc")
    assert found["points"] == []
    assert f"not-numeric:{len(runs)}" in found["remarks"]


def test_a_trend_finds_the_commit_of_the_new_level(server: RunningServer, repeats: list[str]) -> None:
    found = ask(server, "/api/trend", scenario="repeats", metric="rate")
    (change,) = found["changes"]
    assert (change["run"], change["previous_run"]) == (repeats[4], repeats[3])
    assert (change["previous_commit"], change["commit"]) == ("c0ffee1", "deadbee")
    assert change["change"] == pytest.approx(0.5, abs=0.1)
    assert change["opinion"] == "better"
    assert [(one["label"], one["runs"]) for one in found["series"]] == [("", 8)]


def test_a_trend_joins_no_runs_of_different_parameters(server: RunningServer, runs: list[str]) -> None:
    """The pool was another one in each run: that the rate was 30/s with some of them is no change of the code."""
    found = ask(server, "/api/trend", scenario="checkout", metric="rate")
    assert found["versions"] == ["1", "2"]
    assert [one["label"] for one in found["series"]][:2] == ["gc=on pool=10", "gc=on pool=20"]
    assert len({point["series"] for point in found["points"]}) == len(runs) - 1
    assert (found["changes"], found["remark"]) == ([], "too-few-runs")


def test_a_trend_within_one_version_leaves_the_others_out(server: RunningServer, runs: list[str]) -> None:
    found = ask(server, "/api/trend", scenario="checkout", metric="p95", scenario_version="2")
    assert [point["run"] for point in found["points"]] == [runs[7]]
    assert found["remark"] == "too-few-runs"


def test_any_percentile_can_be_swept_and_followed(server: RunningServer, runs: list[str]) -> None:
    """Latencies are 10 to 16 ms, a seventh each."""
    found = ask(server, "/api/trend", scenario="checkout", metric="p70")
    assert [point["value"] for point in found["points"]] == [0.014] * len(runs)
    swept = ask(server, "/api/sweep", scenario="checkout", parameter="pool", first="p99.9", second="p15")
    assert {(round(point["x"], 6), round(point["y"], 6)) for point in swept["points"]} == {(0.016, 0.011)}
    assert {"p70", "p75"} <= {metric["id"] for metric in ask(server, "/api/metrics")["metrics"]}
    answer = server.client.get("/api/trend", params={"scenario": "checkout", "metric": "p070"})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-metric")


def test_any_percentile_can_be_compared(server: RunningServer, runs: list[str]) -> None:
    """Latencies are 10 to 16 ms, a seventh each."""
    chosen = {"run": [runs[0], runs[4]], "percentile": ["p99.90", "p70", "p95"]}
    answer = server.client.get("/api/compare", params=chosen)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    rows = {row["metric"]["id"]: row["cells"] for row in found["rows"]}
    listed = [id for id in rows if id in {"p50", "p70", "p90", "p95", "p99", "p99.9", "max"}]
    assert listed == ["p50", "p70", "p90", "p95", "p99", "p99.9", "max"]
    assert [round(cell["value"], 6) for cell in rows["p70"]] == [0.014, 0.014]
    assert all(cell["low"] < cell["value"] < cell["high"] for cell in rows["p70"])
    for endpoint in found["endpoints"]:
        assert list(endpoint["percentiles"]) == ["p99.9", "p70", "p95"]
        assert endpoint["percentiles"]["p95"] == endpoint["p95_seconds"]
    assert [round(one, 6) for one in found["endpoints"][0]["percentiles"]["p70"]] == [0.014, 0.014]
    refused = server.client.get("/api/compare", params={**chosen, "percentile": "p100"})
    assert (refused.status_code, refused.json()["code"]) == (404, "unknown-metric")


def test_every_figure_that_is_listed_can_be_followed(server: RunningServer, runs: list[str]) -> None:
    listed = ask(server, "/api/metrics", lang="ja")["metrics"]
    ids = [metric["id"] for metric in listed]
    assert {"rate", "p95", "sustained_rate", "signal:pool_wait_mean"} <= set(ids)
    assert any(any(ord(letter) > 0x3000 for letter in metric["title"]) for metric in listed)
    for id in ids[:12]:
        assert len(ask(server, "/api/trend", scenario="checkout", metric=id)["points"]) == len(runs)


def test_a_figure_that_does_not_exist_is_named(server: RunningServer) -> None:
    answer = server.client.get("/api/trend", params={"scenario": "checkout", "metric": "speed"})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-metric")


def test_signals_of_the_store_are_compared_over_the_steady_windows(server: RunningServer, runs: list[str]) -> None:
    for run, used in ((runs[0], 10.0), (runs[4], 45.0)):
        document = server.client.get(f"/api/runs/{run}").json()
        start = document["started_ms"]
        samples = [(start + 1_000 * second, used + second % 3) for second in range(41)]
        labels = {"__name__": "process_open_fds", "job": "app", "instance": "a:1", "name": "app"}
        server.write((labels, samples))
    found = server.client.get("/api/compare", params={"run": [runs[0], runs[4]], "lang": "en"}).json()
    cells = next(row for row in found["rows"] if row["metric"]["id"] == "signal:process_fds")["cells"]
    assert cells[0]["value"] == pytest.approx(11, abs=0.2)
    assert cells[1]["delta"] == pytest.approx(35 / 11, abs=0.1)
    # Nothing told how many files the process may open, and 45 of an unknown number are no bad news.
    assert (cells[1]["opinion"], cells[1]["remark"], cells[1]["grade"]) == ("neutral", "limit-unknown", None)
