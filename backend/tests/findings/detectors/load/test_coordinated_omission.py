"""Users that wait send little while the system is slow; a clock goes on sending."""

from dataclasses import replace

from loadwatch_backend.findings.detectors.load import coordinated_omission as DETECTOR
from loadwatch_backend.findings.model import Severity
from loadwatch_backend.findings.window import Generator, Load

from backend.tests.findings.windows import START_MS, found, load, over, steps, window

HEY = Generator(state="unknown", reasons=[], tool="hey")
SLOW = steps((40, 0.05), (20, 1.0))
FELL = steps((40, 400.0), (20, 20.0))


def test_a_closed_tool_that_sent_less_while_answers_were_slow_is_named() -> None:
    finding = found(DETECTOR, window({}, load=load(FELL, p50=SLOW), generator=HEY))
    assert finding.id == "coordinated-omission"
    assert finding.weight is Severity.INFO
    assert "hey sent 20 requests/s instead of 400: about 7,600 requests" in finding.sentence.en
    assert "約7,600件" in finding.sentence.ja
    assert START_MS + 39_000 <= finding.from_ms <= START_MS + 42_000
    assert "-rate=400/s" in finding.steps[0].code


def test_a_constant_number_of_users_tells_it_of_any_tool() -> None:
    finding = found(DETECTOR, window({}, load=_with_users(load(FELL, p50=SLOW), 20.0)))
    assert "from 20 users all the time" in finding.evidence[0].text.en


def test_a_rate_that_was_asked_for_is_an_open_model() -> None:
    assert DETECTOR.look(window({}, load=load(FELL, p50=SLOW, target=400.0), generator=HEY)).clear is None


def test_a_load_that_went_on_is_clear() -> None:
    seen = DETECTOR.look(window({}, load=load(400.0, p50=SLOW), generator=HEY))
    assert not seen.findings
    assert seen.clear is not None


def test_less_load_that_is_no_slower_is_clear() -> None:
    assert not DETECTOR.look(window({}, load=load(FELL, p50=0.05), generator=HEY)).findings


def test_a_rate_that_fell_far_more_than_waiting_explains_is_no_finding() -> None:
    assert not DETECTOR.look(window({}, load=load(steps((40, 400.0), (20, 1.0)), p50=SLOW), generator=HEY)).findings


def test_unknown_tools_and_short_runs_are_not_judged() -> None:
    assert DETECTOR.look(window({}, load=load(FELL, p50=SLOW))).clear is None
    short = load(steps((4, 400.0), (1, 20.0)), p50=steps((4, 0.05), (1, 1.0)), seconds=5)
    assert not DETECTOR.look(window({}, seconds=5, load=short, generator=HEY)).findings


def _with_users(seen: Load, users: float) -> Load:
    return replace(seen, users=over(users))
