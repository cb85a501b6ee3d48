"""Requests of one route by second: only seconds that had any, and coarser steps where there are too many."""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from loadwatch_formats.access_logs.instants import instant_of

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
            cell = cells.get(at_ms // step_ms)
            if cell is None:
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
