"""N+1 is found where one route asks a statement again and again; few calls, and those of nobody's, are none."""

from dataclasses import replace

from loadwatch_backend.findings.detectors.statements import n_plus_one as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.detectors.statements.costs import TIMELINE, costing, share, statement
from backend.tests.findings.windows import found, load, window


def test_a_statement_for_each_row_is_named_with_its_route() -> None:
    seen = costing(statement(calls=60_000.0, seconds=0.06 * 600), share(100.0, 0.06), others=7.0)
    finding = found(DETECTOR, seen)
    assert (finding.weight, finding.certainty) == (Severity.WARNING, Certainty.CERTAIN)
    assert "GET /timeline asks the same statement 100 times a request: 60 ms of database time" in finding.sentence.en
    assert "84 % of all database time" in finding.sentence.en
    assert "GET /timelineは1リクエストで同じSQLを100回" in finding.sentence.ja
    assert finding.labels == {"route": "GET /timeline", "schema": "shop", "digest": "d0"}


def test_what_costs_little_accuses_nobody() -> None:
    light = costing(statement(calls=6_000.0, seconds=6.0), share(10.0, 0.01), slow=False)
    assert found(DETECTOR, light).weight is Severity.INFO


def test_few_calls_and_uncertain_ones_are_clear() -> None:
    seen = DETECTOR.look(costing(statement(calls=1_800.0), share(3.0, 0.06)))
    assert not seen.findings
    assert seen.clear is not None
    assert "GET /timeline asks 3" in seen.clear.en
    assert not DETECTOR.look(costing(statement(), share(20.0, 0.06, least=4.9))).findings


def test_routes_that_cannot_be_told_apart_are_not_accused() -> None:
    both = share(20.0, 0.06, routes=(TIMELINE, replace(TIMELINE, route="/other")))
    assert not DETECTOR.look(costing(statement(calls=12_000.0), both)).findings


def test_without_counted_statements_nothing_is_said() -> None:
    seen = DETECTOR.look(window({"up": 1.0}, load=load(10.0)))
    assert (seen.findings, seen.clear) == ([], None)
