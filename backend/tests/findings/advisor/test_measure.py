from collections.abc import Mapping

import numpy as np
import pytest
from loadwatch_backend.findings.advisor.advise import Demand, MeasuredPool
from loadwatch_backend.findings.advisor.measure import count_cores, measure

from backend.tests.findings.windows import Values, load, over, rising, steps, window

POOL = '{job="app",instance="web-1",db_name="main"}'
APP = '{job="app",instance="web-1"}'
DB = '{job="mysql",instance="db-1"}'


def pool(in_use: Values, more: Mapping[str, Values] | None = None, *, limit: float = 30) -> dict[str, Values]:
    used = np.atleast_1d(np.asarray(in_use, dtype=np.float64))
    return {
        f"go_sql_in_use_connections{POOL}": in_use,
        f"go_sql_idle_connections{POOL}": 0,
        f"go_sql_open_connections{POOL}": used,
        f"go_sql_max_open_connections{POOL}": limit,
        **{f"{name}{POOL}": values for name, values in (more or {}).items()},
    }


def only(series: dict[str, Values]) -> MeasuredPool:
    (one,) = measure(window(series)).pools
    return one


def demand(series: dict[str, Values]) -> Demand:
    found = only(series).demand
    assert found is not None
    return found


def test_the_busiest_ten_seconds_count_where_nobody_waited() -> None:
    busy = steps((20, 4), (5, 30), (15, 12), (20, 2))
    found = demand(pool(busy))
    assert not found.short
    # 5 s of 30 and 5 s of 12: a peak of five seconds is not ten.
    assert found.connections == found.in_use == pytest.approx(21)
    assert found.hold_seconds is None
    assert only(pool(busy)).most_used == 30


def test_an_instance_that_was_taken_away_needs_no_connections() -> None:
    old = {name.replace("web-1", "web-0"): values for name, values in pool(20).items()}
    ended = {name: over(steps((100, float(np.max(values))), (80, np.nan)), 180) for name, values in old.items()}
    lives = {name: over(values, 180) for name, values in pool(5).items()}
    assert [one.instance for one in measure(window({**lives, **ended}, seconds=180)).pools] == ["web-1"]
    assert len(measure(window({**pool(5), **old})).pools) == 2


def test_a_pool_that_was_hardly_used_asks_for_nothing() -> None:
    assert only(pool(0)).demand is None
    assert only(pool(steps((59, 0), (1, 1)))).demand is None


def test_who_waits_is_counted_by_littles_law() -> None:
    waiting = {
        "go_sql_wait_count_total": rising(steps((20, 0), (20, 100), (20, 0))),
        "go_sql_wait_duration_seconds_total": rising(steps((20, 0), (20, 10), (20, 0))),
    }
    found = demand(pool(steps((20, 5), (20, 30), (20, 5)), waiting))
    assert found.short
    assert (found.in_use, found.waiting, found.connections) == (pytest.approx(30), pytest.approx(10), pytest.approx(40))
    seen = only(pool(steps((20, 5), (20, 30), (20, 5)), waiting))
    assert (seen.waits, seen.wait_seconds) == (pytest.approx(2000), pytest.approx(200))


def test_what_arrives_and_is_not_served_counts_in_place_of_the_queue() -> None:
    waiting = {"go_sql_wait_count_total": rising(900), "go_sql_wait_duration_seconds_total": rising(2000)}
    series = pool(30, waiting) | {f"ingest_accepted_total{APP}": rising(900), f"ingest_stored_total{APP}": rising(300)}
    found = demand(series)
    assert found.hold_seconds == pytest.approx(0.1)
    # 900 requests/s × 100 ms, and not the 2,000 who wait with a long patience.
    assert found.connections == pytest.approx(90)
    # An application that stores many rows with one statement does not tell how long one holds a connection.
    assert demand(series | {f"ingest_queue_limit{APP}": 1000}).hold_seconds is None


def test_a_load_that_waits_for_its_answers_is_told_by_what_it_was_to_send() -> None:
    waiting = {"go_sql_wait_count_total": rising(270), "go_sql_wait_duration_seconds_total": rising(90)}
    series = pool(8, waiting, limit=8) | {
        f"ingest_accepted_total{APP}": rising(270),
        f"ingest_stored_total{APP}": rising(270),
    }
    seen = measure(window(series, load=load(270, target=810))).pools[0].demand
    assert seen is not None
    # 90 of a hundred clients wait at once; 810 requests/s need 24 connections, and not 98.
    assert seen.connections == pytest.approx(24)
    assert (seen.load_asked, seen.load_served, seen.more_arrive) == (pytest.approx(810), pytest.approx(270), 1)
    without = demand(series)
    assert (without.connections, without.more_wanted) == (pytest.approx(98), 1)


def test_waits_of_a_moment_do_not_make_a_pool_too_small() -> None:
    waiting = {
        "go_sql_wait_count_total": rising(steps((30, 0), (2, 9), (28, 0))),
        "go_sql_wait_duration_seconds_total": rising(steps((30, 0), (2, 1), (28, 0))),
    }
    assert not demand(pool(steps((30, 10), (2, 30), (28, 10)), waiting)).short


def test_settings_are_those_that_are_told() -> None:
    told = only(
        pool(3)
        | {
            f"go_sql_max_idle_connections{POOL}": 2,
            f"go_sql_connection_max_lifetime_seconds{POOL}": steps((30, 60), (30, 300)),
            f"go_sql_max_idle_closed_total{POOL}": rising(5),
        }
    )
    assert (told.max_open, told.max_idle, told.lifetime_seconds, told.idle_seconds) == (30, 2, 300, None)
    assert told.closed_idle == pytest.approx(300)


def test_a_pool_per_request_is_seen_by_its_silence() -> None:
    series = pool(0, limit=0) | {f"ingest_accepted_total{APP}": rising(50)}
    assert only(series).unused_under_load
    assert not only(pool(1) | {f"ingest_accepted_total{APP}": rising(50)}).unused_under_load
    assert not only(pool(0)).unused_under_load


def test_the_server_and_who_else_uses_it() -> None:
    series = pool(20) | {
        f"mysql_global_status_threads_connected{DB}": 45,
        f"mysql_global_variables_max_connections{DB}": 100,
        f"mysql_global_variables_wait_timeout{DB}": 600,
        f"mysql_global_status_questions{DB}": rising(500),
        f"mysql_global_status_innodb_row_lock_current_waits{DB}": 3,
        f"process_cpu_seconds_total{DB}": rising(1.5),
        'mysql_info_schema_processlist_processes_by_user{job="mysql",instance="db-1",mysql_user="redash"}': 24,
        'mysql_info_schema_processlist_processes_by_user{job="mysql",instance="db-1",mysql_user="app"}': 20,
    }
    (server,) = measure(window(series), {"db-1": 2}).servers
    assert (server.instance, server.max_connections, server.connected) == ("db-1", 100, pytest.approx(45))
    assert server.others == pytest.approx(25)
    assert list(server.by_user.items()) == [("redash", 24), ("app", 20)]
    assert (server.wait_timeout_seconds, server.statements) == (600, pytest.approx(500))
    assert (server.lock_waits, server.cores_used, server.cores) == (3, pytest.approx(1.5), 2)


def test_cores_are_counted_once_for_each_host() -> None:
    cpu = window(
        {
            f'node_cpu_seconds_total{{job="host",instance="{host}",cpu="{core}",mode="{mode}"}}': 0
            for host, cores in (("db-1", 2), ("db-2", 3))
            for core in range(cores)
            for mode in ("idle", "user")
        }
    )
    assert count_cores(cpu["node_cpu_seconds_total"]) == {"db-1": 2, "db-2": 3}
    assert count_cores(cpu["none"]) == {}


def test_an_instance_that_ends_a_little_early_is_not_taken_for_another_client() -> None:
    second = '{job="app",instance="web-2",db_name="main"}'
    ended = np.concatenate([np.full(57, 8.0), np.full(3, np.nan)])
    series = pool(8) | {
        f"go_sql_in_use_connections{second}": ended,
        f"go_sql_open_connections{second}": ended,
        f"mysql_global_status_threads_connected{DB}": 20,
        f"mysql_global_variables_max_connections{DB}": 100,
    }
    (server,) = measure(window(series)).servers
    assert server.others == pytest.approx(4)


def test_a_server_without_its_limit_is_none() -> None:
    assert measure(window(pool(1) | {f"mysql_global_status_threads_connected{DB}": 45})).servers == []
    assert measure(window({})).pools == []


def test_samples_of_each_ten_seconds_are_enough() -> None:
    series = pool(12)
    (seen,) = measure(window(series, interval=10)).pools
    assert seen.demand is not None
    assert seen.demand.connections == pytest.approx(12)


GONE = 80
"""Seconds from the end of the window at which something fell silent."""


def test_instances_that_are_gone_and_clients_that_have_left_do_not_count() -> None:
    seconds = 240
    values = {name: np.where(np.arange(seconds) < seconds - GONE, used, np.nan) for name, used in (("gone", 20.0),)}
    series: dict[str, Values] = {}
    for instance, in_use in (("web-1", 10.0), ("web-2", values["gone"])):
        labels = f'{{job="app",instance="{instance}",db_name="main"}}'
        series |= {f"go_sql_in_use_connections{labels}": in_use, f"go_sql_open_connections{labels}": in_use}
    night_job = np.where(np.arange(seconds) < 100, 50.0, 0.0)
    series |= {
        f"mysql_global_status_threads_connected{DB}": 17.0 + np.nan_to_num(values["gone"]) + night_job,
        f"mysql_global_variables_max_connections{DB}": 100.0,
    }
    seen = measure(window(series, seconds=seconds))
    assert [one.instance for one in seen.pools] == ["web-1"]
    assert seen.servers[0].others == pytest.approx(7)


def test_who_else_uses_a_database_that_fell_silent_is_not_known() -> None:
    silent = np.where(np.arange(240) < 240 - GONE, 45.0, np.nan)
    series = {
        f"mysql_global_status_threads_connected{DB}": silent,
        f"mysql_global_variables_max_connections{DB}": 100.0,
    }
    used = {
        name: np.full(240, value) if not np.ndim(value) else np.resize(value, 240) for name, value in pool(20).items()
    }
    assert measure(window(used | series, seconds=240)).servers[0].others is None
