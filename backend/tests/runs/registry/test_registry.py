"""The life of a run over HTTP."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from loadwatch_backend.runs.analysis.schemas import Analysis, FiguresOut
from loadwatch_backend.runs.registry.registry import PinnedWindows
from loadwatch_backend.runs.registry.repository import find_run
from loadwatch_backend.series.store.port import Matcher, MatchOperator
from sqlalchemy import Engine, event

from backend.tests.runs.sending import imported, vegeta_csv

NOW_MS = 1_768_550_400_000


def create(server: Any, **fields: Any) -> dict[str, Any]:
    answer = server.client.post("/api/runs", json=fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


def finish(server: Any, run: str, **fields: Any) -> dict[str, Any]:
    answer = server.client.post(f"/api/runs/{run}/finish", json={"ended_ms": server.clock.now_ms, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()


def given(run: dict[str, Any]) -> dict[str, Any]:
    """What was said of a run; what is found out about it meanwhile comes when it comes."""
    found = {*Analysis.model_fields, *FiguresOut.model_fields, "diagnosis"}  # of the analysis, too
    return {field: value for field, value in run.items() if field not in found}


def test_a_run_begins_goes_on_and_ends(server: Any):
    begun = create(server, name="first", tool="vegeta", thresholds=["p95<300ms"], parameters={"pool": "30"})
    assert (begun["state"], begun["silent"], begun["verdict"]) == ("running", False, None)
    assert begun["id"].startswith("20260116-080000-")
    assert begun["started_at"] == "2026-01-16T08:00:00.000Z"
    server.clock.now_ms += 10_000
    sign = {"at_ms": server.clock.now_ms, "elapsed_seconds": 10, "requests": 1_000, "rate": 100.0, "failures": 0}
    assert server.client.post(f"/api/runs/{begun['id']}/progress", json=sign).status_code == 204
    assert server.client.get(f"/api/runs/{begun['id']}").json()["progress"] == sign
    server.clock.now_ms += 10_000
    over = finish(server, begun["id"], exit_code=0, generator={"cpu_max": 0.5})
    assert (over["state"], over["exit_code"], over["ended_ms"]) == ("finished", 0, NOW_MS + 20_000)
    assert given(finish(server, begun["id"], exit_code=3)) == given(over)


def test_the_same_id_and_the_same_end_again_change_nothing(server: Any):
    first = create(server, id="20260116-075900-abcd", name="one", started_ms=NOW_MS - 60_000)
    assert given(create(server, id="20260116-075900-abcd", name="two")) == given(first)
    assert (first["started_ms"], first["clock"]["skew_seconds"]) == (NOW_MS - 60_000, None)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(create, server, id="at-the-same-time", name="x") for _ in range(4)]
        made = [one.result() for one in waiting]
    assert {run["id"] for run in made} == {"at-the-same-time"}
    assert server.client.get("/api/runs").json()["total"] == 2


def test_times_of_a_clock_that_is_wrong_are_put_right(server: Any):
    """The generator is ten seconds ahead, then its clock is set back by an hour."""
    ahead = NOW_MS + 10_000
    run = create(server, started_ms=ahead - 3_000, clock_ms=ahead)
    assert (run["started_ms"], run["clock"]["skew_seconds"]) == (NOW_MS - 3_000, 10.0)
    server.clock.now_ms += 60_000
    back = server.clock.now_ms - 3_600_000
    over = finish(server, run["id"], ended_ms=back - 1_000, clock_ms=back)
    assert over["ended_ms"] == NOW_MS + 59_000
    assert over["clock"] == {"skew_seconds": 10.0, "skew_end_seconds": -3_600.0, "jumped": True}


def test_an_end_before_the_start_is_the_start(server: Any):
    run = create(server, started_ms=NOW_MS)
    over = finish(server, run["id"], ended_ms=NOW_MS - 50_000, aborted=True, reason="SIGINT")
    assert (over["state"], over["ended_ms"], over["abort_reason"]) == ("aborted", NOW_MS, "SIGINT")
    assert over["verdict"] in (None, "invalid")


def test_times_in_seconds_and_runs_of_months_are_refused(server: Any):
    answer = server.client.post("/api/runs", json={"started_ms": NOW_MS // 1_000})
    assert (answer.status_code, "not seconds" in answer.json()["detail"]) == (422, True), answer.text
    run = create(server, started_ms=NOW_MS - 40 * 86_400_000)
    answer = server.client.post(f"/api/runs/{run['id']}/finish", json={"ended_ms": NOW_MS})
    assert (answer.status_code, "31 days" in answer.json()["detail"]) == (422, True), answer.text
    assert finish(server, run["id"], ended_ms=NOW_MS - 10 * 86_400_000)["state"] == "finished"


def test_a_run_of_before_that_began_in_1970_pins_and_reads_a_month_at_most(server: Any):
    run = create(server)["id"]
    finish(server, run)
    with server.services.relational.transaction() as session:
        find_run(session, run).started_ms = 1_000
    pinned = PinnedWindows(server.services.relational, server.clock)()
    assert pinned == [(NOW_MS - 31 * 86_400_000 - 300_000, NOW_MS + 300_000)]
    assert server.client.post(f"/api/runs/{run}/findings").json()["now"]["from_ms"] == NOW_MS - 31 * 86_400_000


def test_a_run_without_a_sign_of_life_is_silent(server: Any):
    run = create(server)["id"]
    server.clock.now_ms += 120_001
    assert server.client.get(f"/api/runs/{run}").json()["silent"]
    assert server.client.get("/api/runs").json()["runs"][0]["silent"]
    server.client.post(f"/api/runs/{run}/progress", json={"at_ms": server.clock.now_ms, "elapsed_seconds": 1})
    assert not server.client.get(f"/api/runs/{run}").json()["silent"]


def test_the_list_has_the_figures_of_a_run_under_way_that_streams(server: Any):
    run = create(server, name="streams")["id"]
    for seconds in (10, 20):
        ends = [NOW_MS + 1_000 * second for second in range(seconds + 1)]
        for outcome, each in (("ok", 9), ("http_5xx", 1)):
            labels = {"__name__": "loadtest_requests_total", "run": run, "outcome": outcome}
            server.write((labels, [(at, float(each * place)) for place, at in enumerate(ends)]))
        labels = {"__name__": "loadtest_request_duration_seconds", "run": run, "quantile": "0.95"}
        server.write((labels, [(at, 0.25) for at in ends[1:]]))
        # After all of it is there: an analysis that began meanwhile is of the time before.
        server.clock.now_ms = NOW_MS + 1_000 * seconds
        line: dict[str, Any] = {}
        for _ in range(2_000):
            (line,) = server.client.get("/api/runs").json()["runs"]
            if line["requests"] == 10 * seconds:
                break
            time.sleep(0.05)
        assert (line["state"], line["requests"]) == ("running", 10 * seconds)
        assert (line["rate"], line["success_ratio"]) == (10.0, 0.9)


def test_a_run_goes_on_over_a_restart_of_the_server(start_server: Any, tmp_path: Path):
    with start_server(tmp_path) as server:
        run = create(server, name="long")["id"]
    with start_server(tmp_path) as server:
        assert server.client.get(f"/api/runs/{run}").json()["state"] == "running"
        assert finish(server, run)["state"] == "finished"


def test_two_runs_at_once_and_one_without_requests(server: Any):
    one, other = create(server, name="one"), create(server, name="other", thresholds=["rate>1"])
    series = {"__name__": "loadtest_requests_total", "run": one["id"], "outcome": "ok"}
    server.write((series, [(NOW_MS + 1_000 * second, 10.0 * second) for second in range(11)]))
    server.clock.now_ms += 10_000
    first, second = finish(server, one["id"]), finish(server, other["id"])
    assert (first["requests"], first["rate"]) == (100, 10.0)
    assert (second["requests"], second["verdict"]) == (None, "invalid")
    seconds = server.client.get(f"/api/runs/{one['id']}/seconds").json()
    assert seconds["rate"] == [10.0] * 10
    missing = server.client.get(f"/api/runs/{other['id']}/seconds")
    assert (missing.status_code, missing.json()["code"]) == (404, "no-result")
    listed = server.client.get("/api/runs", params={"start_ms": NOW_MS + 5_000, "end_ms": NOW_MS + 6_000}).json()
    assert {run["name"] for run in listed["runs"]} == {"one", "other"}


def test_the_list_is_searched_filtered_sorted_and_cut(server: Any):
    # Words are longer than the random end of an id, which is searched too.
    for place, (name, tool, rate) in enumerate(
        (("a barrel", "k6", 30), ("Barrel c", "vegeta", 10), ("50%_", "vegeta", None))
    ):
        facts = {"scenario": f"s{place % 2}", "branch": "main", "author": "葵", "commit": f"c{place}"}
        tags = {"tags": ["nightly", f"t{place}"], "parameters": {"pool": str(place)}}
        create(server, name=name, tool=tool, started_ms=NOW_MS - place * 1_000, target_rate=rate, **facts, **tags)

    def names(**params: Any) -> list[str]:
        answer = server.client.get("/api/runs", params=params)
        assert answer.status_code == 200, answer.text
        return [run["name"] for run in answer.json()["runs"]]

    assert names() == ["a barrel", "Barrel c", "50%_"]
    assert names(descending=False) == ["50%_", "Barrel c", "a barrel"]
    assert names(q="barrel") == ["a barrel", "Barrel c"]
    assert names(q="vegeta C1") == ["Barrel c"]
    assert names(q="%_") == ["50%_"]
    assert names(tool="vegeta", scenario="s0") == ["50%_"]
    assert names(tag=["nightly", "t1"]) == ["Barrel c"]
    assert names(commit="c", author="葵", branch="main", state="running", limit=1, offset=1) == ["Barrel c"]
    assert names(sort="name", descending=False) == ["50%_", "Barrel c", "a barrel"]
    assert names(verdict="passed") == []
    assert names(q="pool=1 barrel") == ["Barrel c"]
    assert names(verdict="none") == names()
    assert names(start_ms=NOW_MS - 500, commit="c") == names()
    assert names(end_ms=NOW_MS - 1_500) == ["50%_"]
    assert names(finding="none") == names(finding="pool") == []
    assert server.client.get("/api/runs", params={"limit": 1}).json()["total"] == 3
    # The filter language of 0.1.0, for one: what is not known would otherwise give all runs.
    assert server.client.get("/api/runs", params={"where": "tool=vegeta"}).status_code == 422
    facets = server.client.get("/api/runs/facets").json()
    assert facets["tools"] == [{"value": "vegeta", "count": 2}, {"value": "k6", "count": 1}]
    assert facets["tags"][0] == {"value": "nightly", "count": 3}
    assert facets["parameters"] == [{"value": "pool", "count": 3}]


def test_a_line_of_the_list_has_what_is_kept_of_the_run_and_asks_nothing_for_it(server: Any):
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    def lines() -> list[dict[str, Any]]:
        asked.clear()
        answer = server.client.get("/api/runs", params={"tool": "vegeta", "q": "pool="})
        return answer.json()["runs"]

    def questions() -> int:
        """The fewest of several tries: what the server does beside them asks, too."""
        return min(len([one for one in asked if "run" in one]) for _ in range(8) if lines())

    def add(place: int) -> None:
        at_ms = NOW_MS - 600_000 * place
        imported(server, vegeta_csv(at_ms, seconds=90), tool="vegeta", parameter=f"pool={place}", tag=f"t{place}")

    add(2)
    event.listen(Engine, "before_cursor_execute", note)
    try:
        (line,) = lines()
        once = questions()
        add(3)
        add(4)
        assert len(lines()) == 3
        assert questions() == once
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert line["first_limit"]["state"] in ("none", "cannot-tell")
    assert len(line["p95_sparkline"]) == len(line["sparkline"]) == 45
    assert max(line["p95_sparkline"]) >= line["p95_seconds"] * 0.99


def test_a_change_is_kept_and_analysed(server: Any):
    run = imported(server, vegeta_csv(NOW_MS - 60_000, seconds=30))["id"]
    path = f"/api/runs/{run}"
    fields = {"name": "n", "tags": ["x", "y"], "parameters": {"a": "1"}, "thresholds": ["rate>1000"]}
    changed = server.client.patch(path, json=fields).json()
    assert {key: changed[key] for key in ("name", "tags", "parameters")} == {
        key: fields[key] for key in ("name", "tags", "parameters")
    }
    assert (changed["verdict"], changed["thresholds"][0]["state"]) == ("failed", "failed")
    window = {"from_seconds": 10, "to_seconds": 20}
    adjusted = server.client.patch(path, json={"steady_window": window}).json()
    assert (adjusted["steady_window"]["source"], adjusted["steady"]["requests"]) == ("adjusted", 200)
    assert adjusted["name"] == "n"
    found = server.client.patch(path, json={"steady_window": None}).json()
    assert found["steady_window"]["source"] != "adjusted"
    for wrong in ({"from_seconds": 9, "to_seconds": 9}, {"from_seconds": 500, "to_seconds": 600}):
        assert server.client.patch(path, json={"steady_window": wrong}).json()["code"] == "run-rule"


def test_a_change_has_the_bounds_of_a_beginning(server: Any):
    """More than a run may have was once kept, and then no answer could hold the run."""
    path = f"/api/runs/{create(server)['id']}"
    links = [{"url": f"https://example.org/{number}", "title": ""} for number in range(21)]
    for fields in ({"links": links}, {"expectations": ["p95<1s"] * 21}):
        assert server.client.patch(path, json=fields).status_code == 422
    assert server.client.patch(path, json={"links": links[1:]}).json()["links"] == links[1:]


def test_a_fact_that_can_be_unknown_is_taken_back_and_a_text_is_not(server: Any):
    facts = {"target_rate": 5.0, "dirty": True, "tool": "hey"}
    path = f"/api/runs/{create(server, **facts)['id']}"
    changed = server.client.patch(path, json=dict.fromkeys(facts)).json()
    assert {name: changed[name] for name in facts} == {"target_rate": None, "dirty": None, "tool": "hey"}
    assert server.client.patch(path, json={"command": ["other"]}).status_code == 422


def test_a_scenario_has_one_baseline(server: Any):
    runs = [imported(server, vegeta_csv(NOW_MS - 60_000 * n, seconds=2), scenario="s")["id"] for n in (3, 2)]
    assert server.client.put(f"/api/runs/{runs[0]}/baseline").json()["is_baseline"]
    assert server.client.put(f"/api/runs/{runs[1]}/baseline").json()["baseline"] == runs[1]
    first = server.client.get(f"/api/runs/{runs[0]}").json()
    assert (first["is_baseline"], first["baseline"]) == (False, runs[1])
    assert server.client.get(f"/api/runs/{runs[0]}/difference").json()["base"] == runs[1]
    assert server.client.delete(f"/api/runs/{runs[1]}/baseline").json()["baseline"] is None
    nameless = imported(server, vegeta_csv(NOW_MS, seconds=2))["id"]
    assert server.client.put(f"/api/runs/{nameless}/baseline").json()["code"] == "run-rule"


def test_deleting_says_what_goes_and_takes_all_of_it(server: Any):
    run = imported(server, vegeta_csv(NOW_MS - 60_000, seconds=2), scenario="s")["id"]
    path = f"/api/runs/{run}"
    server.client.put(f"{path}/review", json={"version": 0, "outcome": "x"})
    server.client.put(f"{path}/baseline")
    share = server.client.post(f"{path}/shares", json={}).json()
    told = server.client.get(f"{path}/deletion").json()
    assert told["record_bytes"] > 0
    assert (told["records"], told["reviews"], told["shares"], told["was_baseline"]) == (40, 1, 1, True)
    assert (told["window_from_ms"], told["samples_past_retention"]) == (NOW_MS - 360_000, False)
    assert server.client.delete(path).status_code == 204
    assert [server.client.get(one).status_code for one in (path, share["path"], f"{path}/review")] == [404] * 3
    assert list((server.data / "runs").iterdir()) == []
    assert server.client.get("/api/runs").json()["total"] == 0
    assert server.client.delete(path).json()["code"] == "run-not-found"


def test_deleting_a_run_takes_its_markers_and_leaves_what_a_person_wrote(server: Any):
    def texts() -> list[str]:
        return [one["text"] for one in server.client.get("/api/annotations").json()["annotations"]]

    run, other = create(server)["id"], create(server)["id"]
    note = {"start_ms": NOW_MS, "author": "ann", "tags": [run]}
    assert server.client.post("/api/annotations", json={**note, "text": "by a person"}).status_code == 201
    for one in (run, other):
        markers = [{"at_ms": NOW_MS, "text": f"{kind} of {one}"} for kind in ("level", "corrected")]
        finish(server, one, markers=markers)
    server.clock.now_ms += 1_000
    listed = server.client.get("/api/annotations", params={"tag": run}).json()["annotations"]
    (corrected,) = [one["id"] for one in listed if one["text"] == f"corrected of {run}"]
    path = f"/api/annotations/{corrected}"
    assert server.client.patch(path, json={"text": "a person's words"}).status_code == 200
    assert server.client.get(f"/api/runs/{run}/deletion").json()["markers"] == 1
    assert server.client.delete(f"/api/runs/{run}").status_code == 204
    assert texts() == ["by a person", "a person's words", f"level of {other}", f"corrected of {other}"]


def test_samples_of_a_run_outlive_the_retention_until_it_is_deleted(start_server: Any, tmp_path: Path):
    def count(server: Any) -> int:
        matcher = Matcher("__name__", MatchOperator.EQUAL, "up")
        return len(server.store.select([matcher], 0, NOW_MS * 2).timestamps)

    with start_server(tmp_path, retention_days=1) as server:
        times = range(NOW_MS - 1_200_000, NOW_MS, 10_000)
        server.write(({"__name__": "up", "job": "a"}, [(time, 1.0) for time in times]))
        run = imported(server, vegeta_csv(NOW_MS - 600_000, seconds=10))["id"]
        server.clock.now_ms += 2 * 86_400_000
        # Five minutes before and after ten seconds stay.
        # By this or by the store's own look, which comes every few seconds.
        server.store.apply_retention()
        assert server.store.statistics().deleted_rows_total == 120 - 61
        assert server.client.get(f"/api/runs/{run}/deletion").json()["samples_past_retention"]
    with start_server(tmp_path, retention_days=1) as server:
        server.clock.now_ms += 2 * 86_400_000
        assert count(server) == 61
        assert server.client.delete(f"/api/runs/{run}").status_code == 204
        server.store.apply_retention()
        assert server.store.statistics().deleted_rows_total > 61
    with start_server(tmp_path) as server:
        assert count(server) == 0


def test_what_no_answer_could_hold_is_refused(server: Any):
    json = {"content-type": "application/json"}
    for body in ('{"target_rate": 1e999}', '{"tags": ["a\\u0000"]}', '{"name": "a\\u0007"}', '{"started_ms": -1}'):
        answer = server.client.post("/api/runs", content=body, headers=json)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), body
    run = create(server)["id"]
    big = '{"ended_ms": 1, "exit_code": 99999999999999999999, "generator": {"memory_max_bytes": 1e999}}'
    assert server.client.post(f"/api/runs/{run}/finish", content=big, headers=json).status_code == 422
    assert finish(server, run, exit_code=99999999999999999999)["exit_code"] is None
    answer = server.client.get(f"/api/runs/{run}/figures", params={"from_seconds": 0, "to_seconds": "inf"})
    assert answer.status_code == 404


def test_more_tags_than_a_run_may_have_are_refused(server: Any):
    """A database gives up on a condition with a thousand parts."""

    def asked(most: int) -> int:
        return server.client.get("/api/runs", params={"tag": [f"t{number}" for number in range(most)]}).status_code

    assert [asked(20), asked(21), asked(1_100)] == [200, 422, 422]
