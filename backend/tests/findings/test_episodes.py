"""What a finding says is of one episode: a change of a limit, a restart and a pause of the present end it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from loadwatch_backend.findings.detectors.database_connections import connections_exhausted
from loadwatch_backend.findings.detectors.pool import pool_churn, pool_exhausted, pool_lifetime_churn, pool_unlimited
from loadwatch_backend.findings.detectors.process import container_throttled
from loadwatch_backend.findings.detectors.sockets import accept_queue_full, time_wait_buildup
from loadwatch_backend.findings.model import Detector
from loadwatch_backend.findings.window import Episode, Window, episodes

from backend.tests.findings.windows import BEFORE, START_MS, Values, found, load, over, rising, steps, window

POOL = '{job="app",instance="app-1",db_name="hits"}'
APP = '{job="app",instance="app-1"}'
HOST = '{job="host",instance="vm-1"}'
CHANGE = BEFORE + 31
"""The instant from which the limits of these windows are others."""


def _changed(before: float, after: float) -> Values:
    return over(steps((30, before), (30, after)))


def _one_of(holds: Values, *settings: Values, of_run: bool = False) -> tuple[int, int]:
    seen = replace(window({}, seconds=200), of_run=of_run)
    told = seen.one_of(episodes(over(holds, 200) > 0), *(over(setting, 200) for setting in settings))
    return told.first - BEFORE - 1, told.end - BEFORE - 1


def test_of_the_present_the_newest_episode_is_told_and_of_a_run_all_of_it() -> None:
    twice = steps((50, 1.0), (90, 0.0), (60, 0.0))
    twice[140:170] = 1.0
    assert _one_of(twice) == (140, 170)
    assert _one_of(twice, of_run=True) == (-BEFORE - 1, 170)
    pause = steps((50, 1.0), (50, 0.0), (50, 1.0), (50, 0.0))
    assert _one_of(pause) == (-BEFORE - 1, 150)


def test_a_change_of_a_setting_ends_an_episode_also_in_the_middle_of_it() -> None:
    holds, limit = steps((10, 0.0), (180, 1.0), (10, 0.0)), steps((60, 8.0), (140, 16.0))
    assert _one_of(holds, limit) == (60, 190)
    assert _one_of(holds, limit, of_run=True) == (60, 190)
    assert _one_of(holds, steps((150, 8.0), (50, 16.0)), of_run=True) == (10, 150)
    assert _one_of(holds, steps((187, 8.0), (13, 16.0))) == (10, 187)
    unknown = np.where(np.arange(200) % 7 == 0, limit, np.nan)
    assert _one_of(holds, unknown)[0] == 63
    assert _one_of(holds, np.full(200, np.nan)) == (10, 190)


FULL_FIRST: Mapping[str, tuple[Detector, dict[str, Values], str]] = {
    "pool": (
        pool_exhausted,
        {
            f"go_sql_in_use_connections{POOL}": _changed(2.0, 3.0),
            f"go_sql_max_open_connections{POOL}": _changed(2.0, 16.0),
            f"go_sql_wait_count_total{POOL}": rising(steps((30, 40.0), (30, 0.0))),
            f"go_sql_wait_duration_seconds_total{POOL}": rising(steps((30, 20.0), (30, 0.0))),
        },
        "The pool of 2 connections",
    ),
    "idle connections": (
        pool_churn,
        {
            f"go_sql_in_use_connections{POOL}": 8.0,
            f"go_sql_max_open_connections{POOL}": 30.0,
            f"go_sql_max_idle_connections{POOL}": _changed(2.0, 30.0),
            f"go_sql_max_idle_closed_total{POOL}": rising(steps((30, 40.0), (30, 0.0))),
        },
        "keeps only 2 idle ones",
    ),
    "lifetime": (
        pool_lifetime_churn,
        {
            f"go_sql_in_use_connections{POOL}": 8.0,
            f"go_sql_open_connections{POOL}": 8.0,
            f"go_sql_max_open_connections{POOL}": 30.0,
            f"go_sql_connection_max_lifetime_seconds{POOL}": _changed(1.0, 300.0),
            f"go_sql_max_lifetime_closed_total{POOL}": rising(steps((30, 8.0), (30, 0.0))),
        },
        "SetConnMaxLifetime(1.0 s)",
    ),
    "no limit of the pool": (
        pool_unlimited,
        {
            f"go_sql_in_use_connections{POOL}": _changed(58.0, 20.0),
            f"go_sql_open_connections{POOL}": _changed(58.0, 20.0),
            f"go_sql_max_open_connections{POOL}": _changed(0.0, 20.0),
            'mysql_global_status_threads_connected{job="mysql",instance="db"}': _changed(60.0, 22.0),
            'mysql_global_variables_max_connections{job="mysql",instance="db"}': 60.0,
            'mysql_global_status_aborted_connects{job="mysql",instance="db"}': rising(steps((30, 5.0), (30, 0.0))),
        },
        "went up to 58 connections where db allows 60",
    ),
    "connections of the database": (
        connections_exhausted,
        {
            'mysql_global_status_threads_connected{job="mysql",instance="db"}': _changed(60.0, 70.0),
            'mysql_global_variables_max_connections{job="mysql",instance="db"}': _changed(60.0, 240.0),
            'mysql_global_status_aborted_connects{job="mysql",instance="db"}': rising(steps((30, 5.0), (30, 0.0))),
        },
        "All 60 connections",
    ),
    "quota": (
        container_throttled,
        {
            f"container_cpu_cfs_throttled_periods_total{APP}": rising(steps((30, 9.0), (30, 0.0))),
            f"container_cpu_cfs_periods_total{APP}": rising(10.0),
            f"container_spec_cpu_quota{APP}": _changed(100_000.0, 400_000.0),
            f"container_spec_cpu_period{APP}": 100_000.0,
        },
        "CPU quota of 1 cores",
    ),
    "queue of a port": (
        accept_queue_full,
        {
            'tcp_accept_queue{job="host",instance="vm-1",port="8080"}': _changed(128.0, 0.0),
            'tcp_accept_queue_limit{job="host",instance="vm-1",port="8080"}': _changed(128.0, 4_096.0),
        },
        "Up to 128 of 128 connections",
    ),
    "buckets": (
        time_wait_buildup,
        {
            f"node_sockstat_TCP_tw{HOST}": _changed(950.0, 960.0),
            f"kernel_tcp_max_tw_buckets{HOST}": _changed(1_000.0, 200_000.0),
            f"node_netstat_Tcp_PassiveOpens{HOST}": rising(100.0),
            f"node_netstat_Tcp_ActiveOpens{HOST}": rising(100.0),
        },
        "of the 1,000 TIME-WAIT buckets",
    ),
}


@pytest.mark.parametrize(("detector", "series", "said"), FULL_FIRST.values(), ids=FULL_FIRST.keys())
def test_the_limit_is_the_one_that_was_in_force(detector: Detector, series: dict[str, Values], said: str) -> None:
    seen: Window = window(series, load=load(100.0, timeout=steps((30, 40.0), (30, 0.0))))
    finding = found(detector, seen)
    assert said in finding.sentence.en
    assert finding.to_ms <= START_MS + 31_000
    for one in finding.evidence:
        assert one.at_ms <= START_MS + 33_000, one.text.en
        assert one.limit is None or one.limit <= 1_000, one.text.en


def test_the_start_of_another_process_ends_an_episode() -> None:
    series = FULL_FIRST["pool"][1] | {
        f"go_sql_in_use_connections{POOL}": 2.0,
        f"go_sql_max_open_connections{POOL}": 2.0,
        f"go_sql_wait_count_total{POOL}": rising(steps((60, 40.0))),
        f"go_sql_wait_duration_seconds_total{POOL}": rising(steps((60, 20.0))),
        f"process_start_time_seconds{APP}": over(steps((40, 1_000.0), (20, 2_000.0))),
    }
    assert "800 requests waited" in found(pool_exhausted, window(series)).sentence.en
    of_run = replace(window(series), of_run=True)
    assert "1,600 requests waited" in found(pool_exhausted, of_run).sentence.en


def test_an_episode_has_a_window_of_its_own_and_its_chart_shows_all() -> None:
    seen = window({})
    during = seen.during(Episode(40, 50))
    assert (during.focus, during.whole, seen.focus) == (slice(40, 50), seen.whole, seen.whole)


def test_a_sentence_names_the_program_and_not_the_host_that_its_target_is_called_by() -> None:
    series = {name.replace("app-1", "vm"): values for name, values in FULL_FIRST["pool"][1].items()}
    on_host = series | {'node_cpu_seconds_total{job="host",instance="vm",cpu="0",mode="idle"}': rising(1.0)}
    assert "connections of vm hits" in found(pool_exhausted, window(series)).sentence.en
    assert "connections of app hits" in found(pool_exhausted, window(on_host)).sentence.en
