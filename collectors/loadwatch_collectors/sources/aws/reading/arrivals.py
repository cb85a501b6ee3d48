"""Up to when CloudWatch has delivered each namespace, now and of late. Pure.

CloudWatch is usually a minute or two behind, and at bad times half an hour. What it holds up is asked for until it has
come, and then for the usual time more, since counts that belong to the same minute need not come together.
"""

from collections import deque
from collections.abc import Mapping

_USUAL_SHARE = 0.5
"""A delay of up to this share of the time that is read again is covered by that time itself."""


class Arrivals:
    """The newest delivered points of one account in one region. Times are milliseconds."""

    def __init__(self, reread_ms: int) -> None:
        self._reread_ms = reread_ms
        self._newest: dict[str, int] = {}
        self._marks: dict[str, deque[tuple[int, int]]] = {}
        self._floors: dict[str, int] = {}

    @property
    def newest_ms(self) -> Mapping[str, int]:
        """End of the newest point that was delivered, by namespace."""
        return self._newest

    def note(self, namespace: str, newest_ms: int) -> None:
        """A point that ends then was delivered."""
        self._newest[namespace] = max(self._newest.get(namespace, 0), newest_ms)

    def end_poll(self, now_ms: int) -> None:
        """All points of a poll were noted: remember how far delivery was, for as long as points are read again."""
        for namespace, newest in self._newest.items():
            marks = self._marks.setdefault(namespace, deque())
            while marks and marks[0][0] <= now_ms - self._reread_ms:
                marks.popleft()
            marks.append((now_ms, newest))
            # Delivery only goes on, so the oldest mark is the least.
            self._floors[namespace] = marks[0][1]

    def known_to(self, namespace: str, read_to_ms: int) -> int:
        """Up to when points are known that were read to `read_to_ms`: earlier where CloudWatch is unusually late."""
        floor = self._floors.get(namespace)
        if floor is None or read_to_ms - floor <= (1 + _USUAL_SHARE) * self._reread_ms:
            return read_to_ms
        return floor + self._reread_ms
