"""A pool for each request is found where the shared pool stands idle; one that works is in use."""

import pytest
from loadwatch_backend.findings.detectors.pool import pool_per_request as DETECTOR

from backend.tests.findings.windows import Values, found, load, over, rising, steps, window

POOL = '{job="app",instance="app-1",db_name="hits"}'


def _series(in_use: Values, opened: Values) -> dict[str, Values]:
    return {
        f"go_sql_in_use_connections{POOL}": in_use,
        f"go_sql_open_connections{POOL}": opened,
        f"go_sql_max_open_connections{POOL}": 0.0,
        'mysql_global_status_connections{job="mysql",instance="db"}': rising(100.0),
    }


@pytest.mark.parametrize("idle", [0.0, 1.0])
def test_a_connection_that_only_stays_idle_is_no_use_of_the_pool(idle: float) -> None:
    finding = found(DETECTOR, window(_series(0.0, idle), load=load(100.0)))
    assert "6,000 connections for 6,000 requests; its shared pool was never used" in finding.sentence.en


@pytest.mark.parametrize(
    "series",
    [_series(over(steps((30, 0.0), (1, 1.0), (29, 0.0))), 1.0), _series(0.0, over(steps((30, 1.0), (30, 2.0))))],
    ids=["in use", "opens connections"],
)
def test_a_pool_that_works_is_in_use(series: dict[str, Values]) -> None:
    seen = DETECTOR.look(window(series, load=load(100.0)))
    assert not seen.findings
    assert seen.clear is not None
