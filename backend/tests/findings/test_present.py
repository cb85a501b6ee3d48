"""Findings of the present over the interface of a real server: what leads, and since when it lasts."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from backend.tests.conftest import NOW_MS, RunningServer

SECOND = 1_000


def _write(server: RunningServer, seconds: range, *full: tuple[int, int], limit: Mapping[int, float]) -> None:
    """A pool, sampled each second from now on; full in these spans, with the limit that was set last."""
    holds = {at: any(first <= at < end for first, end in full) for at in seconds}
    bound = {at: next(limit[since] for since in sorted(limit, reverse=True) if since <= at) for at in seconds}
    waits, seen = 0.0, list[tuple[int, float]]()
    for at in seconds:
        waits += 40.0 if holds[at] else 0.0
        seen.append((at, waits))

    def samples(values: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
        return [(NOW_MS + SECOND * at, value) for at, value in values]

    labels = {"job": "app", "instance": "app-1", "db_name": "hits"}
    for name, values in (
        ("go_sql_in_use_connections", [(at, bound[at] if holds[at] else 1.0) for at in seconds]),
        ("go_sql_max_open_connections", list(bound.items())),
        ("go_sql_wait_count_total", seen),
        ("go_sql_wait_duration_seconds_total", [(at, 0.5 * count) for at, count in seen]),
    ):
        server.write(({"__name__": name, **labels}, samples(values)))


def _run(server: RunningServer, began: int, ended: int | None = None) -> str:
    now_ms = server.clock.now_ms
    server.clock.now_ms = NOW_MS + began * SECOND
    run = server.client.post("/api/runs", json={"name": f"at {began}", "tool": "hey"}).raise_for_status().json()
    if ended is not None:
        server.clock.now_ms = NOW_MS + ended * SECOND
        body = {"ended_ms": server.clock.now_ms, "exit_code": 0}
        server.client.post(f"/api/runs/{run['id']}/finish", json=body).raise_for_status()
    server.clock.now_ms = now_ms
    return run["id"]


def _now(server: RunningServer, at: int = 0) -> dict[str, Any]:
    server.clock.now_ms = NOW_MS + at * SECOND
    return server.client.get("/api/findings").raise_for_status().json()


def _pools(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in answer["findings"] if one["id"] == "pool-exhausted"]


def test_after_a_run_that_passed_the_pool_of_an_earlier_run_does_not_lead(server: RunningServer) -> None:
    """Pool 2 ran out in the first run; the second one had 16 and was well."""
    _write(server, range(-280, 1), (-200, -170), limit={-300: 2.0, -120: 16.0})
    _run(server, -205, -165)
    _run(server, -100, -40)
    answer = _now(server)
    (pool,) = _pools(answer)
    assert pool["before_run"]
    assert "The pool of 2 connections" in pool["sentence"]["en"]
    assert answer["state"] != "found"
    assert answer["from_ms"] == NOW_MS - 100 * SECOND


def test_without_a_run_in_between_a_change_of_the_limit_ends_the_episode(server: RunningServer) -> None:
    _write(server, range(-280, 1), (-200, -170), limit={-300: 2.0, -120: 16.0})
    (pool,) = _pools(_now(server))
    assert "The pool of 2 connections" in pool["sentence"]["en"]
    assert not pool["before_run"]
    assert pool["to_ms"] <= NOW_MS - 165 * SECOND


def test_while_a_run_lasts_its_own_harm_leads_and_counts_from_its_beginning(server: RunningServer) -> None:
    _write(server, range(-280, 62), (-200, -150), (-60, 62), limit={-300: 8.0})
    answer = _now(server)
    (pool,) = _pools(answer)
    assert "2,4" in pool["sentence"]["en"], "of two episodes without a run the newest"
    _run(server, -180, -100)
    _run(server, -30)
    # A look later than the one that is kept, however much that one cost.
    (pool,) = _pools(_now(server, 61))
    assert not pool["before_run"], "one kind at one place is told once, of the run under way"
    assert NOW_MS - 31 * SECOND <= pool["from_ms"] <= NOW_MS - 27 * SECOND
    assert "3,6" in pool["sentence"]["en"]


def _headlines(server: RunningServer, run: str) -> list[Any]:
    """Of the present, of the run's document, and in the list of runs: title and beginning."""
    own = server.client.get(f"/api/runs/{run}").raise_for_status().json()
    listed = next(one for one in server.client.get("/api/runs").json()["runs"] if one["id"] == run)
    now = server.client.get("/api/findings").raise_for_status().json()
    limit = listed["first_limit"]
    return [
        (now["run"], now["headline"]),
        (run, own["diagnosis"]["headline"]),
        (limit["title"], limit["after_seconds"] and own["started_ms"] + 1_000 * limit["after_seconds"]),
    ]


def test_a_run_and_the_present_have_one_headline_while_it_lasts_and_for_five_minutes_after(
    server: RunningServer,
) -> None:
    _write(server, range(-280, 301), (-60, -20), limit={-300: 8.0})
    _run(server, -90)
    (run,) = (one["id"] for one in server.client.get("/api/runs").json()["runs"])
    for at in (10, 16, 200):
        _now(server, at)
        if at == 16:
            body = {"ended_ms": server.clock.now_ms, "exit_code": 0}
            server.client.post(f"/api/runs/{run}/finish", json=body).raise_for_status()
        now, own, listed = _headlines(server, run)
        for _ in range(100):
            # The list sets off an analysis, whose end a reader of the run does not wait for.
            if now == own:
                break
            time.sleep(0.1)
            now, own, listed = _headlines(server, run)
        assert now == own, at
        headline = now[1]
        assert (headline["kind"], headline["resource"], headline["instance"]) == (
            ("found", "pool_connections", "app-1")
        )
        assert listed == (headline["title"], headline["from_ms"])
    assert _now(server, 317)["run"] == ""
    assert _now(server, 318)["headline"]["kind"] != "found"


def test_who_asks_for_the_present_alone_is_told_of_the_run_as_it_goes_on(server: RunningServer) -> None:
    """hey and wrk tell nothing while they run, so that nobody but a reader has the run analysed."""
    _write(server, range(-280, 41), (20, 41), limit={-300: 8.0})
    run = _run(server, 0)
    server.clock.now_ms = NOW_MS + SECOND
    server.client.get(f"/api/runs/{run}").raise_for_status()
    answer = first = _now(server, 1)
    assert (first["headline"]["kind"], first["checked"]) == ("cannot-tell", []), "a second of load clears nothing"
    # More than once: what tells of new runs reads this one, too, and has it analysed.
    for at in (15, 25, 40):
        for _ in range(100):
            answer = _now(server, at)
            if answer["to_ms"] == NOW_MS + at * SECOND:
                break
            time.sleep(0.1)
        assert answer["to_ms"] == NOW_MS + at * SECOND
    assert answer["run"] == first["run"] == run
    assert answer["headline"]["resource"] == "pool_connections"


def test_what_begins_after_a_run_leads_before_what_the_run_ran_out_of(server: RunningServer) -> None:
    _write(server, range(-280, 1), (-200, -170), (-60, 1), limit={-300: 8.0})
    _run(server, -205, -165)
    answer = _now(server)
    assert answer["headline"]["from_ms"] == pytest.approx(NOW_MS - 59 * SECOND, abs=2 * SECOND)
    (run,) = server.client.get("/api/runs").json()["runs"]
    assert run["first_limit"]["after_seconds"] == pytest.approx(6, abs=2)


def test_a_finding_that_was_rejected_leads_nowhere(server: RunningServer) -> None:
    _write(server, range(-280, 1), (-60, -20), limit={-300: 8.0})
    _run(server, -90, -10)
    (run,) = (one["id"] for one in server.client.get("/api/runs").json()["runs"])
    for pool in _pools(server.client.get(f"/api/runs/{run}").json()):
        body = {"run": run, "key": pool["key"], "reason": "planned"}
        server.client.post("/api/findings/marks", json=body).raise_for_status()
    now, own, listed = _headlines(server, run)
    assert now == own
    assert (now[1]["kind"], now[1]["key"], listed) == ("muted", "", (None, None))


def test_what_lasts_keeps_its_beginning_and_its_count_while_the_window_slides(server: RunningServer) -> None:
    _write(server, range(-900, 301), (-700, 301), limit={-900: 8.0})
    first, later = (_pools(_now(server, at))[0] for at in (0, 240))
    assert first["from_ms"] == later["from_ms"] <= NOW_MS - 695 * SECOND
    assert not first["began_earlier"]
    assert "28,0" in first["sentence"]["en"]
    assert "37,6" in later["sentence"]["en"]


def test_what_is_over_keeps_its_count_until_it_leaves(server: RunningServer) -> None:
    _write(server, range(-900, 301), (-400, -100), limit={-900: 8.0})
    sentences = {(one["from_ms"], one["to_ms"]) for at in (0, 100, 180) for one in _pools(_now(server, at))}
    assert len(sentences) == 1
    assert _pools(_now(server, 260)) == []


def test_what_lasts_for_more_than_an_hour_says_so(server: RunningServer) -> None:
    _write(server, range(-4_000, 1), (-3_900, 1), limit={-4_000: 8.0})
    (pool,) = _pools(_now(server))
    assert pool["began_earlier"]
    assert re.search(r"ran out before \d\d:\d\d:\d\d UTC", pool["sentence"]["en"])
    assert "UTCより前に" in pool["sentence"]["ja"]


def test_the_beginning_of_a_run_bounds_what_is_read_earlier(server: RunningServer) -> None:
    _write(server, range(-900, 1), (-700, 1), limit={-900: 8.0})
    _run(server, -400)
    (pool,) = _pools(_now(server))
    assert pool["from_ms"] == pytest.approx(NOW_MS - 399 * SECOND, abs=2 * SECOND)
