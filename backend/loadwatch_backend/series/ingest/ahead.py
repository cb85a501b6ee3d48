"""Senders whose samples lie in the future: told at once, by this server's own clock.

A sample that is ahead is invisible to rules and pages until its time comes, the sender's own clock figures included. So
the server measures as it takes (or refuses) samples, and shows who is ahead among its own metrics.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.ingest.decode import FreshSeries
from loadwatch_backend.series.store.remote_pb2 import TimeSeries

AHEAD_MS = 10_000
"""How far ahead a sender must be to be named; less may come from the clocks of two hosts."""

MOST_SENDERS = 200
FORGET_MS = 300_000
"""A sender that has sent nothing ahead for so long is about right again, or gone."""

Sender = tuple[str, str]
"""job, instance"""


@dataclass(slots=True)
class _Ahead:
    ahead_ms: int
    seen_ms: int


class SendersAhead:
    """How far ahead the newest samples of each sender are. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._senders: dict[Sender, _Ahead] = {}
        self._of_series: dict[int, Sender] = {}

    def note(
        self,
        series: npt.NDArray[np.int64],
        timestamps: npt.NDArray[np.int64],
        *,
        fresh: Sequence[FreshSeries],
        known: Mapping[bytes, int],
        now_ms: int,
    ) -> None:
        """Look at a request's samples before any is refused; costs one comparison while nobody is ahead.

        `series` and `timestamps` have a row per sample: an id of `known`, or the place in `fresh` as -1 - place.
        """
        if len(timestamps) and int(timestamps.max()) > now_ms + AHEAD_MS:
            rows = np.flatnonzero(timestamps > now_ms + AHEAD_MS)
            newest: dict[int, int] = {}
            for number, time_ms in zip(series[rows].tolist(), timestamps[rows].tolist(), strict=True):
                newest[number] = max(newest.get(number, 0), time_ms)
            with self._lock:
                self._find_senders([number for number in newest if number >= 0], known)
                for number, time_ms in newest.items():
                    labels = {} if number >= 0 else dict(fresh[-number - 1].labels)
                    sender = self._of_series.get(number, ("", "")) if number >= 0 else _sender(labels)
                    self._take(sender, time_ms - now_ms, now_ms)

    def read(self, now_ms: int) -> dict[Sender, float]:
        """Seconds by which each sender is ahead; 0 for one that was and is not any more."""
        with self._lock:
            for sender, found in list(self._senders.items()):
                if now_ms - found.seen_ms > 2 * FORGET_MS:
                    del self._senders[sender]
            return {
                sender: found.ahead_ms / 1000 if 0 <= now_ms - found.seen_ms < FORGET_MS else 0.0
                for sender, found in self._senders.items()
            }

    def _take(self, sender: Sender, ahead_ms: int, now_ms: int) -> None:
        before = self._senders.get(sender)
        if before is not None and before.seen_ms == now_ms:
            before.ahead_ms = max(before.ahead_ms, ahead_ms)
        elif before is not None or len(self._senders) < MOST_SENDERS:
            self._senders[sender] = _Ahead(ahead_ms, now_ms)

    def _find_senders(self, numbers: Sequence[int], known: Mapping[bytes, int]) -> None:
        wanted = {number for number in numbers if number not in self._of_series}
        if not wanted:
            return
        if len(self._of_series) > len(known):
            self._of_series.clear()
            wanted = set(numbers)
        for prefix, number in list(known.items()):
            if number in wanted:
                pairs = {label.name: label.value for label in TimeSeries.FromString(prefix).labels}
                self._of_series[number] = _sender(pairs)


def _sender(labels: Mapping[bytes, bytes]) -> Sender:
    job, instance = (labels.get(name, b"").decode(errors="replace")[:200] for name in (b"job", b"instance"))
    return job, instance
