"""Of a pool that ran out the route that holds it longest is named; of one that had room nobody is."""

from dataclasses import replace

from loadwatch_backend.findings.detectors.pool import pool_holder as DETECTOR
from loadwatch_backend.findings.model import Severity

from backend.tests.findings.detectors.statements.costs import TIMELINE, costing, share, statement
from backend.tests.findings.windows import Values, found, load, rising, window

POOL = '{job="app",instance="app-1",db_name="hits"}'


def _series(in_use: Values, waiting: Values) -> dict[str, Values]:
    return {
        f"go_sql_in_use_connections{POOL}": in_use,
        f"go_sql_max_open_connections{POOL}": 30.0,
        f"go_sql_wait_count_total{POOL}": rising(50.0),
        f"go_sql_wait_duration_seconds_total{POOL}": rising(waiting),
    }


def test_the_route_is_named_with_its_time_and_share() -> None:
    cost = costing(statement(seconds=60.0), share(100.0, 0.09)).cost
    finding = found(DETECTOR, replace(window(_series(30.0, 40.0), load=load(100.0, timeout=20.0)), cost=cost))
    assert finding.sentence.en.startswith(f"{TIMELINE.name} holds connections of ")
    assert "of database time a request" in finding.sentence.en
    assert TIMELINE.name in finding.sentence.ja
    assert finding.labels["route"] == TIMELINE.name
    assert finding.weight is Severity.INFO


def test_a_pool_with_room_and_statements_that_no_route_takes_most_of_name_nobody() -> None:
    cost = costing(statement(seconds=60.0), share(100.0, 0.09)).cost
    assert not DETECTOR.look(replace(window(_series(12.0, 0.004)), cost=cost)).findings
    light = costing(statement(seconds=1.0), share(1.0, 0.001), others=600.0).cost
    assert not DETECTOR.look(replace(window(_series(30.0, 40.0)), cost=light)).findings
    assert not DETECTOR.look(window(_series(30.0, 40.0))).findings
