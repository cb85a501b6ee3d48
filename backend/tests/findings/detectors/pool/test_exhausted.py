"""A pool is exhausted where requests waited for it, and not where it was only full."""

from dataclasses import replace

import numpy as np
from loadwatch_backend.findings.detectors.pool import pool_exhausted as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.detectors.statements.costs import costing, share, statement
from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

POOL = '{job="app",instance="app-1",db_name="hits"}'
APP = '{job="app",instance="app-1"}'
DATABASE = '{job="mysql",instance="db"}'


def _series(in_use: Values = 30.0, waits: Values = 50.0, waiting: Values = 40.0) -> dict[str, Values]:
    return {
        f"go_sql_in_use_connections{POOL}": in_use,
        f"go_sql_open_connections{POOL}": in_use,
        f"go_sql_max_open_connections{POOL}": 30.0,
        f"go_sql_wait_count_total{POOL}": rising(waits),
        f"go_sql_wait_duration_seconds_total{POOL}": rising(waiting),
        f"mysql_global_status_threads_connected{DATABASE}": 33.0,
        f"mysql_global_variables_max_connections{DATABASE}": 60.0,
    }


def test_a_pool_that_requests_waited_for_is_found_with_all_three_links() -> None:
    series = _series(
        in_use=over(steps((10, 5.0), (50, 30.0))), waits=steps((10, 0), (50, 60)), waiting=steps((10, 0), (50, 72))
    )
    finding = found(
        DETECTOR, window(series, load=load(100.0, timeout=steps((12, 0), (48, 40)), p95=steps((10, 0.05), (50, 3.0))))
    )
    assert finding.id == "pool-exhausted"
    assert finding.certainty is Certainty.CERTAIN
    assert START_MS + 9_000 <= finding.from_ms <= START_MS + 13_000
    assert "3,000 waited 1.2 s on average" in finding.sentence.en
    assert "gave up" in finding.sentence.en
    assert "27 connections to spare" in finding.sentence.en
    assert "27" in finding.sentence.ja


def test_the_size_follows_littles_law_and_stays_within_the_database() -> None:
    series: dict[str, Values] = _series() | {
        'ingest_stored_total{job="app",instance="app-1"}': rising(100.0),
        'ingest_accepted_total{job="app",instance="app-1"}': rising(140.0),
    }
    size, rest, shorter = found(DETECTOR, window(series)).steps
    # 30 in use at 100/s hold 0.3 s each; 140/s keep 42 busy; a fifth more is 51. 60 without 3 others and 5 are enough.
    assert "= 42 × 1.2 for bursts = 51" in size.text.en
    assert size.code.splitlines() == [
        "db.SetMaxOpenConns(51)",
        "db.SetMaxIdleConns(51)",
        "db.SetConnMaxLifetime(51 * time.Second)",
        "db.SetConnMaxIdleTime(51 * time.Second)",
    ]
    assert "51 connections × 1 s" in rest.text.en
    assert "51接続×1秒" in rest.text.ja
    assert shorter.text.en.startswith("Or shorten what holds a connection (300 ms each now)")


def test_the_step_names_the_size_of_the_advice_where_the_database_has_less_room() -> None:
    series: dict[str, Values] = _series(waiting=60.0) | {f"mysql_global_variables_max_connections{DATABASE}": 48.0}
    size = found(DETECTOR, window(series)).steps[0]
    # 30 in use and 60 waiting need 108; 48 without 3 of others and a reserve of 5 leave 40.
    assert "The database leaves 40 connections for all pools, so each gets 40 of 108." in size.text.en
    assert "SetMaxOpenConns(40)" in size.code


def test_a_database_without_cpu_to_spare_gets_no_larger_pool() -> None:
    cpu: dict[str, Values] = {f'node_cpu_seconds_total{{instance="db",cpu="{one}",mode="user"}}': 0.0 for one in (0, 1)}
    spent: dict[str, Values] = {f"process_cpu_seconds_total{DATABASE}": rising(1.9)}
    assert "SetMaxOpenConns" in found(DETECTOR, window(_series() | cpu)).steps[0].code
    steps = found(DETECTOR, window(_series() | cpu | spent)).steps
    assert not any("SetMaxOpenConns" in step.code for step in steps)
    assert steps[0].text.en.startswith("A larger pool would not help.")
    assert steps[0].text.en.endswith("The database is what is full, so more connections would wait there: stay at 30.")
    assert steps[0].text.ja.startswith("プールを増やしても改善しない。")


def test_a_full_pool_that_nobody_waited_for_is_an_observation() -> None:
    seen = DETECTOR.look(window(_series(waits=0.0, waiting=0.0)))
    assert not seen.findings
    (full,) = seen.observations
    assert full.en.endswith("had 30 of 30 connections in use at most; no request waited for one.")
    assert full.ja.endswith("待ったリクエストはない。")


def test_waits_too_short_to_be_felt_are_no_finding() -> None:
    seen = DETECTOR.look(window(_series(in_use=12.0, waits=20.0, waiting=0.004)))
    assert not seen.findings
    assert seen.clear is not None
    assert "12 of 30" in seen.clear.en


def test_a_single_full_sample_is_too_short() -> None:
    at = np.zeros(60)
    at[30] = 20.0
    assert not DETECTOR.look(window(_series(waits=at, waiting=at))).findings


def test_waits_that_never_end_are_seen_by_their_beginning() -> None:
    finding = found(DETECTOR, window(_series(waits=20.0, waiting=0.0)))
    assert finding.certainty is Certainty.LIKELY


def test_it_began_when_the_pool_was_seen_full_and_not_when_two_requests_met() -> None:
    series = _series(
        in_use=over(steps((30, 12.0), (30, 30.0))),
        waits=steps((10, 0), (50, 60)),
        waiting=steps((10, 0), (20, 0.9), (30, 40)),
    )
    finding = found(DETECTOR, window(series))
    assert START_MS + 29_000 <= finding.from_ms <= START_MS + 31_000


def test_an_unlimited_pool_is_not_judged() -> None:
    series: dict[str, Values] = _series() | {f"go_sql_max_open_connections{POOL}": 0.0}
    seen = DETECTOR.look(window(series))
    assert not seen.findings
    assert seen.clear is None


def test_ten_instances_of_which_one_is_exhausted_name_that_one() -> None:
    series: dict[str, Values] = {}
    for number in range(10):
        labels = POOL.replace("app-1", f"app-{number}")
        full = number == 7
        series |= {
            f"go_sql_in_use_connections{labels}": 30.0 if full else 4.0,
            f"go_sql_max_open_connections{labels}": 30.0,
            f"go_sql_wait_count_total{labels}": rising(30.0 if full else 0.0),
            f"go_sql_wait_duration_seconds_total{labels}": rising(30.0 if full else 0.0),
        }
    finding = found(DETECTOR, window(series))
    assert finding.labels["instance"] == "app-7"


def test_the_route_that_holds_connections_longest_is_where_to_begin() -> None:
    cost = costing(statement(seconds=60.0), share(100.0, 0.09)).cost
    finding = found(DETECTOR, replace(window(_series(), load=load(100.0, timeout=20.0)), cost=cost))
    assert "Begin with GET /timeline: its requests keep a connection busy for 90 ms each" in finding.steps[-1].text.en


FELT = load(100.0, timeout=20.0, p95=3.0)


def test_without_any_effect_it_is_no_more_than_a_warning() -> None:
    assert found(DETECTOR, window(_series(), load=FELT)).weight is Severity.CRITICAL
    for quiet in (None, load(100.0)):
        assert found(DETECTOR, window(_series(), load=quiet)).weight is Severity.WARNING


def test_short_waits_of_a_few_that_nobody_felt_are_a_note() -> None:
    few = _series() | {f"go_sql_wait_duration_seconds_total{POOL}": rising(0.4)}
    assert found(DETECTOR, window(few, load=load(100.0))).weight is Severity.INFO


def test_a_database_that_is_full_is_said_first() -> None:
    series: dict[str, Values] = _series() | {f"mysql_global_status_threads_connected{DATABASE}": 60.0}
    finding = found(DETECTOR, window(series | {f"ingest_stored_total{APP}": rising(100.0)}, load=FELT))
    assert finding.weight is Severity.WARNING
    assert finding.sentence.en.startswith(
        "The database had none of its 60 connections to spare, and more would be refused: the pool of 30 connections"
    )
    assert finding.sentence.ja.startswith("DBの60接続に余裕はなく")
    assert "had 0 connections to spare" not in finding.sentence.en
    assert not any("SetMaxOpenConns" in step.code for step in finding.steps)


def test_without_a_database_in_sight_no_size_is_named() -> None:
    series = {name: values for name, values in _series().items() if not name.startswith("mysql_")}
    finding = found(DETECTOR, window(series | {f"ingest_stored_total{APP}": rising(100.0)}, load=FELT))
    assert finding.sentence.en.endswith("; whether the database has room for more is not known.")
    assert finding.steps[0].text.en.startswith("First see how many connections the database has left")
    assert not any("SetMaxOpenConns" in step.code for step in finding.steps)
