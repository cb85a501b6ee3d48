"""Result files into runs, over HTTP."""

import gzip
from typing import Any

import numpy as np
from loadwatch_backend.core.uploads import UploadLimit
from loadwatch_backend.runs import service
from loadwatch_backend.series.store.port import Matcher, MatchOperator

from backend.tests.runs.sending import imported, send, vegeta_csv, wait

NOW_MS = 1_768_550_400_000
START_MS = NOW_MS - 100_000
HEY = b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n" + b"".join(
    b"0.0100,0.0,0.0,0.0,0.0100,0.0,200,%d.0\n" % second for second in range(10)
)
"""A result that tells no date."""


def samples(server: Any, metric: str, run: str) -> dict[str, tuple[list[int], list[float]]]:
    """By the series' one label besides the run."""
    matchers = [Matcher("__name__", MatchOperator.EQUAL, metric), Matcher("run", MatchOperator.EQUAL, run)]
    found = server.store.select(matchers, 0, NOW_MS * 2)
    series: dict[str, tuple[list[int], list[float]]] = {}
    for labels, begin, end in zip(found.labels, found.offsets[:-1], found.offsets[1:], strict=True):
        key = next((value for name, value in labels.items() if name not in ("__name__", "run")), "")
        series[key] = (found.timestamps[begin:end].tolist(), found.values[begin:end].tolist())
    return series


def test_a_file_makes_a_run_of_its_own(server: Any):
    content = vegeta_csv(START_MS, failing=1)
    run = imported(
        server,
        gzip.compress(content),
        filename="hits.csv.gz",
        name="n",
        scenario="s",
        commit="c0ffee",
        tag=["a", "b"],
        parameter=["pool=30", "note=a=b"],
        threshold=["error_rate<1%", "p95<1s"],
    )
    assert (run["state"], run["tool"], run["requests"], run["verdict"]) == ("imported", "vegeta", 400, "failed")
    assert (run["name"], run["scenario"], run["commit"], run["tags"]) == ("n", "s", "c0ffee", ["a", "b"])
    assert run["parameters"] == {"pool": "30", "note": "a=b"}
    assert run["outcomes"] == {"ok": 380, "http_5xx": 20}
    assert run["started_ms"] == START_MS
    assert [one["state"] for one in run["thresholds"]] == ["failed", "passed"]
    source = run["source"]
    assert (source["filename"], source["bytes"]) == ("hits.csv.gz", len(gzip.compress(content)))
    assert [path.name for path in (server.data / "imports").iterdir()] == []
    assert (server.data / "runs" / run["id"] / "records.parquet").exists()
    seconds = server.client.get(f"/api/runs/{run['id']}/seconds").json()
    assert (seconds["start_ms"], seconds["step_ms"], seconds["count"], seconds["exact"]) == (START_MS, 1_000, 20, True)
    assert seconds["rate"] == [20.0] * 20
    assert seconds["outcomes"] == {"ok": [19.0] * 20, "http_5xx": [1.0] * 20}
    figures = server.client.get(f"/api/runs/{run['id']}/figures", params={"from_seconds": 5, "to_seconds": 10}).json()
    assert (figures["requests"], figures["rate"], figures["outcomes"]["http_5xx"]) == (100, 20.0, 5)


def test_its_seconds_are_samples_under_the_names_that_streams_use(server: Any):
    run = imported(server, vegeta_csv(START_MS, failing=1, seconds=5), target_rate=20)["id"]
    requests = samples(server, "loadtest_requests_total", run)
    times, values = requests["ok"]
    assert times == [START_MS + 1_000 * second for second in range(7)]
    assert values[:-1] == [0.0, 19.0, 38.0, 57.0, 76.0, 95.0]
    assert np.array(values[-1:]).view(np.uint64) == 0x7FF0000000000002
    assert requests["http_5xx"][1][:-1] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    durations = samples(server, "loadtest_request_duration_seconds", run)
    assert sorted(durations) == ["0", "0.5", "0.9", "0.95", "0.99", "1"]
    assert durations["0"][1][:-1] == [0.01] * 5
    latency = server.client.get(f"/api/runs/{run}").json()["latency_seconds"]
    assert (latency["min"], latency["max"]) == (0.01, 0.016)
    assert durations["1"][0] == [START_MS + 1_000 * second for second in range(1, 7)]
    assert durations["1"][1][:-1] == [0.016] * 5
    assert samples(server, "loadtest_target_rate", run)[""][1][:-1] == [20.0] * 5
    assert samples(server, "loadtest_bytes_total", run)["in"][1][-2] == 5 * 20 * 200


def test_into_a_run_that_is_there_it_takes_the_place_of_what_was(server: Any):
    begun = server.client.post("/api/runs", json={"started_ms": START_MS, "tool": "vegeta", "name": "kept"}).json()
    first = imported(server, vegeta_csv(START_MS), run=begun["id"], commit="abc", parameter=["a=1"])
    assert (first["state"], first["requests"], first["commit"]) == ("running", 400, "abc")
    second = imported(server, vegeta_csv(START_MS, seconds=10), run=begun["id"], parameter=["b=2"])
    assert (second["id"], second["name"], second["requests"]) == (begun["id"], "kept", 200)
    assert second["parameters"] == {"a": "1", "b": "2"}
    over = server.client.post(f"/api/runs/{begun['id']}/finish", json={"ended_ms": START_MS + 20_000}).json()
    assert (over["state"], over["requests"]) == ("finished", 200)
    elsewhere = imported(server, vegeta_csv(START_MS - 86_400_000), run=begun["id"])
    assert "other-window" in [remark["code"] for remark in elsewhere["remarks"]]


def test_more_parameters_than_a_run_may_have_are_refused_and_change_nothing(server: Any):
    run = imported(server, vegeta_csv(NOW_MS - 60_000), parameter=[f"a{number}=1" for number in range(60)])
    job = send(server, vegeta_csv(NOW_MS - 60_000), run=run["id"], parameter=[f"b{number}=1" for number in range(60)])
    assert (job["state"], job["error"]["code"]) == ("failed", "run-rule")
    assert "120" in job["error"]["detail"]
    assert server.client.get(f"/api/runs/{run['id']}").json()["parameters"] == run["parameters"]


def test_a_file_without_a_clock_takes_the_one_it_is_given(server: Any):
    told = imported(server, HEY, started_ms=START_MS)
    assert (told["started_ms"], told["requests"]) == (START_MS, 10)
    assert "start-assumed" not in [remark["code"] for remark in told["remarks"]]
    assert samples(server, "loadtest_requests_total", told["id"])["ok"][0][0] == START_MS
    alone = imported(server, HEY)
    assert alone["ended_ms"] == NOW_MS
    assert "start-assumed" in [remark["code"] for remark in alone["remarks"]]
    begun = server.client.post("/api/runs", json={"started_ms": START_MS - 7_000}).json()
    imported(server, HEY, run=begun["id"])
    assert samples(server, "loadtest_requests_total", begun["id"])["ok"][0][0] == START_MS - 7_000


def test_an_import_can_be_cancelled_under_way_and_waiting(server: Any):
    large = vegeta_csv(START_MS, rate=10_000)
    jobs = [server.client.post("/api/imports", content=large).json()["id"] for _ in range(2)]
    # The second waits for the first: it ends at once, the first as soon as its process is gone.
    assert server.client.delete(f"/api/imports/{jobs[1]}").json()["state"] == "cancelled"
    assert server.client.delete(f"/api/imports/{jobs[0]}").status_code == 200
    assert [wait(server, job)["state"] for job in jobs] == ["cancelled", "cancelled"]
    assert server.client.get("/api/runs").json()["total"] == 0
    kept = imported(server, vegeta_csv(START_MS))
    assert list((server.data / "imports").iterdir()) == []
    assert [path.name for path in (server.data / "runs").iterdir()] == [kept["id"]]
    assert 'loadwatch_imports_failed_total{reason="import-cancelled"} 2.0' in server.client.get("/metrics").text
    assert server.client.delete("/api/imports/none").json()["code"] == "import-not-found"


def test_one_that_is_over_stays_as_it_is(server: Any):
    job = send(server, vegeta_csv(START_MS))
    assert server.client.delete(f"/api/imports/{job['id']}").json() == job
    assert server.client.get("/api/runs").json()["total"] == 1


def test_of_a_wrong_file_nothing_stays(server: Any):
    job = send(server, b"this is no result of anything\n" * 50, filename="x.csv")
    assert (job["state"], job["run"]) == ("failed", None)
    assert job["error"]["code"] == "unknown-result-format"
    assert server.client.get("/api/runs").json()["total"] == 0
    assert list((server.data / "imports").iterdir()) == []
    assert not (server.data / "runs").exists()
    kept = imported(server, vegeta_csv(START_MS))
    assert send(server, b"nonsense\n" * 9, run=kept["id"])["state"] == "failed"
    assert server.client.get(f"/api/runs/{kept['id']}").json() == kept
    assert 'loadwatch_imports_failed_total{reason="unknown-result-format"} 2.0' in server.client.get("/metrics").text


def test_what_cannot_work_is_refused_before_the_file_is_read(server: Any):
    refused = {
        "run-not-found": {"run": "no-such-run"},
        "run-rule": {"parameter": ["novalue"]},
        "threshold": {"threshold": ["p95 is fine"]},
    }
    for code, params in refused.items():
        answer = server.client.post("/api/imports", content=vegeta_csv(START_MS), params=params)
        assert (answer.status_code >= 400, answer.json()["code"]) == (True, code)
    assert server.client.post("/api/imports", content=b"").json()["code"] == "upload-broken"
    assert server.client.get("/api/imports/none").json()["code"] == "import-not-found"


def test_a_file_that_is_too_large_is_refused_announced_or_not(start_server: Any, tmp_path: Any, monkeypatch: Any):
    monkeypatch.setattr(service, "IMPORT_LIMIT", UploadLimit(most_bytes=2_000, advice="send it in parts."))
    with start_server(tmp_path) as server:
        for content in (b"x" * 2_001, iter([b"x" * 1_500] * 2)):
            answer = server.client.post("/api/imports", content=content)
            assert (answer.status_code, answer.json()["code"]) == (413, "upload-too-large")
            assert "send it in parts" in answer.json()["detail"]
        assert list((server.data / "imports").iterdir()) == []


def test_a_killed_server_leaves_nothing_half_written(start_server: Any, tmp_path: Any):
    with start_server(tmp_path) as server:
        kept = imported(server, vegeta_csv(START_MS))
    files = tmp_path / "runs" / kept["id"]
    whole = (files / "result.json").read_bytes()
    # Killed while it received a file, while it gave one a run of its own, and while one took the place of another.
    (tmp_path / "imports" / "receiving").mkdir(parents=True)
    (tmp_path / "imports" / "receiving" / "upload").write_bytes(b"half")
    (tmp_path / "runs" / "20270101-000000-aaaa").mkdir()
    replacing = tmp_path / "imports" / "replacing"
    replacing.mkdir()
    (replacing / "replace.json").write_text(f'{{"run": "{kept["id"]}", "token": "never committed"}}')
    files.rename(replacing / "old")
    files.mkdir()
    (files / "result.json").write_text("{}")
    with start_server(tmp_path) as server:
        assert [path.name for path in (tmp_path / "runs").iterdir()] == [kept["id"]]
        assert list((tmp_path / "imports").iterdir()) == []
        assert (files / "result.json").read_bytes() == whole
        assert server.client.get(f"/api/runs/{kept['id']}").json() == kept


def test_a_result_is_put_on_the_servers_clock(server: Any):
    """The generator's clock is an hour ahead of the server's; requests begin three seconds after the run."""
    ahead = NOW_MS + 3_600_000
    begun = server.client.post("/api/runs", json={"started_ms": ahead, "clock_ms": ahead}).json()
    assert begun["started_ms"] == NOW_MS
    server.clock.now_ms += 30_000
    finish = {"ended_ms": ahead + 30_000, "clock_ms": ahead + 30_000}
    server.client.post(f"/api/runs/{begun['id']}/finish", json=finish)
    run = imported(server, vegeta_csv(ahead + 3_000, failing=1), run=begun["id"])
    assert (run["ended_ms"], run["clock"]["skew_seconds"], run["clock"]["jumped"]) == (NOW_MS + 30_000, 3_600.0, False)
    assert "other-window" not in [remark["code"] for remark in run["remarks"]]
    seconds = server.client.get(f"/api/runs/{begun['id']}/seconds").json()
    assert (seconds["start_ms"], seconds["rate"]) == (NOW_MS + 3_000, [20.0] * 20)
    window = {"from_seconds": 5, "to_seconds": 10}
    figures = server.client.get(f"/api/runs/{begun['id']}/figures", params=window).json()
    assert (figures["requests"], figures["outcomes"]["http_5xx"]) == (100, 5)
    assert 0 <= run["steady_window"]["from_seconds"] < run["steady_window"]["to_seconds"] <= 30


def test_a_file_of_the_far_future_is_refused_and_says_so(server: Any):
    """Samples of the year 2100 would be the newest for a lifetime, and the configuration of today is not of then."""
    far = 4_102_444_800_000
    for content, params in (
        (vegeta_csv(far), {}),
        (HEY, {"started_ms": far}),
    ):
        job = send(server, content, **params)
        assert (job["state"], job["error"]["code"]) == ("failed", "result-in-the-future")
        assert "2100-01-01T00:00:00" in job["error"]["detail"]
        assert "2026-01-16T08:00:00" in job["error"]["detail"]
    assert server.client.get("/api/runs").json()["total"] == 0
    assert not (server.data / "runs").exists() or not list((server.data / "runs").iterdir())
    # A day is another time zone, or a clock that is wrong by as much; what is in force now is still not of then.
    labels = {"__name__": "mysql_global_variables_max_connections", "job": "db", "instance": "a"}
    server.write((labels, [(NOW_MS - 1_000, 151.0)]))
    ahead = imported(server, vegeta_csv(NOW_MS + 3_600_000))
    assert ahead["started_ms"] == NOW_MS + 3_600_000
    assert server.client.get(f"/api/runs/{ahead['id']}/snapshots").json()["snapshots"] == []
    now = imported(server, vegeta_csv(NOW_MS - 500))
    assert [one["when"] for one in server.client.get(f"/api/runs/{now['id']}/snapshots").json()["snapshots"]] == [
        "before",
        "after",
    ]


def test_each_rate_is_named_by_its_definition(server: Any):
    """Good answers of the time of sending, and until the last answer: 2 s of requests, the last answered 3 s later."""
    lines = vegeta_csv(START_MS, seconds=2, rate=10).decode().splitlines()
    fields = lines[-1].split(",")
    fields[2] = "3000000000"
    content = "\n".join([*lines[:-1], ",".join(fields)]) + "\n"
    run = imported(server, content.encode(), threshold=["throughput>4 over whole", "ok_rate>10 over whole"])
    assert (run["rate"], run["wait_seconds"]) == (20 / 1.9, 3.0)
    assert run["throughput"] == 20 / 4.9
    assert [one["actual"] for one in run["thresholds"]] == [20 / 4.9, 20 / 1.9]
    part = server.client.get(f"/api/runs/{run['id']}/figures", params={"from_seconds": 0, "to_seconds": 1}).json()
    # The last answer of this window's requests comes 13 ms after the start of its last request, in time.
    assert (part["rate"], part["wait_seconds"], part["throughput"]) == (10.0, 0.0, 10.0)
