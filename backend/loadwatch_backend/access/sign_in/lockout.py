"""How long a name waits after wrong passwords: pure, times in milliseconds since the epoch.

Five wrong passwords are free. From the sixth on each one locks the name for 15 s, 30 s, 1 min … 15 min at most, also
for the right password; attempts while it is locked do not count. A day without a wrong password forgets them all. So a
guesser gets about a hundred guesses a day, and nobody can lock a name for longer than 15 minutes at a time. Who has
signed in from a browser before is counted apart from strangers (device cookies, see decision 0054).
"""

from dataclasses import dataclass

FREE_FAILURES = 5
FIRST_WAIT_MS = 15_000
LONGEST_WAIT_MS = 15 * 60_000
FORGET_MS = 24 * 3600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockout:
    """Wrong passwords so far."""

    failures: int = 0
    last_failure_ms: int = 0
    locked_until_ms: int = 0


def wait_left_ms(state: Lockout, now_ms: int) -> int:
    """How long the name is still locked; 0 when it is not.

    An end further ahead than the longest wait was written by a clock that has been set back since; it does not hold.
    """
    left = state.locked_until_ms - now_ms
    return left if 0 < left <= LONGEST_WAIT_MS else 0


def count_failure(state: Lockout, now_ms: int) -> Lockout:
    """The state after one more wrong password."""
    failures = 1 if now_ms - state.last_failure_ms > FORGET_MS else state.failures + 1
    beyond = failures - FREE_FAILURES - 1
    wait = 0 if beyond < 0 else min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(beyond, 16))
    return Lockout(failures=failures, last_failure_ms=now_ms, locked_until_ms=now_ms + wait if wait else 0)
