import json
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import urllib3
from loadwatch_collectors.collector import KEPT, Labels, Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.dbstats import DBSTATS, DbstatsSettings, build_dbstats

from collectors.tests import measuring_server
from collectors.tests.mariadb import MariaDB
from collectors.tests.servers import answer_always, drip, endless, response, tcp_server
from tests.ports import free_port

MAIN = (("db_name", "main"),)
HITS = (("db_name", "hits"),)
POOL = {
    "MaxOpenConnections": 30,
    "OpenConnections": 30,
    "InUse": 30,
    "Idle": 0,
    "WaitCount": 115713,
    "WaitDuration": 448546970000000,
    "MaxIdleClosed": 1,
    "MaxIdleTimeClosed": 2,
    "MaxLifetimeClosed": 3,
}
FIXTURE = Path(__file__).parent.parent / "fixtures" / "dbstats" / "measuring-server.json"
LINE = (
    "2021/08/05 12:00:01 {MaxOpenConnections:30 OpenConnections:30 InUse:%d Idle:0 WaitCount:115713 "
    "WaitDuration:124h35m46.97s MaxIdleClosed:0 MaxIdleTimeClosed:0 MaxLifetimeClosed:0}\n"
)
OLD_LINE = (
    "dbStats MaxOpenConnections:0 OpenConnections:0 InUse:0 Idle:0 WaitCount:0 WaitDuration:0s "
    "MaxIdleClosed:1026 MaxLifetimeClosed:0\n"
)


def values(samples: Any) -> dict[tuple[str, Labels], float]:
    return {(sample.name, sample.labels): sample.value for sample in samples}


def collect(document: object, **keys: Any) -> dict[tuple[str, Labels], float]:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    with tcp_server(answer_always(response(body))) as port:
        collector = build_dbstats(DbstatsSettings(url=f"http://127.0.0.1:{port}/debug/dbstats", **keys))
        try:
            return values(collector.collect())
        finally:
            collector.close()


def test_a_recorded_document_of_the_measuring_server() -> None:
    assert collect(FIXTURE.read_bytes()) == {
        ("go_sql_max_open_connections", HITS): 30,
        ("go_sql_open_connections", HITS): 30,
        ("go_sql_in_use_connections", HITS): 30,
        ("go_sql_idle_connections", HITS): 0,
        ("go_sql_wait_count_total", HITS): 115713,
        ("go_sql_wait_duration_seconds_total", HITS): pytest.approx(448546.97),
        ("go_sql_max_idle_closed_total", HITS): 0,
        ("go_sql_max_idle_time_closed_total", HITS): 0,
        ("go_sql_max_lifetime_closed_total", HITS): 0,
        ("go_sql_max_idle_connections", HITS): 30,
        ("go_sql_connection_max_lifetime_seconds", HITS): 30,
        ("go_sql_connection_max_idle_time_seconds", HITS): 0,
        ("ingest_accepted_total", ()): 10000,
        ("ingest_stored_total", ()): 5033,
        ("ingest_failed_total", ()): 7,
        ("ingest_rejected_total", ()): 3,
        ("ingest_queue_length", ()): 4960,
        ("ingest_queue_limit", ()): 100000,
        ("ingest_lag_seconds", (("stat", "min"),)): 0.25,
        ("ingest_lag_seconds", (("stat", "max"),)): 3.264,
        ("ingest_oldest_seconds", ()): 3.5,
        ("http_requests_in_flight", ()): 12,
        ("http_invalid_requests_total", ()): 0,
        ("http_accept_errors_total", ()): 0,
        ("go_goroutines", ()): 31,
        ("go_sched_gomaxprocs_threads", ()): 2,
        ("go_memstats_heap_alloc_bytes", ()): 2097152,
        ("go_build_info", (("path", "measuring-server"), ("version", "(devel)"), ("revision", "4f1c2d9"))): 1,
        ("go_info", (("version", "go1.26.0"),)): 1,
    }


def test_a_document_that_is_the_statistics_alone() -> None:
    found = collect(POOL, db_name="orders")
    assert found["go_sql_wait_duration_seconds_total", (("db_name", "orders"),)] == pytest.approx(448546.97)
    assert len(found) == 9


def test_pools_and_numbers_by_their_place() -> None:
    document = {"db": {"w": POOL, "r": {**POOL, "InUse": 3}}, "lag": {"max_ms": 1500, "none": None}, "up": True}
    found = collect(
        document,
        pools={"writer": "db.w", "reader": "db.r"},
        numbers={"lag.max_ms": 'ingest_lag_seconds{stat="max"} * 0.001', "lag.none": "x", "up": "app_ready"},
    )
    assert found["go_sql_in_use_connections", (("db_name", "writer"),)] == 30
    assert found["go_sql_in_use_connections", (("db_name", "reader"),)] == 3
    assert found["ingest_lag_seconds", (("stat", "max"),)] == 1.5
    assert found["app_ready", ()] == 1
    assert ("x", ()) not in found


def test_settings_and_build_are_read_as_far_as_they_are_told() -> None:
    pool = {**POOL, "MaxIdleConnections": 2, "ConnMaxLifetime": "5m0s", "ConnMaxIdleTime": None}
    found = collect({"main": pool, "build": {"version": "v1.2.0", "revision": "", "path": 7}})
    assert found["go_sql_max_idle_connections", MAIN] == 2
    assert found["go_sql_connection_max_lifetime_seconds", MAIN] == 300
    assert ("go_sql_connection_max_idle_time_seconds", MAIN) not in found
    assert found["go_build_info", (("version", "v1.2.0"),)] == 1
    assert not {name for name, _ in collect({"main": POOL, "build": "x"}) if name == "go_build_info"}


def test_a_long_text_is_cut() -> None:
    found = collect({"main": POOL, "build": {"revision": "r" * 10_000}})
    assert ("go_build_info", (("revision", "r" * 200),)) in found


def test_nothing_to_say_is_no_zero() -> None:
    ingest = {"queue_limit": 0, "lag_min_seconds": None}
    assert set(collect({"ingest": {**ingest, "accepted": 0}, "pool": POOL})) >= {("ingest_accepted_total", ())}
    assert not {name for name, _ in collect({"ingest": ingest, "pool": POOL}) if name.startswith("ingest")}


@pytest.mark.parametrize(
    ("document", "keys", "says"),
    [
        (b"<html><body>hello", {}, r"expected JSON with sql\.DBStats, but the page is application/json: '<html>"),
        ({"a": 1}, {}, r"no sql\.DBStats in the document \(a document with the keys a\)"),
        ([], {}, "a document that is a list"),
        ({"a": POOL}, {"pools": {"w": "b"}}, r"no sql\.DBStats at 'b' \(pool w\) in a document with the keys a"),
        ({"a": POOL}, {"numbers": {"q.n": "queue"}}, r"no number at 'q\.n'"),
        ({"a": POOL, "q": "x"}, {"numbers": {"q": "queue"}}, "q is 'x', not a number"),
        ({"main": {**POOL, "ConnMaxLifetime": "x"}}, {}, r"main\.ConnMaxLifetime: "),
        ({"main": {**POOL, "Idle": []}}, {}, r"main\.Idle is \[\], not a number"),
        (b"[" * 100_000, {}, "expected JSON"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(document: object, keys: dict[str, Any], says: str) -> None:
    with pytest.raises(CollectorError, match=says) as caught:
        collect(document, **keys)
    assert "/debug/dbstats" in str(caught.value)


def test_an_html_page_is_named_with_its_type() -> None:
    page = response(b"<!doctype html><title>Login</title>", content_type="text/html; charset=utf-8")
    with tcp_server(answer_always(page)) as port:
        collector = build_dbstats(DbstatsSettings(url=f"http://127.0.0.1:{port}/"))
        with pytest.raises(CollectorError, match=r"the page is text/html; charset=utf-8: '<!doctype html>"):
            collector.collect()
        collector.close()


@pytest.mark.parametrize(
    ("talk", "says"),
    [(endless, "larger than 1000000 bytes"), (drip(response(b" " * 900)), "no complete answer within 0.3 s")],
    ids=["endless", "drips"],
)
def test_a_page_that_does_not_end(talk: Callable[[socket.socket], object], says: str) -> None:
    with tcp_server(talk) as port:
        url = f"http://127.0.0.1:{port}/"
        collector = build_dbstats(DbstatsSettings(url=url, max_body=1_000_000, deadline=30 if talk is endless else 0.3))
        with pytest.raises(CollectorError, match=says):
            collector.collect()
        collector.close()


def test_the_measuring_server(mariadb: MariaDB, measuring_server_program: Path, tmp_path: Path) -> None:
    flags = ("-stage=bounded", "-max-open=2", "-max-idle=2", "-db-delay=100ms", "-revision=4f1c2d9")
    settings = ("-conn-max-lifetime=5m", "-conn-max-idle-time=90s")
    with measuring_server.running(measuring_server_program, mariadb, tmp_path / "log", *flags, *settings) as server:
        collector = build_dbstats(DbstatsSettings(url=f"{server.url}/debug/dbstats?reader=test"))
        before = values(collector.collect())
        threads = [threading.Thread(target=server.hit, args=("dbstats",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        after = values(collector.collect())
        collector.close()
    assert before["go_sql_max_open_connections", HITS] == 2
    assert before["go_sql_max_idle_connections", HITS] == 2
    assert before["go_sql_connection_max_lifetime_seconds", HITS] == 300
    assert before["go_sql_connection_max_idle_time_seconds", HITS] == 90
    ((_, build),) = (key for key in before if key[0] == "go_build_info")
    assert dict(build)["revision"] == "4f1c2d9"
    assert after["go_sql_wait_count_total", HITS] >= 6
    assert after["go_sql_wait_duration_seconds_total", HITS] >= 0.5
    assert after["ingest_accepted_total", ()] - before["ingest_accepted_total", ()] == 8
    assert after["ingest_stored_total", ()] - before["ingest_stored_total", ()] == 8
    lowest, highest = (after["ingest_lag_seconds", (("stat", stat),)] for stat in ("min", "max"))
    assert 0.1 <= lowest < highest
    assert {name for name, _ in after} <= {metric.name for metric in DBSTATS.metrics}


def test_an_application_started_anew_is_read_at_once(
    mariadb: MariaDB, measuring_server_program: Path, tmp_path: Path
) -> None:
    port = free_port()
    collector = build_dbstats(DbstatsSettings(url=f"http://127.0.0.1:{port}/debug/dbstats"))
    for _ in range(2):
        with measuring_server.running(measuring_server_program, mariadb, tmp_path / "log", port=port) as server:
            server.hit("anew")
            assert values(collector.collect())["ingest_accepted_total", ()] == 1
    with pytest.raises(CollectorError, match="connection refused"):
        collector.collect()
    collector.close()


def test_the_log_of_the_measuring_server(mariadb: MariaDB, measuring_server_program: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    collector = build_dbstats(DbstatsSettings(log_file=str(log)))
    with measuring_server.running(measuring_server_program, mariadb, log, "-max-open=17", "-log-stats=50ms"):
        give_up = time.monotonic() + 120
        while "WaitDuration" not in log.read_text() and time.monotonic() < give_up:
            time.sleep(0.02)
        found = values(collector.collect())
    collector.close()
    assert found["go_sql_max_open_connections", MAIN] == 17


def test_lines_of_both_shapes_are_followed(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("started\n" + LINE % 30)
    collector = build_dbstats(DbstatsSettings(log_file=str(log)))
    first = list(collector.collect())
    assert Sample("go_sql_in_use_connections", 30, MAIN) in first
    again = list(collector.collect())
    assert {sample.timestamp_ms for sample in again} == {KEPT}
    log.write_text(OLD_LINE)
    found = values(collector.collect())
    collector.close()
    assert found["go_sql_max_idle_closed_total", MAIN] == 1026
    assert ("go_sql_max_idle_time_closed_total", MAIN) not in found


def test_pools_of_a_log_are_told_apart_by_their_text(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("writer " + LINE % 5 + "reader " + LINE % 9)
    settings = DbstatsSettings(log_file=str(log), pools={"w": "writer", "r": "reader"})
    collector = build_dbstats(settings)
    found = values(collector.collect())
    collector.close()
    assert found["go_sql_in_use_connections", (("db_name", "w"),)] == 5
    assert found["go_sql_in_use_connections", (("db_name", "r"),)] == 9


def test_a_log_that_says_nothing(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    collector = build_dbstats(DbstatsSettings(log_file=str(log)))
    with pytest.raises(CollectorError, match=r"app\.log: No such file"):
        collector.collect()
    log.write_text("hello\n")
    with pytest.raises(CollectorError, match=r"no line with db\.Stats\(\) yet; it must be logged with %\+v"):
        collector.collect()
    collector.close()


def test_a_log_that_fell_silent(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text(LINE % 30)
    os.utime(log, (time.time() - 3600, time.time() - 3600))
    collector = build_dbstats(DbstatsSettings(log_file=str(log)))
    with pytest.raises(CollectorError, match="older than 30 s"):
        collector.collect()
    collector.close()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "either url or log_file"),
        ({"url": "http://x/", "log_file": "y"}, "either url or log_file"),
        ({"log_file": "y", "numbers": {"a": "b"}}, "numbers are read from a document"),
        ({"url": "http://x/", "numbers": {"a": "b c"}}, "not a metric"),
        ({"url": "http://x/", "deadline": 0}, "above 0"),
    ],
)
def test_settings_are_checked(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        DbstatsSettings(**keys)


def test_the_fixture_has_the_shape_of_today(mariadb: MariaDB, measuring_server_program: Path, tmp_path: Path) -> None:
    with measuring_server.running(measuring_server_program, mariadb, tmp_path / "log") as server:
        today = urllib3.request("GET", f"{server.url}/debug/dbstats", retries=False, timeout=60).json()
    recorded = json.loads(FIXTURE.read_text())
    assert set(recorded) <= set(today)
    for part in ("ingest", "http", "go"):
        assert set(recorded[part]) <= set(today[part])
    assert set(recorded["pools"]["hits"]) == set(today["pools"]["hits"])
