import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.notify.outcomes import Place, decide
from loadwatch_backend.notify.schedule import delay_ms, is_due, parse_retry_after
from loadwatch_backend.notify.schemas import DeliveryState
from loadwatch_backend.notify.senders.model import Outcome, Result

NOW_MS = 1_800_000_000_000
PASSING = Result(outcome=Outcome.PASSING, error="answered 500")


def test_the_schedule_is_that_of_standard_webhooks() -> None:
    seconds = [(delay_ms(step, lambda: 0.0) or 0) / 1_000 for step in range(9)]
    assert seconds == [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    assert delay_ms(9, lambda: 0.0) is None
    assert delay_ms(0, lambda: 1.0) == 5_500


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("999999999999999999", 3_600),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
        ("Fri, 15 Jan 2100 07:00:00 GMT", 3_600),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("", None),
        (None, None),
        ("Fri, 99 Jan 2027 99:00:00 GMT", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str | None, seconds: float | None) -> None:
    assert parse_retry_after(text, NOW_MS) == seconds


@given(st.text(max_size=40))
def test_no_retry_after_breaks_anything(text: str) -> None:
    found = parse_retry_after(text, NOW_MS)
    assert found is None or 0 <= found <= 3_600


@given(delay=st.integers(0, 100_000_000), passed=st.integers(-10_000_000, 200_000_000))
def test_nothing_waits_longer_than_its_pause_whatever_the_clock_does(delay: int, passed: int) -> None:
    due = is_due(NOW_MS + delay, delay, NOW_MS + passed)
    assert due == (passed >= delay or passed < -1_000)


@given(asked=st.one_of(st.none(), st.floats(0, 3_600)), step=st.integers(0, 12), early=st.booleans())
def test_an_attempt_that_failed_waits_or_ends(asked: float | None, step: int, early: bool) -> None:
    place = Place(step=step, next_ms=NOW_MS + 1_000, delay_ms=5_000)
    result = Result(outcome=Outcome.PASSING, error="x", retry_after_seconds=asked)
    decision = decide(result, place, early=early, now_ms=NOW_MS, random=lambda: 0.5)
    if early:
        assert decision.state is DeliveryState.WAITING
        assert decision.place.step == step
    elif step >= 9:
        assert decision.state is DeliveryState.DEAD
    else:
        assert (decision.state, decision.place.step) == (DeliveryState.WAITING, step + 1)
    if decision.state is DeliveryState.WAITING:
        assert decision.place.next_ms > NOW_MS
        assert decision.place.next_ms - NOW_MS >= (asked or 0) * 1_000 - 1
        assert decision.place.delay_ms >= decision.place.next_ms - NOW_MS


def test_what_is_permanent_ends_at_once() -> None:
    place = Place(step=0, next_ms=NOW_MS, delay_ms=0)
    for outcome in (Outcome.PERMANENT, Outcome.GONE):
        decision = decide(Result(outcome=outcome, error="no"), place, early=False, now_ms=NOW_MS, random=lambda: 0.0)
        assert (decision.state, decision.reason) == (DeliveryState.DEAD, "no")
