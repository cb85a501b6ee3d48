from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.access.limits import (
    FIRST_WAIT_MS,
    FORGET_MS,
    FREE_FAILURES,
    LONGEST_WAIT_MS,
    Lockout,
    count_failure,
    wait_left_ms,
)

NOW = 1_768_550_400_000


def after(failures: int) -> Lockout:
    state = Lockout()
    for _ in range(failures):
        state = count_failure(state, NOW)
    return state


def test_the_first_wrong_passwords_are_free_and_waits_grow_to_the_longest():
    waits = [wait_left_ms(after(failures), NOW) for failures in range(FREE_FAILURES + 10)]
    assert waits[: FREE_FAILURES + 1] == [0] * (FREE_FAILURES + 1)
    assert waits[FREE_FAILURES + 1 : FREE_FAILURES + 4] == [FIRST_WAIT_MS, 2 * FIRST_WAIT_MS, 4 * FIRST_WAIT_MS]
    assert waits[-1] == LONGEST_WAIT_MS


def test_a_day_without_a_wrong_password_forgets_them():
    state = count_failure(after(20), NOW + FORGET_MS + 1)
    assert (state.failures, wait_left_ms(state, NOW + FORGET_MS + 1)) == (1, 0)


def test_a_clock_set_back_locks_nobody_out():
    locked = after(20)
    assert wait_left_ms(locked, NOW) == LONGEST_WAIT_MS
    assert wait_left_ms(locked, NOW - 3_600_000) == 0


@given(st.integers(0, 200), st.integers(-(10**10), 10**10))
def test_no_wait_is_longer_than_the_longest(failures: int, later: int):
    assert 0 <= wait_left_ms(after(failures), NOW + later) <= LONGEST_WAIT_MS
