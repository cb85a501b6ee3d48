"""A function that holds a lock others wait for is named, and warned of where that is what the load felt."""

from dataclasses import replace

from loadwatch_backend.evidence.profiles.known import LockWaits
from loadwatch_backend.evidence.profiles.model import Kind
from loadwatch_backend.findings.detectors.application import function_waits as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.window import Window

from backend.tests.findings.windows import found, load, window

HELD = LockWaits(kind=Kind.MUTEX, job="app", seconds=12.0, functions={"main.(*Store).Save": 10.0, "main.log": 0.2})
WAITED = LockWaits(kind=Kind.BLOCK, job="app", seconds=12.0, functions={"main.handler": 11.0})


def seen(*waits: LockWaits, slow: bool = True) -> Window:
    impact = load(10.0, p95=[0.05] * 20 + [2.0] * 40 if slow else 0.05)
    return replace(window({"up": 1.0}, load=impact), lock_waits=waits)


def test_who_holds_is_named_before_those_who_wait() -> None:
    finding = found(DETECTOR, seen(WAITED, HELD))
    assert (finding.weight, finding.certainty) == (Severity.WARNING, Certainty.LIKELY)
    assert "main.(*Store).Save holds a lock for which 10 others wait at any time, 1.0 s a request: 83 %" in (
        finding.sentence.en
    )
    assert "main.(*Store).Saveが保持するロック" in finding.sentence.ja
    assert finding.labels == {"function": "main.(*Store).Save", "job": "app"}


def test_those_who_wait_are_named_where_only_that_is_known() -> None:
    assert "In main.handler 11 wait for a lock at any time" in found(DETECTOR, seen(WAITED)).sentence.en


def test_waits_that_do_not_explain_what_was_felt_accuse_nobody() -> None:
    # 60 ms a request against a p95 that rose by two seconds.
    short = replace(HELD, seconds=0.6, functions={"main.(*Store).Save": 0.6})
    assert found(DETECTOR, seen(short)).weight is Severity.INFO
    assert found(DETECTOR, seen(HELD, slow=False)).weight is Severity.INFO


def test_few_waits_and_scattered_ones_are_clear() -> None:
    few = replace(HELD, seconds=0.3, functions={"main.(*Store).Save": 0.3})
    scattered = replace(HELD, functions={f"main.f{place}": 1.0 for place in range(12)})
    for one in (few, scattered):
        look = DETECTOR.look(seen(one))
        assert not look.findings
        assert look.clear is not None
    assert DETECTOR.look(seen()).clear is None
