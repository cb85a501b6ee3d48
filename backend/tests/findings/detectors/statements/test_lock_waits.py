"""Lock waits of a statement are found where they are most of what takes the database's time."""

from loadwatch_backend.findings.detectors.statements import lock_waits as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.detectors.statements.costs import costing, share, statement
from backend.tests.findings.windows import found


def test_a_statement_that_mostly_waits() -> None:
    finding = found(DETECTOR, costing(statement(seconds=60.0, lock_seconds=45.0), share(1.0, 0.1)))
    assert (finding.weight, finding.certainty) == (Severity.WARNING, Certainty.LIKELY)
    assert "waits for locks for 75 % of its time, 75 ms a call" in finding.sentence.en
    assert "asked by GET /timeline" in finding.sentence.en


def test_what_works_and_what_costs_little_is_clear() -> None:
    for one in (statement(seconds=60.0, lock_seconds=6.0), statement(seconds=2.0, lock_seconds=1.8)):
        seen = DETECTOR.look(costing(one))
        assert not seen.findings
        assert seen.clear is not None


def test_where_nobody_counts_locks_nothing_is_said() -> None:
    assert DETECTOR.look(costing(statement(seconds=60.0))).clear is None
