"""Connections that live for seconds are found; those that live for minutes, and one burst of them, are not."""

import numpy as np
from loadwatch_backend.findings.detectors.pool import pool_lifetime_churn as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, rising, window

POOL = '{job="app",instance="app-1",db_name="hits"}'


def _series(by_age: Values, by_idleness: Values = 0.0, *, requests: float = 100.0) -> dict[str, Values]:
    return {
        f"go_sql_in_use_connections{POOL}": 8.0,
        f"go_sql_open_connections{POOL}": 30.0,
        f"go_sql_max_lifetime_closed_total{POOL}": rising(by_age),
        f"go_sql_max_idle_time_closed_total{POOL}": rising(by_idleness),
        f"go_sql_connection_max_lifetime_seconds{POOL}": 2.0,
        'mysql_global_status_connections{job="mysql",instance="db"}': rising(np.add(by_age, by_idleness)),
        'ingest_accepted_total{job="app",instance="app-1"}': rising(requests),
    }


def test_bursts_of_each_two_seconds_are_one_finding() -> None:
    finding = found(DETECTOR, window(_series(np.tile([0.0, 30.0], 30)), load=load(100.0, p95=0.05)))
    assert finding.from_ms == START_MS + 2_000
    assert "900 connections for SetConnMaxLifetime(2.0 s)" in finding.sentence.en
    assert "lived for about 2.0 s" in finding.sentence.en
    assert "2.0 s" in finding.sentence.ja
    assert finding.certainty is Certainty.LIKELY


def test_idleness_is_named_where_it_closes_more() -> None:
    finding = found(DETECTOR, window(_series(0.0, 10.0)))
    assert "SetConnMaxIdleTime" in finding.sentence.en
    assert "SetConnMaxIdleTime" in finding.steps[0].code


def test_a_lifetime_of_minutes_is_none() -> None:
    once_a_minute = np.zeros(60)
    once_a_minute[20:22] = 15.0
    seen = DETECTOR.look(window(_series(once_a_minute)))
    assert not seen.findings
    assert seen.clear is not None
    assert "30 connections" in seen.clear.en


def test_the_rule_of_thumb_of_one_login_a_second_is_none() -> None:
    assert not DETECTOR.look(window(_series(1.0))).findings


def test_fewer_than_one_in_a_hundred_requests_are_none() -> None:
    assert not DETECTOR.look(window(_series(3.0, requests=1_000.0))).findings


def test_unknown_is_not_zero() -> None:
    unknown = {
        f"go_sql_max_lifetime_closed_total{POOL}": np.nan,
        f"go_sql_max_idle_time_closed_total{POOL}": np.nan,
    }
    seen = DETECTOR.look(window(_series(0.0) | unknown))
    assert not seen.findings
    assert seen.clear is None
