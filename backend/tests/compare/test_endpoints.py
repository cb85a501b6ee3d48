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


def test_repeats_of_one_commit_and_parameters_are_taken_together(server: RunningServer) -> None:
    ids = [
        imported(
            server,
            vegeta_csv(NOW_MS - (60 + number) * HOUR_MS, seconds=30, rate=20 + number),
            scenario="repeats",
            commit="c0ffee1" if number < 3 else "deadbee",
            parameter=["pool=30"],
        )["id"]
        for number in range(6)
    ]
    found = server.client.get("/api/compare", params={"run": ids}).json()
    assert [group["runs"] for group in found["groups"]] == [ids[:3], ids[3:]]
    assert [group["label"] for group in found["groups"]] == ["c0ffee1", "deadbee"]
    cell = next(row for row in found["rows"] if row["metric"]["id"] == "rate")["cells"][1]
    assert cell["remark"] == ""
    assert len(cell["per_run"]) == 3
    assert cell["low"] < cell["value"] < cell["high"]


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
    assert found["best"] == 60
    assert found["diminishing"] == 60
    assert "single-runs" in found["remarks"]


def test_a_parameter_of_words_cannot_be_swept(server: RunningServer, runs: list[str]) -> None:
    found = ask(server, "/api/sweep", scenario="checkout", parameter="gc")
    assert found["points"] == []
    assert f"not-numeric:{len(runs)}" in found["remarks"]


def test_a_trend_finds_the_commit_of_the_new_level(server: RunningServer, runs: list[str]) -> None:
    found = ask(server, "/api/trend", scenario="checkout", metric="rate")
    (change,) = found["changes"]
    assert (change["run"], change["previous_run"]) == (runs[4], runs[3])
    assert (change["previous_commit"], change["commit"]) == ("aaaa111", "bbbb222")
    assert change["change"] == pytest.approx(0.5, abs=0.1)
    assert change["opinion"] == "better"
    assert found["versions"] == ["1", "2"]


def test_a_trend_within_one_version_leaves_the_others_out(server: RunningServer, runs: list[str]) -> None:
    found = ask(server, "/api/trend", scenario="checkout", metric="p95", scenario_version="2")
    assert [point["run"] for point in found["points"]] == [runs[7]]
    assert found["remark"] == "too-few-runs"


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
    for run, used in ((runs[0], 10.0), (runs[4], 25.0)):
        document = server.client.get(f"/api/runs/{run}").json()
        start = document["started_ms"]
        samples = [(start + 1_000 * second, used + second % 3) for second in range(41)]
        labels = {"__name__": "process_open_fds", "job": "app", "instance": "a:1", "name": "app"}
        server.write((labels, samples))
    found = server.client.get("/api/compare", params={"run": [runs[0], runs[4]], "lang": "en"}).json()
    cells = next(row for row in found["rows"] if row["metric"]["id"] == "signal:process_fds")["cells"]
    assert cells[0]["value"] == pytest.approx(11, abs=0.2)
    assert cells[1]["delta"] == pytest.approx(15 / 11, abs=0.05)
    assert cells[1]["opinion"] == "worse"
