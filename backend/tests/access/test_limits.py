import pytest
from loadwatch_backend.access.limits import ADDRESSES, FailureLimit, TooManyAttemptsError, network_of


class Hand:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_attempts_beyond_the_limit_wait_for_the_oldest_to_be_over():
    clock = Hand()
    limit = FailureLimit(most=2, seconds=10, clock=clock)
    limit.attempt("1.2.3.4", "attempts")
    clock.now = 4
    limit.attempt("1.2.3.4", "attempts")
    with pytest.raises(TooManyAttemptsError) as refused:
        limit.attempt("1.2.3.4", "attempts")
    assert refused.value.retry_after_seconds == 6
    limit.attempt("1.2.3.5", "attempts")
    clock.now = 10
    limit.attempt("1.2.3.4", "attempts")
    with pytest.raises(TooManyAttemptsError):
        limit.attempt("1.2.3.4", "attempts")


def test_an_attempt_that_succeeded_does_not_count():
    limit = FailureLimit(most=1, seconds=10, clock=Hand())
    for _ in range(5):
        limit.attempt("1.2.3.4", "attempts")
        limit.forgive("1.2.3.4")
    limit.forgive("9.9.9.9")


def test_one_household_is_one_asker():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1")
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8::1")
    assert network_of("::ffff:1.2.3.4") == "1.2.3.4"
    assert network_of("") == ""


def test_memory_is_bounded():
    limit = FailureLimit(most=1, seconds=10, clock=Hand())
    assert limit.wait_after("10.0.0.1") == 0
    for number in range(ADDRESSES):
        assert limit.wait_after(f"11.{number >> 16}.{number >> 8 & 255}.{number & 255}") == 0
    assert limit.wait_after("10.0.0.1") == 0
