"""How often one address may be wrong: failures within a sliding window, in memory.

An address is a whole /64 network for IPv6: that is what one household or one machine is given.
"""

import ipaddress
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from loadwatch_backend.core.errors import TooManyRequestsError

ADDRESSES = 10_000
"""Addresses remembered; the one that was quiet for longest is forgotten first."""


class TooManyAttemptsError(TooManyRequestsError, code="too-many-attempts", title="Too many attempts"):
    """One address was wrong too often, or one name was tried too often."""


def network_of(address: str) -> str:
    """What counts as one asker."""
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
        """Count one, or say in how many whole seconds there may be another; such a one is not counted."""
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
        """The address's latest attempt was right."""
        with self._lock:
            times = self._times.get(network_of(address))
            if times:
                times.pop()
