"""How far this host's clock is from the server's, by the headers of its answers; the time that samples are given."""

import threading
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import structlog

_log: Any = structlog.get_logger("loadwatch.clock")

TIME_HEADER = "X-Loadwatch-Time"
"""Our server's clock in milliseconds since the epoch, when it began to answer."""

_DATE_GRAIN_MS = 2_000
"""`Date` has whole seconds, and servers such as uvicorn refresh it once a second only."""


def measure_skew(headers: Mapping[str, str], sent_ms: float, received_ms: float) -> float | None:
    """Seconds by which the agent's clock is ahead of the server's; negative when behind, None when unknown.

    With `X-Loadwatch-Time` the error is at most half of the request's duration. With `Date` alone it is the least
    difference that the header proves, so 0 stands for "within two seconds".
    """
    exact = headers.get(TIME_HEADER)
    if exact is not None:
        try:
            server_ms = float(exact)
        except ValueError:
            return None
        return ((sent_ms + received_ms) / 2 - server_ms) / 1000
    try:
        date_ms = parsedate_to_datetime(headers["Date"]).timestamp() * 1000
    except (KeyError, ValueError, TypeError):
        return None
    least, most = sent_ms - date_ms - _DATE_GRAIN_MS, received_ms - date_ms
    if least > 0:
        return least / 1000
    return min(most, 0.0) / 1000


TOLERATED_SECONDS = 1.5
"""Below this the host's own clock is used: hosts that keep time by NTP agree better than an answer can tell."""

_TOLERATED_BY_DATE_SECONDS = 3.5


class ServerClock:
    """The time by which samples are stamped: the host's, as long as it is about the server's; else the server's.

    A system whose clock is ahead would otherwise write into the future, where no rule looks until that future comes.
    Once the server's time is known, a host's clock that is set changes nothing until the server's next answer. Safe to
    use from any thread.
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._offset = 0.0
        self._measured = False
        self._boot = wall() - monotonic()

    @property
    def offset_seconds(self) -> float:
        """What is taken from the host's clock at present."""
        return self._offset

    def wall(self) -> float:
        """Seconds since the epoch, on the server's clock where the host's is off."""
        with self._lock:
            now = self._wall()
            boot = now - self._monotonic()
            if self._measured and abs(boot - self._boot) > TOLERATED_SECONDS:
                self._offset += boot - self._boot
                self._boot = boot
            return now - self._offset

    def note(self, skew_seconds: float, *, exact: bool) -> None:
        """A measurement: the host's own clock is ahead of the server's by so much."""
        with self._lock:
            tolerated = TOLERATED_SECONDS if exact else _TOLERATED_BY_DATE_SECONDS
            self._boot = self._wall() - self._monotonic()
            self._measured = True
            # Half of what is tolerated ends a correction: a difference at the border must not move time to and fro.
            right = exact and abs(skew_seconds) <= TOLERATED_SECONDS / 2
            if not right and abs(skew_seconds - self._offset) <= tolerated:
                return
            wanted = skew_seconds if abs(skew_seconds) > tolerated else 0.0
            if wanted == self._offset:
                return
            self._offset = wanted
        if wanted:
            _log.warning(
                "this host's clock is off; samples are stamped by the server's clock",
                ahead_seconds=round(skew_seconds, 3),
            )
        else:
            _log.info("this host's clock is right again; samples are stamped by it")
