"""A statement that reads far more than it gives is found where it takes time; small tables and rare calls are none."""

from loadwatch_backend.findings.detectors.statements import scans as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.detectors.statements.costs import costing, share, statement
from backend.tests.findings.windows import found

HEAVY = 60.0
"""Seconds of database time in a minute."""


def test_many_rows_for_each_that_is_given() -> None:
    one = statement(seconds=HEAVY, rows_examined=600 * 50_000.0, rows_sent=600 * 20.0, rows_affected=0.0)
    finding = found(DETECTOR, costing(one, share(1.0, 0.1)))
    assert (finding.weight, finding.certainty) == (Severity.WARNING, Certainty.CERTAIN)
    assert "reads 50,000 rows a call, 2,500 for each that it gives" in finding.sentence.en
    assert "asked by GET /timeline" in finding.sentence.en
    assert "EXPLAIN SELECT" in finding.steps[0].code


def test_a_scan_without_an_index() -> None:
    one = statement(seconds=HEAVY, rows_examined=600 * 5_000.0, rows_sent=600 * 100.0, no_index_used=600.0)
    assert "without an index" in found(DETECTOR, costing(one)).sentence.en


def test_a_scan_that_costs_little_accuses_nobody() -> None:
    one = statement(seconds=3.0, rows_examined=600 * 5_000.0, rows_sent=600.0)
    assert found(DETECTOR, costing(one, slow=False)).weight is Severity.INFO


def test_small_tables_rare_calls_and_writes_are_clear() -> None:
    for one in (
        statement(seconds=HEAVY, rows_examined=600 * 50.0, rows_sent=600.0, no_index_used=600.0),
        statement(seconds=HEAVY, calls=5.0, rows_examined=5e6, rows_sent=5.0),
        statement(seconds=HEAVY, rows_examined=600 * 900.0, rows_sent=0.0, rows_affected=600.0),
        statement(seconds=HEAVY, rows_examined=600 * 50_000.0, rows_sent=0.0, rows_affected=600 * 40_000.0),
    ):
        seen = DETECTOR.look(costing(one))
        assert not seen.findings
        assert seen.clear is not None


def test_where_nobody_counts_rows_nothing_is_said() -> None:
    assert DETECTOR.look(costing(statement(seconds=HEAVY))).clear is None
