"""What stands, and what follows from what."""

from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.snapshot import STANDS_MS, snapshot_of

from backend.tests.findings.said import diagnosis, finding


def test_causes_are_followed_to_their_beginning_and_once():
    first = finding("database-cpu-full")
    second = finding("pool-exhausted", because_of=[first.key, "pool-churn"])
    third = finding("ingest-lag-growing", because_of=[second.key])
    first.because_of.append(third.key)
    seen = snapshot_of(diagnosis(first, second, third))
    assert [one.id for one in seen.causes_of(seen.findings[2])] == ["database-cpu-full", "pool-exhausted"]
    assert seen.findings[1].sentence.ja == "pool-exhaustedだった。"


def test_what_was_not_seen_for_a_minute_does_not_stand():
    seen = snapshot_of(diagnosis(finding(to_ms=1_000), to_ms=1_000 + STANDS_MS))
    assert seen.stands(seen.findings[0])
    assert not snapshot_of(diagnosis(finding(to_ms=1_000), to_ms=1_001 + STANDS_MS)).stands(seen.findings[0])


def test_what_is_only_possible_or_worth_knowing_accuses_nothing():
    seen = snapshot_of(
        diagnosis(
            finding(certainty=Certainty.LIKELY, severity=Severity.WARNING),
            finding(certainty=Certainty.POSSIBLE),
            finding(severity=Severity.INFO),
        )
    )
    assert [one.accuses for one in seen.findings] == [True, False, False]


def test_what_is_muted_is_not_said():
    assert snapshot_of(diagnosis(finding().model_copy(update={"muted": True}))).findings == []
