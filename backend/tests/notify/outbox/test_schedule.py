from itertools import accumulate
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.alerting.notify.outbox.outcomes import RetryState, next_retry
from loadwatch_backend.alerting.notify.outbox.schedule import delay_ms, is_due
from loadwatch_backend.alerting.notify.senders.model import AttemptOutcome, Result

NOW_MS = 1_800_000_000_000
PASSING = Result(outcome=AttemptOutcome.PASSING, error="answered 500")
REFUSED = Result(outcome=AttemptOutcome.PERMANENT, error="answered 404")
START = RetryState(step=0, next_ms=NOW_MS, delay_ms=0, refused=False)


def seconds_after(place: RetryState) -> float:
    return place.delay_ms / 1_000


def fail(place: RetryState, result: Result = PASSING, **more: Any) -> RetryState:
    given: dict[str, Any] = {"early": False, "seconds": 0.0, "now_ms": NOW_MS, "random": lambda: 0.0, **more}
    return next_retry(result, place, **given)


def pauses(result: Result, count: int) -> list[float]:
    """Seconds from attempt to attempt, as they are without jitter."""
    found: list[float] = []
    place = START
    for _ in range(count):
        place = fail(place, result)
        found.append(seconds_after(place))
    return found


def test_for_five_minutes_pauses_are_ten_seconds_at_most_then_a_minute_and_never_end() -> None:
    found = pauses(PASSING, 500)
    assert found[:5] == [2, 4, 8, 10, 10]
    early = [pause for at, pause in zip(accumulate(found), found, strict=True) if at <= 300]
    assert max(early) == 10
    assert max(found) == found[-1] == 60
    assert delay_ms(10_000, lambda: 0.0, refused=False) == 60_000


def test_what_looks_permanent_is_tried_ever_more_seldom_and_never_given_up() -> None:
    found = pauses(REFUSED, 100)
    assert found == sorted(found)
    assert found[:30] == sorted(set(found[:30]))
    assert (found[0], found[-1]) == (5, 120)
    for at, pause in zip(accumulate(found), found, strict=True):
        assert pause <= 5 + at / 10
    assert delay_ms(10_000, lambda: 0.0, refused=True) == 120_000


@given(step=st.integers(0, 1_000), refused=st.booleans(), random=st.floats(0, 1, exclude_max=True))
def test_jitter_only_shortens(step: int, refused: bool, random: float) -> None:
    longest = delay_ms(step, lambda: 0.0, refused=refused)
    assert 0.8 * longest - 1 <= delay_ms(step, lambda: random, refused=refused) <= longest


def test_a_receiver_that_fails_in_another_way_begins_at_short_pauses_again() -> None:
    place = START
    for _ in range(200):
        place = fail(place)
    assert seconds_after(place) == 60
    place = fail(place, REFUSED)
    assert (place.refused, seconds_after(place)) == (True, 5)
    # Even one that was tried before its time.
    assert seconds_after(fail(place, early=True)) == 2


def test_the_time_that_an_attempt_took_is_part_of_the_pause() -> None:
    place = RetryState(step=3, next_ms=NOW_MS, delay_ms=0, refused=False)
    assert seconds_after(fail(place, seconds=4.0)) == 6
    assert seconds_after(fail(place, seconds=10.0)) == 1


@given(delay=st.integers(0, 100_000_000), passed=st.integers(-10_000_000, 200_000_000))
def test_nothing_waits_longer_than_its_pause_whatever_the_clock_does(delay: int, passed: int) -> None:
    due = is_due(NOW_MS + delay, delay, NOW_MS + passed)
    assert due == (passed >= delay or passed < -1_000)


@given(
    asked=st.one_of(st.none(), st.floats(0, 3_600)),
    step=st.integers(0, 1_000),
    early=st.booleans(),
    refused=st.booleans(),
    was_refused=st.booleans(),
    seconds=st.floats(0, 300),
)
def test_an_attempt_that_failed_is_followed_by_another(
    asked: float | None, step: int, early: bool, refused: bool, was_refused: bool, seconds: float
) -> None:
    place = RetryState(step=step, next_ms=NOW_MS + 1_000, delay_ms=5_000, refused=was_refused)
    outcome = AttemptOutcome.PERMANENT if refused else AttemptOutcome.PASSING
    after = fail(place, Result(outcome=outcome, error="x", retry_after_seconds=asked), early=early, seconds=seconds)
    assert after.refused == refused
    assert after.step == (step if early and refused == was_refused else 1 if refused != was_refused else step + 1)
    assert after.next_ms > NOW_MS
    assert after.next_ms - NOW_MS >= (asked or 0) * 1_000 - 1
    assert after.delay_ms >= after.next_ms - NOW_MS
    assert after.next_ms - NOW_MS <= max(120_000, (asked or 0) * 1_000 + 1)
