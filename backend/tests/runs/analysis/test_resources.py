import math
from typing import Any

import numpy as np

from backend.tests.runs.analysis.building import START_MS, Bench, gauge, per_second, result_of, subject

SECONDS = 120


def test_what_ran_out_first_comes_first(bench: Bench):
    seconds = np.arange(SECONDS)
    bench.write(
        gauge("process_open_fds", np.clip(10.0 * seconds, 0, 1_000), instance="a", name="app"),
        gauge("process_max_fds", np.full(SECONDS, 1_000.0), instance="a", name="app"),
        gauge("go_sql_in_use_connections", np.clip(seconds, 0, 30.0), instance="a", db_name="main"),
        gauge("go_sql_max_open_connections", np.full(SECONDS, 30.0), instance="a", db_name="main"),
        gauge("go_sql_in_use_connections", np.clip(seconds, 0, 30.0), instance="b", db_name="main"),
        gauge("go_sql_max_open_connections", np.full(SECONDS, 0.0), instance="b", db_name="main"),
        gauge("mysql_global_status_threads_connected", 20 + 60 * np.sin(seconds / 60), instance="db"),
        gauge("mysql_global_variables_max_connections", np.full(SECONDS, 100.0), instance="db"),
        gauge("node_filefd_allocated", np.full(SECONDS, 5.0), instance="h"),
        gauge("node_filefd_maximum", np.full(SECONDS, 100.0), instance="h"),
        gauge("tcp_accept_queue", np.full(SECONDS, math.nan), instance="h", port="80"),
        gauge("tcp_accept_queue_limit", np.full(SECONDS, 128.0), instance="h", port="80"),
    )
    run = subject(result_of(per_second([10.0] * SECONDS)))
    found = bench.analyst().analyse(run).resources
    assert [entry.resource for entry in found] == [
        "pool_connections",
        "process_fds",
        "db_connections",
        "host_file_handles",
    ]
    pool, fds, database, handles = found
    assert (pool.exhausted, pool.first_full_ms) == (True, START_MS + 30_000)
    assert (pool.used_max, pool.limit, pool.ratio_max, pool.at_ms) == (30, 30, 1, START_MS + 30_000)
    assert pool.labels == {"instance": "a", "db_name": "main"}
    assert pool.name == "a main"
    assert pool.title_ja == "コネクションプール"
    assert fds.first_full_ms == START_MS + 98_000
    assert (database.exhausted, database.first_full_ms) == (False, None)
    assert database.used_max == 20 + 60 * np.sin(94 / 60)
    assert handles.ratio_max == 0.05


def test_only_the_runs_own_window_counts(bench: Bench):
    late = [(START_MS + 1_000 * second, 99.0) for second in range(200, 260)]
    full = [(time, 100.0) for time, _ in late]
    bench.write(({"__name__": "process_open_fds"}, late), ({"__name__": "process_max_fds"}, full))
    assert bench.analyst().analyse(subject(result_of(per_second([10.0] * SECONDS)))).resources == []


def test_a_run_longer_than_two_hours_is_looked_at_in_larger_steps(bench: Bench):
    count = 3 * 3_600
    used = np.full(count, 10.0)
    used[5_000:5_010] = 100.0
    bench.write(gauge("process_open_fds", used), gauge("process_max_fds", np.full(count, 100.0)))
    found = bench.analyst().analyse(subject(ended_ms=START_MS + count * 1_000)).resources
    assert [entry.exhausted for entry in found] == [True]
    assert found[0].first_full_ms is not None
    assert abs(found[0].first_full_ms - (START_MS + 5_000_000)) <= 2_000


def test_an_instant_at_the_limit_is_no_limit_reached(bench: Bench):
    used = np.full(SECONDS, 10.0)
    used[[20, 21, 22, 23]] = used[[40, 50, 52, 54, 56]] = 100.0
    used[80:86] = 100.0
    bench.write(
        gauge("process_open_fds", used, name="held"),
        gauge("process_open_fds", np.where(used[::-1] > 50, used[::-1], 10.0)[:60], name="touched"),
        gauge("process_max_fds", np.full(SECONDS, 100.0)),
    )
    found = bench.analyst().analyse(subject(result_of(per_second([10.0] * SECONDS)))).resources
    held = next(one for one in found if one.labels["name"] == "held")
    assert (held.exhausted, held.first_full_ms, held.interval_ms) == (True, START_MS + 80_000, None)


def test_what_is_known_by_the_minute_must_be_full_for_three_of_them_and_is_marked(bench: Bench):
    def minutes(metric: str, values: list[float], **labels: str) -> Any:
        return {"__name__": metric, **labels}, [(START_MS + 60_000 * i, value) for i, value in enumerate(values)]

    bench.write(
        minutes("process_open_fds", [10, 100, 100, 10, 10, 10, 10, 10, 10, 10], name="two"),
        minutes("process_open_fds", [10, 10, 100, 100, 100, 10, 10, 10, 10, 10], name="three"),
        minutes("process_max_fds", [100] * 10),
    )
    found = bench.analyst().analyse(subject(ended_ms=START_MS + 600_000)).resources
    assert {one.labels["name"]: (one.exhausted, one.interval_ms) for one in found} == {
        "two": (False, 60_000),
        "three": (True, 60_000),
    }
