"""What is counted of one route and method."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from loadwatch_formats.access_logs.lines.line import NO_ANSWER
from loadwatch_formats.access_logs.seconds import SecondCounts
from loadwatch_formats.access_logs.sketch import Sketch

_LARGEST = 1 << 53
"""Bytes of one answer, at most; a number beyond it is somebody's joke."""
_NO_ANSWERS = frozenset(("-", "000", ""))
_MOST_TEXTS = 1_024
"""Durations that wait to be made numbers: logs write milliseconds, so the same texts come again and again."""


class RouteFigures:
    """Requests of one route and method.

    Attributes:
        statuses: requests by status; `0` is no answer.
        durations: of those requests that have one.
        sized: requests whose bytes are known; `bytes`, `least_bytes`, `most_bytes`: of their answers.
        by_second: the same by second, where that is asked for.
    """

    __slots__ = ("_waiting", "by_second", "bytes", "durations", "least_bytes", "most_bytes", "sized", "statuses")

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.durations = Sketch()
        self.sized = 0
        self.bytes = 0
        self.least_bytes: int | None = None
        self.most_bytes: int | None = None
        self.by_second: SecondCounts | None = None
        self._waiting: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """Requests."""
        return self.statuses.total()

    def add(self, statuses: Iterable[str], sizes: Sequence[str], durations: Iterable[str]) -> None:
        """Count requests by their texts; `finish` makes numbers of the durations that wait."""
        self.statuses.update(statuses)
        for text in _NO_ANSWERS & self.statuses.keys():
            self.statuses[NO_ANSWER] += self.statuses.pop(text)
        self._waiting.update(durations)
        try:
            self._add_sizes(list(map(int, sizes)))
        except ValueError:
            # `-`, nothing, or what is no number.
            self._add_sizes([int(size) for size in sizes if len(size) < 20 and size.isascii() and size.isdigit()])

    def waits_long(self) -> bool:
        """Whether enough durations wait to be made numbers."""
        return len(self._waiting) > _MOST_TEXTS

    def finish(self, seconds: Callable[[str], float | None]) -> None:
        """Make numbers of the durations that wait; what is none is left out."""
        for text, count in self._waiting.items():
            if (value := seconds(text)) is not None:
                self.durations.add(value, count)
        self._waiting.clear()

    def merge(self, other: "RouteFigures") -> None:
        """Add what another has counted."""
        self.statuses.update(other.statuses)
        self._waiting.update(other._waiting)
        self.durations.merge(other.durations)
        if other.by_second is not None:
            self.by_second = self.by_second or SecondCounts(other.by_second.step)
            self.by_second.merge(other.by_second)
        self.sized += other.sized
        self.bytes += other.bytes
        if other.least_bytes is not None and other.most_bytes is not None:
            self._widen(other.least_bytes, other.most_bytes)

    def _add_sizes(self, sizes: Sequence[int]) -> None:
        if not sizes:
            return
        if min(sizes) < 0 or max(sizes) > _LARGEST:
            sizes = [size for size in sizes if 0 <= size <= _LARGEST]
            self._add_sizes(sizes)
            return
        self.sized += len(sizes)
        self.bytes += sum(sizes)
        self._widen(min(sizes), max(sizes))

    def _widen(self, least: int, most: int) -> None:
        self.least_bytes = least if self.least_bytes is None else min(self.least_bytes, least)
        self.most_bytes = most if self.most_bytes is None else max(self.most_bytes, most)
