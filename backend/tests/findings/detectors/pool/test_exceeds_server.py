"""Pools that may open more than there is are a risk; where logins were refused for it they are a finding."""

from loadwatch_backend.findings.detectors.pool import pool_exceeds_server as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

DB = '{job="mysql",instance="db"}'
USERS = "mysql_info_schema_processlist_processes_by_user"


def _series(
    *, instances: int = 3, limit: float = 30.0, opened: Values = 20.0, refused: Values = 0.0
) -> dict[str, Values]:
    series: dict[str, Values] = {
        f"mysql_global_status_threads_connected{DB}": 58.0,
        f"mysql_global_variables_max_connections{DB}": 60.0,
        f"mysql_global_status_aborted_connects{DB}": rising(refused),
        f'{USERS}{{job="mysql",instance="db",mysql_user="app"}}': 50.0,
        f'{USERS}{{job="mysql",instance="db",mysql_user="bi"}}': 6.0,
    }
    for number in range(instances):
        pool = f'{{job="app",instance="app-{number}",db_name="hits"}}'
        series[f"go_sql_in_use_connections{pool}"] = opened
        series[f"go_sql_open_connections{pool}"] = opened
        series[f"go_sql_max_open_connections{pool}"] = limit
    return series


def test_pools_of_all_instances_that_filled_the_server_are_one_finding() -> None:
    series = _series(refused=steps((20, 0), (40, 10)), opened=over(steps((20, 5.0), (40, 18.0))))
    finding = found(DETECTOR, window(series, load=load(100.0, http_5xx=steps((20, 0), (40, 9)))))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.from_ms == START_MS + 21_000
    assert finding.labels == {"job": "app"}
    assert "3 pools together may open 90 connections, and db has 60, of which other clients held 6" in (
        finding.sentence.en
    )
    assert "400" in finding.sentence.ja
    # 60 less a tenth and 6 for others leave 48: 16 each.
    assert "SetMaxOpenConns(16)" in finding.steps[0].code


def test_a_single_pool_larger_than_the_server_counts() -> None:
    finding = found(DETECTOR, window(_series(instances=1, limit=100.0, opened=54.0, refused=5.0)))
    assert finding.labels["instance"] == "app-0"


def test_a_risk_that_hurt_nobody_is_an_observation() -> None:
    seen = DETECTOR.look(window(_series()))
    assert not seen.findings
    assert "90 connections" in seen.observations[0].en


def test_pools_that_fit_are_clear() -> None:
    seen = DETECTOR.look(window(_series(limit=18.0, refused=5.0)))
    assert not seen.findings
    assert seen.clear is not None
    assert "54 connections" in seen.clear.en


def test_several_databases_and_unlimited_pools_are_not_judged_here() -> None:
    other: dict[str, Values] = {
        'mysql_global_status_threads_connected{job="mysql",instance="db-2"}': 5.0,
        'mysql_global_variables_max_connections{job="mysql",instance="db-2"}': 60.0,
    }
    unlimited: dict[str, Values] = {'go_sql_max_open_connections{job="app",instance="app-0",db_name="hits"}': 0.0}
    for series in (_series(refused=5.0) | other, _series(refused=5.0) | unlimited):
        seen = DETECTOR.look(window(series))
        assert not seen.findings
        assert not seen.observations


def test_pools_that_fit_for_themselves_are_not_what_others_took() -> None:
    series = _series(limit=18.0, refused=5.0, opened=15.0) | {
        f'{USERS}{{job="mysql",instance="db",mysql_user="bi"}}': 20.0
    }
    seen = DETECTOR.look(window(series))
    assert not seen.findings
    assert "20" in seen.observations[0].en
