"""The whole way: samples in the store, a run, and what its page is told."""

import gzip
from typing import Any

import numpy as np
import pytest
from loadwatch_backend.evidence.profiles.reading import pprof_pb2 as pprof

from backend.tests.evidence.cost.made import Made, counter, make_load
from backend.tests.evidence.profiles.made import GO

SECOND = 1_000
MARGIN, LENGTH = 10, 60
ACCESS = {"job": "nginx", "instance": "web-1"}
DB = {"job": "mysql", "instance": "db-1"}
ROUTES = (("GET", "/timeline"), ("GET", "/users/:id"), ("POST", "/posts"))
TEXTS = (
    "SELECT * FROM `users` WHERE `id` = ?",
    "SELECT * FROM `posts` ORDER BY `created` DESC LIMIT ?",
    "INSERT INTO `posts` VALUES (...)",
)
ASKS = {0: {0: 100, 1: 1}, 1: {0: 1}, 2: {2: 1}}
TAKES = (0.0004, 0.004, 0.001)
"""Seconds of one call."""


def made(asks: Any = None, seed: int = 2) -> Made:
    return make_load(
        asks or ASKS,
        routes=3,
        statements=3,
        rate=[8.0, 60.0, 20.0],
        takes=[0.08, 0.004, 0.01],
        seconds=LENGTH,
        seed=seed,
    )


def write(server: Any, start_ms: int, load: Made, late: float = 0.0) -> None:
    for (method, route), ends in zip(ROUTES, load.ends, strict=True):
        labels = {"route": route, "method": method, **ACCESS}
        counted = {"200": np.setdiff1d(ends, ends[::4]), "304": ends[::4]} if method == "GET" else {"201": ends}
        server.write(
            *(
                (
                    {"__name__": "http_requests_total", "code": code, **labels},
                    counter(some + late, start_ms, load.seconds),
                )
                for code, some in counted.items()
            ),
            (
                {"__name__": "http_request_duration_seconds_sum", **labels},
                counter(ends + late, start_ms, load.seconds, factor=0.05),
            ),
            (
                {"__name__": "http_response_bytes_total", **labels},
                counter(ends + late, start_ms, load.seconds, factor=2_000),
            ),
        )
    beat(server, start_ms, load.seconds, ACCESS)
    write_statements(server, start_ms, load)


def beat(server: Any, start_ms: int, seconds: int, one: dict[str, str]) -> None:
    """An agent was there."""
    server.write(
        ({"__name__": "up", **one}, [(start_ms + second * SECOND, 1.0) for second in range(seconds)]),
    )


def write_statements(server: Any, start_ms: int, load: Made) -> None:
    beat(server, start_ms, load.seconds, DB)
    for place, (text, calls) in enumerate(zip(TEXTS, load.calls, strict=True)):
        labels = {"schema": "shop", "digest": f"d{place}", "digest_text": text, **DB}
        name = "mysql_perf_schema_events_statements"
        # The agent reads the database a moment after the second begins.
        server.write(
            ({"__name__": f"{name}_total", **labels}, counter(calls, start_ms, load.seconds, at_ms=20)),
            (
                {"__name__": f"{name}_seconds_total", **labels},
                counter(calls, start_ms, load.seconds, factor=TAKES[place], at_ms=20),
            ),
            (
                {"__name__": f"{name}_rows_examined_total", **labels},
                counter(calls, start_ms, load.seconds, factor=5_000.0 if place == 1 else 1.0, at_ms=20),
            ),
            ({"__name__": f"{name}_rows_sent_total", **labels}, counter(calls, start_ms, load.seconds, at_ms=20)),
        )
    server.write(
        (
            {"__name__": "mysql_statements_coverage_ratio", **DB},
            [(start_ms + second * SECOND + 20, 0.97) for second in range(load.seconds)],
        ),
    )


def run_of(server: Any, start_ms: int, name: str = "a run", **facts: Any) -> str:
    created = server.client.post(
        "/api/runs", json={"name": name, "started_ms": start_ms + MARGIN * SECOND, **facts}
    ).json()
    server.client.post(
        f"/api/runs/{created['id']}/finish", json={"ended_ms": start_ms + (MARGIN + LENGTH) * SECOND}
    ).raise_for_status()
    return created["id"]


def cost(server: Any, run: str, **params: Any) -> Any:
    answer = server.client.get(f"/api/runs/{run}/cost", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def begun(server: Any, ago: int = 600) -> int:
    return (server.clock.now_ms // SECOND - ago) * SECOND


def test_routes_and_the_statements_that_they_ask(server: Any) -> None:
    start_ms, load = begun(server), made()
    write(server, start_ms, load)
    found = cost(server, run_of(server, start_ms))
    assert (found["reason"], found["counted_by"], found["window"], found["base"]) == (None, "nginx", "whole", None)
    assert found["coverage"] == 0.97
    first = found["routes"][0]
    routes = {one["name"]: one for one in found["routes"]}
    assert next(iter(routes)) == "GET /timeline"
    assert first["requests"] == pytest.approx(len(load.ends[0]), rel=0.01)
    assert first["not_modified"] / first["requests"] == pytest.approx(0.25, abs=0.02)
    assert first["seconds"] == pytest.approx(0.05, rel=0.01)
    assert first["bytes"] == pytest.approx(2_000, rel=0.01)
    assert first["calls"]["value"] == pytest.approx(101, rel=0.05)
    assert first["database_seconds"]["value"] == pytest.approx(0.044, rel=0.05)
    lookup, newest = first["statements"]
    assert (lookup["statement"], lookup["repeated"], newest["repeated"]) == ("shop:d0", True, False)
    assert lookup["calls"]["low"] <= 100.5
    assert lookup["calls"]["high"] >= 99.5
    # One lookup a request is within the noise of a hundred: told rightly or not at all.
    for users in routes["GET /users/:id"]["statements"]:
        assert (users["statement"], users["repeated"]) == ("shop:d0", False)
        assert users["calls"]["low"] <= 1 <= users["calls"]["high"]
    assert routes["POST /posts"]["statements"][0]["calls"]["value"] == pytest.approx(1, rel=0.05)
    told = [*found["routes"], *found["together"]]
    assert sum(one["share"] for one in told) == pytest.approx(found["explained_share"])
    assert found["explained_share"] > 0.9
    statements = {one["id"]: one for one in found["statements"]}
    assert statements["shop:d1"]["examined_per_sent"] == pytest.approx(5_000, rel=0.01)
    assert statements["shop:d0"]["routes"][0] == "GET /timeline"
    assert statements["shop:d0"]["text"] == TEXTS[0]
    assert statements["shop:d0"]["lock_seconds"] is None


def test_what_is_asked_again_and_again_is_said_of_the_run(server: Any) -> None:
    start_ms = begun(server)
    write(server, start_ms, made())
    run = server.client.get(f"/api/runs/{run_of(server, start_ms)}").raise_for_status().json()
    found = {one["id"]: one for one in run["findings"]}
    assert set(found) == {"n-plus-one", "statement-scans", "not-modified"}
    assert found["n-plus-one"]["labels"]["route"] == "GET /timeline"
    # The database had little to do: worth knowing, and nobody is accused.
    assert {one["severity"] for one in found.values()} == {"info"}
    assert run["diagnosis"]["state"] != "found"


def test_reports_say_it_too(server: Any) -> None:
    start_ms = begun(server)
    write(server, start_ms, made())
    run = run_of(server, start_ms)

    def report(form: str, lang: str) -> str:
        answer = server.client.get(f"/api/runs/{run}/report", params={"format": form, "lang": lang})
        return answer.raise_for_status().text

    page, text = report("html", "en"), report("md", "ja")
    assert "<h2>Why it was slow</h2>" in page
    assert "<b>N+1</b>" in page
    assert "of database time a request" in page
    assert "<code>SELECT * FROM `users` WHERE `id` = ?</code>" in page
    assert "<code>select * from `users` where `id` = ?</code>" in page
    assert "Rows read per row sent" in page
    assert "Temporary tables on disk" not in page, "of what nobody counted there is no column"
    assert "Statements hold 97 % of what the database ran." in page or "Statements hold 97% of" in page
    assert "| 読んだ行/返した行 |" in text
    assert "## 遅かった原因(" in text or "## 遅かった原因 (" in text
    assert "**N+1**" in text
    other = run_of(server, begun(server, 3_000))
    assert "Why it was slow" not in server.client.get(f"/api/runs/{other}/report", params={"format": "html"}).text


def test_functions_of_the_processor_stand_beside_the_routes(server: Any) -> None:
    first_ms, second_ms = begun(server, 900), begun(server, 300)
    write(server, second_ms, made())
    runs = [run_of(server, start_ms, "a run", scenario="shop") for start_ms in (first_ms, second_ms)]
    # What was taken at another time is none of the run's.
    params, other = {"name": "other"}, (GO / "00-cpu-now.pb.gz").read_bytes()
    server.client.post(f"/api/runs/{runs[1]}/profiles", params=params, content=other).raise_for_status()
    assert cost(server, runs[1])["functions"] is None
    for run, start_ms, name in zip(runs, (first_ms, second_ms), ("00-cpu-base", "00-cpu-now"), strict=True):
        profile = pprof.Profile.FromString(gzip.decompress((GO / f"{name}.pb.gz").read_bytes()))
        profile.time_nanos = (start_ms + 20_000) * 1_000_000
        content = gzip.compress(profile.SerializeToString())
        server.client.post(f"/api/runs/{run}/profiles", params={"name": name}, content=content).raise_for_status()
    found = cost(server, runs[1])["functions"]
    assert (found["profiles"], found["unit"], found["per"]) == (1, "seconds", "second")
    shares = [one["share"] for one in found["functions"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 1.0001
    assert all(one["base_cum"] is not None for one in found["functions"])
    assert cost(server, runs[0])["functions"]["base_total"] is None
    words = next(one for one in found["functions"] if one["words"])
    japanese = next(one for one in cost(server, runs[1], lang="ja")["functions"]["functions"] if one["words"])
    assert (japanese["name"], japanese["words"].isascii()) == (words["name"], False)
    report = server.client.get(f"/api/runs/{runs[1]}/report", params={"format": "json"}).raise_for_status().json()
    assert (report["id"], report["cost"]["functions"]["total"]) == (runs[1], found["total"])
    page = server.client.get(f"/api/runs/{runs[1]}/report", params={"format": "md"}).raise_for_status().text
    assert "| Function, by processor time | Itself | With what it calls | Processor time a second | Change |" in page


def test_a_log_that_is_written_late_is_put_in_place(server: Any) -> None:
    start_ms = begun(server)
    write(server, start_ms, made(), late=2.0)
    found = cost(server, run_of(server, start_ms))
    assert found["late_seconds"] == pytest.approx(2, abs=0.5)
    assert found["routes"][0]["calls"]["value"] == pytest.approx(101, rel=0.05)


def test_a_run_is_held_against_the_one_before(server: Any) -> None:
    first_ms, second_ms = begun(server, 900), begun(server, 300)
    write(server, first_ms, made())
    # The second run asks for all users at once.
    write(server, second_ms, made({0: {0: 1, 1: 1}, 1: {0: 1}, 2: {2: 1}}, seed=3))
    before = run_of(server, first_ms, "before", scenario="timeline")
    after = run_of(server, second_ms, "after", scenario="timeline")
    found = cost(server, after)
    assert found["base"] == {"id": before, "name": "before"}
    timeline = next(one for one in found["routes"] if one["name"] == "GET /timeline")
    assert timeline["calls"]["value"] == pytest.approx(2, rel=0.15)
    assert timeline["base_calls"] == pytest.approx(101, rel=0.05)
    assert cost(server, before, base=after)["base"]["name"] == "after"
    for run in (before, after):
        server.client.get(f"/api/runs/{run}").raise_for_status()
    trend = server.client.get("/api/trend", params={"scenario": "timeline", "metric": "route:GET /timeline"})
    followed = trend.raise_for_status().json()
    assert followed["metric"]["title"] == "GET /timeline: database time a request"
    assert "route:GET /timeline" in {one["id"] for one in followed["routes"]}
    values = {one["run"]: one["value"] for one in followed["points"]}
    assert values[before] == pytest.approx(0.044, rel=0.05)
    assert values[after] == pytest.approx(0.0044, rel=0.15)
    assert server.client.get(f"/api/runs/{after}/cost", params={"base": "none-such"}).status_code == 404


def test_what_is_not_there_is_said(server: Any) -> None:
    start_ms = begun(server)
    run = run_of(server, start_ms)
    assert cost(server, run)["reason"] == "no-routes"
    server.write(
        *(
            (
                {"__name__": "http_requests_total", "route": route, "method": method, "code": "200", **ACCESS},
                counter(ends, start_ms, 80),
            )
            for (method, route), ends in zip(ROUTES, made().ends, strict=True)
        )
    )
    server.clock.now_ms += 20 * SECOND  # what was found a moment ago is said again
    found = cost(server, run)
    assert found["reason"] == "no-statements"
    assert len(found["routes"]) == 3
    assert all(one["calls"] is None for one in found["routes"])
    assert server.client.get("/api/runs/none-such/cost").status_code == 404


@pytest.mark.parametrize("text_in", ["counters", "pg_stat_statements_query_info", "pg_stat_statements_query_id"])
def test_statements_of_postgresql_are_read_the_same_way(server: Any, text_in: str) -> None:
    start_ms, load = begun(server), made()
    for (method, route), ends in zip(ROUTES, load.ends, strict=True):
        server.write(
            (
                {"__name__": "http_requests_total", "route": route, "method": method, "code": "200", **ACCESS},
                counter(ends, start_ms, load.seconds),
            )
        )
    for place, (text, calls) in enumerate(zip(TEXTS, load.calls, strict=True)):
        labels = {"datname": "shop", "queryid": str(place), **DB}
        if text_in == "counters":
            labels["query"] = text
        server.write(
            ({"__name__": "pg_stat_statements_calls_total", **labels}, counter(calls, start_ms, load.seconds)),
            (
                {"__name__": "pg_stat_statements_seconds_total", **labels},
                counter(calls, start_ms, load.seconds, factor=TAKES[place]),
            ),
            (
                {"__name__": text_in, "queryid": str(place), "query": text, **DB},
                [(start_ms + 20 * SECOND, 1.0)],
            ),
        )
    found = cost(server, run_of(server, start_ms))
    assert found["routes"][0]["calls"]["value"] == pytest.approx(101, rel=0.05)
    assert found["statements"][0]["text"] == TEXTS[0]
