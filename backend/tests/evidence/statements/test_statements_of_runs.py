"""The whole way: samples in the store or a digest kept with the run, and the table that its page is told."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

SECOND = 1_000
LENGTH = 60
DB = {"job": "mysql", "instance": "db-1"}
NAME = "mysql_perf_schema_events_statements"
ONE, TWO, THREE = "SELECT * FROM `users` WHERE `id` = ?", "SELECT * FROM `posts` WHERE `id` IN (...)", "COMMIT"


def write(
    server: Any, start_ms: int, digest: str, text: str, rates: Mapping[str, float], *, seconds: int = LENGTH
) -> None:
    """Counters that grow evenly over the run and ten seconds around it."""
    labels = {"schema": "shop", "digest": digest, "digest_text": text, **DB}
    server.write(
        *(
            (
                {"__name__": f"{NAME}_{metric}" if metric else f"{NAME}_total", **labels},
                [(start_ms + second * SECOND, 5 + (second + 10) * rate) for second in range(-10, seconds + 11)],
            )
            for metric, rate in rates.items()
        ),
        (
            {"__name__": "up", **DB},
            [(start_ms + second * SECOND, 1.0) for second in range(-10, seconds + 11)],
        ),
    )


def load(server: Any, start_ms: int, *, factor: float = 1.0) -> None:
    write(
        server,
        start_ms,
        "d1",
        ONE,
        {
            "": 100 * factor,
            "seconds_total": 0.05 * factor,
            "rows_sent_total": 100 * factor,
            "rows_examined_total": 300 * factor,
        },
    )
    # The same, sent prepared: its digest is the agent's own.
    write(
        server,
        start_ms,
        "p1",
        "select *  from users where id=?",
        {"": 50, "seconds_total": 0.025, "rows_sent_total": 50, "rows_examined_total": 50},
    )
    write(server, start_ms, "d2", TWO, {"": 2, "seconds_total": 0.225, "no_index_used_total": 2})
    write(server, start_ms, "other", "(all other statements)", {"": 1, "seconds_total": 0.0})


def coverage(server: Any, start_ms: int, share: float) -> None:
    times = [start_ms + second * SECOND for second in range(-10, LENGTH + 11)]
    server.write(
        ({"__name__": "mysql_statements_executed_total", **DB}, [(at, float(n * 100)) for n, at in enumerate(times)]),
        (
            {"__name__": "mysql_statements_explained_total", **DB},
            [(at, n * 100 * share) for n, at in enumerate(times)],
        ),
    )


def run_of(server: Any, start_ms: int, **facts: Any) -> str:
    created = server.client.post("/api/runs", json={"name": "a run", "started_ms": start_ms, **facts}).json()
    server.client.post(
        f"/api/runs/{created['id']}/finish", json={"ended_ms": start_ms + LENGTH * SECOND}
    ).raise_for_status()
    return created["id"]


def statements(server: Any, run: str, **params: Any) -> Any:
    answer = server.client.get(f"/api/runs/{run}/statements", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def begun(server: Any, ago: int = 600) -> int:
    return (server.clock.now_ms // SECOND - ago) * SECOND


def test_the_table_of_a_run(server: Any) -> None:
    start_ms = begun(server)
    load(server, start_ms)
    coverage(server, start_ms, 0.97)
    found = statements(server, run_of(server, start_ms))
    assert (found["source"], found["window"], found["base"], found["known"]) == ("mysql", "whole", None, 1.0)
    assert found["coverage"] == pytest.approx(0.97)
    assert found["remarks"] == []
    dear, same, others = found["statements"]
    assert dear["fingerprint"] == "select * from `posts` where `id` in(?+)"
    assert dear["share"] == pytest.approx(0.75)
    assert dear["mean_seconds"] == pytest.approx(0.1125)
    assert dear["no_index_used"] == pytest.approx(120)
    assert same["digests"] == ["d1", "p1"], "the same statement, sent as text and prepared, is one"
    assert same["calls"] == pytest.approx(9_000)
    assert same["calls_per_second"] == pytest.approx(150)
    assert same["rows_examined_per_row_sent"] == pytest.approx(350 / 150)
    assert same["calls_per_request"] is None, "nobody counted requests"
    assert (others["fingerprint"], others["digests"]) == ("other", [])


def test_that_a_run_is_held_against_its_baseline(server: Any) -> None:
    before_ms, now_ms = begun(server, 1_200), begun(server)
    load(server, before_ms)
    write(server, before_ms, "d3", THREE, {"": 10, "seconds_total": 0.01})
    load(server, now_ms, factor=2)
    first = run_of(server, before_ms, scenario="checkout")
    second = run_of(server, now_ms, scenario="checkout")
    found = statements(server, second, base=first)
    assert found["base"] == first
    assert found["base_statements_gone"] == ["commit"]
    same = found["statements"][1]
    assert same["calls"] == pytest.approx(15_000)
    assert same["base"]["calls"] == pytest.approx(9_000)


def test_that_low_coverage_and_gaps_are_said(server: Any) -> None:
    start_ms = begun(server)
    write(server, start_ms, "d1", ONE, {"": 1, "seconds_total": 0.1}, seconds=20)
    coverage(server, start_ms, 0.4)
    found = statements(server, run_of(server, start_ms))
    assert found["known"] < 0.7
    assert any("40 %" in remark or "40%" in remark for remark in found["remarks"])
    japanese = statements(server, found["run"], lang="ja")["remarks"]
    assert len(japanese) == len(found["remarks"]) == 2
    assert "ステートメント" in japanese[0]


def test_that_nobody_counted_is_an_answer(server: Any) -> None:
    found = statements(server, run_of(server, begun(server)))
    assert (found["source"], found["statements"], found["coverage"]) == ("none", [], None)
    assert "mysql_statements" in found["remarks"][0]


def test_that_a_collector_which_is_configured_and_fails_is_named_with_its_fault(server: Any) -> None:
    start_ms = begun(server)
    for collector, error in (
        ("mysql_statements", "performance_schema is off"),
        ("access_log", "permission denied"),
        ("pprof", "connection refused"),
        ("mysql", "of another table"),
    ):
        labels = {"collector": collector, "error": error, **DB}
        server.write(
            ({"__name__": "collector_error_info", **labels}, [(start_ms + at * SECOND, 1.0) for at in range(30)]),
        )
    run = run_of(server, start_ms)
    assert statements(server, run)["remarks"][1:] == [
        "The collector mysql_statements of db-1 failed during the run: performance_schema is off"
    ]
    routes = server.client.get(f"/api/runs/{run}/routes").json()
    assert [one for one in routes["remarks"] if "failed" in one] == [
        "The collector access_log of db-1 failed during the run: permission denied"
    ]
    cost = server.client.get(f"/api/runs/{run}/cost", params={"lang": "ja"}).json()
    assert [one for one in cost["profile_remarks"] if "connection refused" in one] == cost["profile_remarks"][1:]
    assert "pprof" in cost["profile_remarks"][0]


def test_that_calls_are_of_the_requests_by_route_where_no_tool_counted_any(server: Any) -> None:
    start_ms = begun(server)
    load(server, start_ms)
    times = [start_ms + second * SECOND for second in range(-10, LENGTH + 11)]
    labels = {"__name__": "http_requests_total", "route": "/", "method": "GET", "code": "200", "job": "nginx"}
    server.write((labels, [(at, 25.0 * n) for n, at in enumerate(times)]))
    found = statements(server, run_of(server, start_ms))
    assert (found["requests"], found["requests_by"]) == (pytest.approx(1_500), "routes")
    assert found["statements"][1]["calls_per_request"] == pytest.approx(6)


def test_that_an_unknown_run_is_not_found(server: Any) -> None:
    assert server.client.get("/api/runs/none/statements").status_code == 404


def test_postgresql_by_its_exporters_names(server: Any) -> None:
    start_ms = begun(server)
    labels = {"datname": "shop", "queryid": "77", "job": "pg", "instance": "db-2"}
    times = [start_ms + second * SECOND for second in range(-10, LENGTH + 11)]
    server.write(
        ({"__name__": "pg_stat_statements_calls_total", **labels}, [(at, 2.0 * n) for n, at in enumerate(times)]),
        ({"__name__": "pg_stat_statements_seconds_total", **labels}, [(at, 0.5 * n) for n, at in enumerate(times)]),
        ({"__name__": "pg_stat_statements_rows_total", **labels}, [(at, 4.0 * n) for n, at in enumerate(times)]),
        (
            {
                "__name__": "pg_stat_statements_query_id",
                "queryid": "77",
                "query": 'SELECT "Id" FROM t WHERE a = $1 AND b IN ($2, $3)',
                "job": "pg",
                "instance": "db-2",
            },
            [(at, 1.0) for at in times],
        ),
    )
    found = statements(server, run_of(server, start_ms))
    (one,) = found["statements"]
    assert (found["source"], found["coverage"]) == ("postgresql", None)
    assert one["fingerprint"] == 'select "id" from t where a = ? and b in(?+)'
    assert (one["calls"], one["rows_sent"]) == (pytest.approx(120), pytest.approx(240))
    assert one["rows_examined"] is None


@pytest.mark.parametrize(("calls", "told"), [(1.0, 0.25), (6.0, None)])
def test_postgresql_by_the_collector_says_what_is_missing_only_where_it_can(
    server: Any, calls: float, told: float | None
) -> None:
    start_ms = begun(server)
    labels = {"datname": "shop", "queryid": "77", "query": "SELECT a FROM t WHERE b = ?", "job": "pg"}
    times = [start_ms + second * SECOND for second in range(-10, LENGTH + 11)]
    server.write(
        ({"__name__": "pg_stat_statements_calls_total", **labels}, [(at, calls * n) for n, at in enumerate(times)]),
        ({"__name__": "pg_stat_statements_seconds_total", **labels}, [(at, 0.5 * n) for n, at in enumerate(times)]),
        ({"__name__": "pg_statements_transactions_total", "job": "pg"}, [(at, 4.0 * n) for n, at in enumerate(times)]),
        ({"__name__": "pg_statements_calls_total", "job": "pg"}, [(at, calls * n) for n, at in enumerate(times)]),
    )
    found = statements(server, run_of(server, start_ms))
    (one,) = found["statements"]
    assert one["fingerprint"] == "select a from t where b = ?"
    assert found["coverage"] == (told if told is None else pytest.approx(told))
    assert any("25" in remark for remark in found["remarks"]) == (told is not None)


def test_that_the_digest_of_a_slow_log_takes_the_place_of_samples(server: Any) -> None:
    start_ms = begun(server)
    load(server, start_ms)
    run = run_of(server, start_ms)
    row = {"fingerprint": "select a from t", "schema": "shop", "count": 30, "sum": 1.5, "p95": 0.1, "rows_examined": 9}
    kept = {"statements": [row], "window": {"first_ms": start_ms, "last_ms": start_ms + 30 * SECOND}}
    params = {"kind": "slow_log", "name": "slow.json"}
    server.client.post(f"/api/runs/{run}/evidence", params=params, content=json.dumps(kept).encode()).raise_for_status()
    found = statements(server, run)
    (one,) = found["statements"]
    assert (found["source"], one["calls"], one["p95_seconds"], one["lock_seconds"]) == ("slow_log", 30, 0.1, None)
    assert one["calls_per_second"] == 1.0


@pytest.mark.parametrize(
    "content",
    [
        b"# Time: 1\nselect 1;",
        b"{}",
        b'{"statements": [{"count": 1}]}',
        b"[1]",
        b'{"statements": [{"fingerprint": "select 1", "count": -1, "sum": 1}]}',
        b'{"statements": [{"fingerprint": "select 1", "count": 1, "sum": "inf"}]}',
        json.dumps({"statements": [{"fingerprint": f"t{at}", "count": 1, "sum": 1} for at in range(5_002)]}).encode(),
    ],
    ids=["log", "empty", "half", "list", "negative", "infinite", "many"],
)
def test_that_a_file_which_is_no_digest_is_left_alone_and_said(server: Any, content: bytes) -> None:
    start_ms = begun(server)
    load(server, start_ms)
    run = run_of(server, start_ms)
    params = {"kind": "slow_log", "name": "slow.log"}
    server.client.post(f"/api/runs/{run}/evidence", params=params, content=content).raise_for_status()
    found = statements(server, run)
    assert found["source"] == "mysql"
    assert "is no digest that can be read" in found["remarks"][0]


def test_that_the_newest_plan_of_a_statement_stands_beside_it(server: Any) -> None:
    start_ms = begun(server)
    load(server, start_ms)
    steps = '[{"table":"users","access":"ALL","rows":120000,"extra":"Using where"},{"left_out":2}]'
    for digest, plan, reason, second in (
        ("d1", "", "no-example", -30),
        ("d1", steps, "", 30),
        ("d2", "", "not-permitted", 30),
        ("d3", steps, "", 30),
    ):
        labels = {"schema": "shop", "digest": digest, "plan": plan, "reason": reason, "example": ONE, **DB}
        server.write(
            ({"__name__": "mysql_statement_plan_info", **labels}, [(start_ms + second * SECOND, 1.0)]),
        )
    run = run_of(server, start_ms)
    by_text = {one["fingerprint"]: one["plan"] for one in statements(server, run)["statements"]}
    scan = next(plan for text, plan in by_text.items() if "users" in text)
    assert scan == {
        "seen_ms": start_ms + 30 * SECOND,
        "example": ONE,
        "steps": [{"table": "users", "access": "ALL", "key": None, "rows": 120000.0, "extra": "Using where"}],
        "left_out": 2,
        "reason": None,
    }
    assert next(plan for text, plan in by_text.items() if "posts" in text)["reason"] == "not-permitted"
    cost = server.client.get(f"/api/runs/{run}/cost").json()
    assert [one["plan"] for one in cost["statements"] if one["id"] == "shop:d1"] == [scan]
    lines = {digest: one["id"] for one in statements(server, run)["statements"] for digest in one["digests"]}
    assert [one["line"] for one in cost["statements"][:2]] == [lines["d2"], lines["d1"]], "both name the same line"
