"""What is counted of one route and method."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from loadwatch_formats.access_logs.lines.line import NO_ANSWER
from loadwatch_formats.access_logs.sketch import Sketch
from loadwatch_formats.times import parse_rfc3339

_NUMBER = re.compile(r"[0-9]{1,19}(?:\.[0-9]{1,9})?")
_MONTHS = {
    name: number for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)
}
_CLF_TIME = re.compile(
    r"([0-9]{2})/([A-Z][a-z]{2})/([0-9]{4}):([0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?) ([+-][0-9]{4})"
)


def instant_of(text: str) -> int | None:
    """Of `10/Oct/2026:13:55:36 +0900`, of RFC 3339, or of a number of seconds, milli-, micro- or nanoseconds.

    A number's unit is told by its size; brackets around it all do not matter. None for anything else, and for a time
    without its zone.
    """
    return _instant(text.strip("[] "))


@lru_cache(maxsize=4096)
def _instant(text: str) -> int | None:
    if _NUMBER.fullmatch(text):
        return _of_number(text)
    if (found := _CLF_TIME.fullmatch(text)) is not None:
        day, month, year, clock, zone = found.groups()
        if month not in _MONTHS:
            return None
        text = f"{year}-{_MONTHS[month]:02d}-{day}T{clock}{zone}"
    try:
        return parse_rfc3339(text) // 1_000_000
    except ValueError:
        return None


def _of_number(text: str) -> int:
    whole, _, fraction = text.partition(".")
    value = int(whole)
    for unit, most in ((1_000, 10**11), (1, 10**14)):
        if value < most:
            return value * unit + (int(fraction[:3].ljust(3, "0")) if unit == 1_000 else 0)
    return value // (1_000 if value < 10**17 else 1_000_000)


def span_of(texts: Collection[str]) -> tuple[int, int] | None:
    """Return the first and the last moment, ms since the epoch; None if none can be read."""
    found = [at for at in map(instant_of, texts) if at is not None]
    return (min(found), max(found)) if found else None


COUNT, NOT_MODIFIED, FAILED, BYTES, SECONDS = range(5)
"""Places in a cell: requests, those with 304, those with 5xx, bytes of the answers, durations in seconds."""
_LARGEST_DIGITS = 16

Cell = list[float]


class SecondCounts:
    """Sums by step.

    Attributes:
        step: seconds that a cell covers: 1, or that doubled as often as was needed.
        cells: by the step's number since the epoch.
    """

    __slots__ = ("cells", "step")

    def __init__(self, step: int = 1) -> None:
        self.step = step
        self.cells: dict[int, Cell] = {}

    def add(
        self,
        moments: Iterable[str],
        statuses: Iterable[str],
        sizes: Iterable[str],
        durations: Iterable[str],
        seconds: Callable[[str], float | None],
    ) -> None:
        """Count requests by their texts; one without a time that can be read is in no cell."""
        step_ms, cells = self.step * 1_000, self.cells
        for at, status, size, took in zip(moments, statuses, sizes, durations, strict=True):
            at_ms = instant_of(at)
            if at_ms is None:
                continue
            if (cell := cells.get(at_ms // step_ms)) is None:
                cell = cells[at_ms // step_ms] = [0.0] * 5
            cell[COUNT] += 1
            if status == "304":
                cell[NOT_MODIFIED] += 1
            elif status[:1] == "5":
                cell[FAILED] += 1
            if len(size) < _LARGEST_DIGITS and size.isascii() and size.isdigit():
                cell[BYTES] += int(size)
            value = seconds(took)
            if value is not None:
                cell[SECONDS] += value

    def merge(self, other: "SecondCounts") -> None:
        """Add what another has counted, in the coarser steps of both."""
        step = max(self.step, other.step)
        self.coarsen(step)
        factor = step // other.step
        for at, cell in other.cells.items():
            self._add(at // factor, cell)

    def coarsen(self, step: int) -> None:
        """Count in steps of so many seconds, a multiple of what they are."""
        factor = step // self.step
        if factor <= 1:
            return
        fine, self.cells, self.step = self.cells, {}, step
        for at, cell in fine.items():
            self._add(at // factor, cell)

    def document(self, first: int) -> dict[str, Any]:
        """Columns for JSON: `at` counts steps from the step `first`; columns of nothing are left out."""
        found = sorted(self.cells.items(), key=itemgetter(0))
        columns: dict[str, list[float]] = {
            "count": [int(cell[COUNT]) for _, cell in found],
            "not_modified": [int(cell[NOT_MODIFIED]) for _, cell in found],
            "failed": [int(cell[FAILED]) for _, cell in found],
            "bytes": [int(cell[BYTES]) for _, cell in found],
            "seconds": [round(cell[SECONDS], 6) for _, cell in found],
        }
        return {"at": [at - first for at, _ in found], **{name: of for name, of in columns.items() if any(of)}}

    def _add(self, at: int, cell: Cell) -> None:
        there = self.cells.get(at)
        if there is None:
            self.cells[at] = cell.copy()
            return
        for place, value in enumerate(cell):
            there[place] += value


_LARGEST = 1 << 53
"""Largest answer that is counted, in bytes; a larger number in a log is no size."""
_NO_ANSWERS = frozenset(("-", "000", ""))
_MOST_TEXTS = 1_024
"""Duration texts held before they are converted: logs write milliseconds, so the same ones recur."""


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
        return len(self._waiting) > _MOST_TEXTS

    def finish(self, seconds: Callable[[str], float | None]) -> None:
        """Make numbers of the durations that wait; what is none is left out."""
        for text, count in self._waiting.items():
            if (value := seconds(text)) is not None:
                self.durations.add(value, count)
        self._waiting.clear()

    def merge(self, other: "RouteFigures") -> None:
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
