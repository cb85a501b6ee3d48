"""Churn is connections closed at the rate of the requests; a burst at the end of one is none."""

import numpy as np
from loadwatch_backend.findings.detectors.pool import pool_churn as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

POOL = '{job="app",instance="app-1",db_name="hits"}'


def _series(closed: Values, *, logins: Values | None = None, limit: float = 0.0) -> dict[str, Values]:
    return {
        f"go_sql_in_use_connections{POOL}": 8.0,
        f"go_sql_open_connections{POOL}": 12.0,
        f"go_sql_max_open_connections{POOL}": limit,
        f"go_sql_max_idle_connections{POOL}": 2.0,
        f"go_sql_max_idle_closed_total{POOL}": rising(closed),
        'mysql_global_status_connections{job="mysql",instance="db"}': rising(closed if logins is None else logins),
        'ingest_accepted_total{job="app",instance="app-1"}': rising(200.0),
    }


def test_connections_closed_at_the_rate_of_requests_are_found() -> None:
    finding = found(DETECTOR, window(_series(steps((10, 0), (50, 40))), load=load(200.0)))
    assert finding.weight is Severity.WARNING
    assert finding.from_ms == START_MS + 11_000
    assert "closed 2,000 connections because it keeps only 2 idle ones" in finding.sentence.en
    assert "20 % of 10,000 requests" in finding.sentence.en
    assert "2,000接続" in finding.sentence.ja
    assert finding.certainty is Certainty.LIKELY
    assert "SetMaxOpenConns(12)" in finding.steps[0].code
    assert "SetMaxIdleConns(12)" in finding.steps[0].code


def test_a_bounded_pool_is_to_keep_as_many_as_it_may_open() -> None:
    assert found(DETECTOR, window(_series(40.0, limit=30.0))).steps[0].code == "db.SetMaxIdleConns(30)"


def test_slow_answers_make_it_certain() -> None:
    slow = load(200.0, p95=over(steps((10, 0.05), (50, 0.4)))[31:91])
    assert found(DETECTOR, window(_series(steps((10, 0), (50, 40))), load=slow)).certainty is Certainty.CERTAIN


def test_one_burst_is_none() -> None:
    seen = DETECTOR.look(window(_series(steps((30, 0), (2, 28), (28, 0)))))
    assert not seen.findings
    assert seen.clear is not None
    assert "closed 56 connections" in seen.clear.en


def test_fewer_than_one_in_a_hundred_requests_are_none() -> None:
    assert not DETECTOR.look(window(_series(1.5))).findings


def test_a_counter_that_begins_anew_and_a_gap_are_none() -> None:
    counter = over(np.full(60, 50.0))
    counter[60:] = 0.0
    counter[40:45] = np.nan
    assert not DETECTOR.look(window(_series(0.0) | {f"go_sql_max_idle_closed_total{POOL}": counter})).findings


def test_samples_of_each_15_seconds_count_by_their_own_interval() -> None:
    long_enough = window(_series(40.0), interval=15)
    too_short = window(_series(steps((20, 0), (16, 40), (24, 0))), interval=15)
    assert DETECTOR.look(long_enough).findings
    assert not DETECTOR.look(too_short).findings


def test_unknown_is_not_zero() -> None:
    seen = DETECTOR.look(window(_series(0.0) | {f"go_sql_max_idle_closed_total{POOL}": np.nan}))
    assert not seen.findings
    assert seen.clear is None
