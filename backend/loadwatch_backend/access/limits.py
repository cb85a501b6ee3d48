"""How often one address may be wrong, by failures within a sliding window, in memory; and one name, by its lock.

An address is a whole /64 network for IPv6: that is what one household or one machine is given.
"""

import ipaddress
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

from loadwatch_backend.core.errors import TooManyRequestsError

ADDRESSES = 10_000
"""Addresses remembered; the one that was quiet for longest is forgotten first."""


class TooManyAttemptsError(TooManyRequestsError, code="too-many-attempts", title="Too many attempts"):
    """One address was wrong too often, or one name was tried too often."""


def network_of(address: str) -> str:
    """The key under which an address is counted; an IPv6 address counts as its /64 network."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


class FailureLimit:
    """Counts attempts by address; those that succeeded are taken back. `clock` gives monotonic seconds.

    An attempt counts before its outcome is known, so that many at once cannot slip through.
    """

    def __init__(self, *, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def attempt(self, address: str, what: str) -> None:
        """Count one.

        Raises:
            TooManyAttemptsError: there were too many; says when the address may try again.
        """
        wait = self.wait_after(address)
        if wait:
            raise TooManyAttemptsError(
                f"Too many {what} from your address; try again in {wait} s.", retry_after_seconds=wait
            )

    def wait_after(self, address: str) -> int:
        """Count an attempt and return 0, or return the whole seconds to wait without counting it."""
        key = network_of(address)
        now = self._clock()
        with self._lock:
            times = self._times.setdefault(key, deque())
            self._times.move_to_end(key)
            while times and times[0] <= now - self._seconds:
                times.popleft()
            if len(times) >= self.most:
                return max(1, math.ceil(times[0] + self._seconds - now))
            times.append(now)
            while len(self._times) > ADDRESSES:
                self._times.popitem(last=False)
            return 0

    def forgive(self, address: str) -> None:
        """Take back the address's latest attempt, as it succeeded."""
        with self._lock:
            times = self._times.get(network_of(address))
            if times:
                times.pop()


FREE_FAILURES = 5
FIRST_WAIT_MS = 15_000
LONGEST_WAIT_MS = 15 * 60_000
FORGET_MS = 24 * 3600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockout:
    """Wrong passwords so far.

    Five wrong passwords are free. From the sixth on each one locks the name for 15 s, 30 s, 1 min … 15 min at most,
    also for the right password; attempts while it is locked do not count. A day without a wrong password forgets them
    all. So a guesser gets about a hundred guesses a day, and nobody can lock a name for longer than 15 minutes at a
    time. Who has signed in from a browser before is counted apart from strangers (device cookies, see decision 0054).
    """

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
    failures = 1 if now_ms - state.last_failure_ms > FORGET_MS else state.failures + 1
    beyond = failures - FREE_FAILURES - 1
    wait = 0 if beyond < 0 else min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(beyond, 16))
    return Lockout(failures=failures, last_failure_ms=now_ms, locked_until_ms=now_ms + wait if wait else 0)
