"""A pool without a limit is found where the database refused, or where too many threads made all slow."""

import numpy as np
from loadwatch_backend.findings.detectors.pool import pool_unlimited as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

DB = '{job="mysql",instance="db"}'


def _pool(instance: str, opened: Values, limit: Values = 0.0) -> dict[str, Values]:
    pool = f'{{job="app",instance="{instance}",db_name="hits"}}'
    return {
        f"go_sql_in_use_connections{pool}": opened,
        f"go_sql_open_connections{pool}": opened,
        f"go_sql_max_open_connections{pool}": limit,
    }


def _database(*, connected: Values = 20.0, refused: Values = 0.0, running: Values = 2.0) -> dict[str, Values]:
    return {
        f"mysql_global_status_threads_connected{DB}": connected,
        f"mysql_global_variables_max_connections{DB}": 60.0,
        f"mysql_global_status_aborted_connects{DB}": rising(refused),
        f"mysql_global_status_threads_running{DB}": running,
        'declared_limit{job="mysql",instance="db",resource="cpu",unit="cores"}': 2.0,
    }


def test_an_unlimited_pool_that_filled_the_database_is_found() -> None:
    opened = over(steps((10, 5.0), (50, 212.0)))
    series = _pool("app-1", opened) | _database(connected=over(steps((10, 8.0), (50, 58.0))), refused=20.0)
    finding = found(DETECTOR, window(series, load=load(100.0, http_5xx=steps((10, 0), (50, 30)))))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.weight is Severity.CRITICAL
    assert START_MS + 7_000 <= finding.from_ms <= START_MS + 11_000
    assert "up to 212 connections where db allows 60" in finding.sentence.en
    assert "212" in finding.sentence.ja
    assert finding.labels["instance"] == "app-1"
    assert "SetMaxOpenConns(8)" in finding.steps[0].code


def test_many_instances_count_together() -> None:
    series = _database(connected=59.0, refused=5.0)
    for number in range(4):
        series |= _pool(f"app-{number}", 14.0)
    finding = found(DETECTOR, window(series))
    assert finding.labels == {"job": "app"}
    assert "56 connections" in finding.sentence.en


def test_others_that_fill_the_database_are_not_this_pool() -> None:
    assert not DETECTOR.look(window(_pool("app-1", 6.0) | _database(connected=60.0, refused=5.0))).findings


def test_too_many_threads_that_make_answers_slow_are_found() -> None:
    many = over(steps((20, 4.0), (40, 45.0)))
    series = _pool("app-1", many) | _database(running=many)
    slow = load(100.0, p95=steps((20, 0.05), (40, 1.2)))
    finding = found(DETECTOR, window(series, load=slow))
    assert finding.weight is Severity.WARNING
    assert finding.certainty is Certainty.CERTAIN
    assert finding.from_ms == START_MS + 21_000
    assert "45 statements at once on 2 cores" in finding.sentence.en


def test_many_connections_that_hurt_nobody_are_an_observation() -> None:
    seen = DETECTOR.look(window(_pool("app-1", 45.0) | _database(running=45.0), load=load(100.0)))
    assert not seen.findings
    assert seen.observations


def test_a_few_connections_are_clear_and_so_is_a_bounded_pool() -> None:
    few = DETECTOR.look(window(_pool("app-1", 3.0) | _database()))
    assert few.clear is not None
    assert "3 connections at most" in few.clear.en
    bounded = DETECTOR.look(window(_pool("app-1", 30.0, 30.0) | _database(connected=60.0, refused=5.0)))
    assert not bounded.findings
    assert bounded.clear is not None
    assert "may open 30" in bounded.clear.en


def test_a_pool_that_is_never_used_and_one_of_unknown_limit_are_not_judged() -> None:
    for series in (_pool("app-1", 0.0), _pool("app-1", 200.0, np.nan)):
        seen = DETECTOR.look(window(series | _database(connected=60.0, refused=5.0)))
        assert not seen.findings
        assert seen.clear is None
