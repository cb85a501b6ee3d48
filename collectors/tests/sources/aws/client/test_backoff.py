from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.client.client import Backoff


def test_it_doubles_with_jitter_up_to_the_most() -> None:
    backoff = Backoff(first_seconds=1.0, most_seconds=8.0, draw=lambda: 1.0)
    waits: list[float] = []
    for _ in range(6):
        backoff.refused(100.0)
        waits.append(backoff.wait_seconds(100.0))
    assert waits == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert backoff.refusals == 6
    low = Backoff(first_seconds=1.0, most_seconds=8.0, draw=lambda: 0.0)
    low.refused(100.0)
    assert low.wait_seconds(100.0) == 0.5, "at least half of it is waited"


def test_it_recovers_by_halves_and_then_waits_no_more() -> None:
    backoff = Backoff(first_seconds=1.0, most_seconds=60.0, draw=lambda: 1.0)
    for _ in range(4):
        backoff.refused(0.0)
    waits: list[float] = []
    for _ in range(7):
        backoff.succeeded(100.0)
        waits.append(backoff.wait_seconds(100.0))
    assert waits == [1.0, 1.0, 1.0, 0.5, 0.25, 0.125, 0.0]
    assert backoff.refusals == 0


def test_without_refusals_nothing_waits() -> None:
    backoff = Backoff()
    for now in range(5):
        assert backoff.wait_seconds(float(now)) == 0.0
        backoff.succeeded(float(now))


@given(st.lists(st.booleans(), max_size=200), st.floats(0, 1))
def test_a_wait_is_never_negative_and_never_beyond_the_most(answers: list[bool], draw: float) -> None:
    backoff = Backoff(draw=lambda: draw)
    for now, good in enumerate(answers):
        (backoff.succeeded if good else backoff.refused)(float(now))
        assert 0.0 <= backoff.wait_seconds(float(now)) <= backoff.most_seconds
