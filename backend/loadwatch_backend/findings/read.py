"""Fills a window from the store: the edge of the engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.evidence.series import LARGEST_VALUE, select_parts
from loadwatch_backend.findings.programs import join_programs
from loadwatch_backend.findings.window import BoolArray, Grid, Table, usual_interval_ms
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Matcher, MatchOperator, Reader, Selection

MARGIN_MS = 60_000
"""Read before and after a span, to show what was usual and what remained."""
MOST_INSTANTS = 3_600
SLICE_MS = 600_000
MOST_SLICES = 200
"""A run may claim to have lasted a century; the store bounds what one slice returns."""
NAMES_AT_ONCE = 40
"""Metrics in one selector: a regular expression may not be longer than the store allows."""
MOST_SERIES = 20_000
"""Of all metrics together; of more, the first ones are seen."""
BY_PERIOD = ("aws_",)
"""Prefixes of metrics whose values are of the period before their time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From `from_ms` up to, not including, `to_ms`."""

    from_ms: int
    to_ms: int


def grid_of(span: Span, margin_ms: int = MARGIN_MS) -> Grid:
    """Whole seconds, at most `MOST_INSTANTS` of them without the margins."""
    length = max(span.to_ms - span.from_ms, 1_000)
    step_ms = -(-length // (MOST_INSTANTS * 1_000)) * 1_000
    start_ms = max(span.from_ms - margin_ms, 0) // 1_000 * 1_000
    end_ms = -(-(span.to_ms + margin_ms) // 1_000) * 1_000
    return Grid(start_ms=start_ms, step_ms=step_ms, count=(end_ms - start_ms) // step_ms + 1)


def read_tables(store: Reader, metrics: Iterable[str], grid: Grid) -> dict[str, Table]:
    """The samples of these metrics, by name, targets of one program as one; metrics without any are left out.

    Raises:
        ProblemError: of the store.
    """
    found: dict[str, _Growing] = {}
    names = sorted(set(metrics))
    end_ms = grid.time_ms(grid.count - 1)
    slice_ms = max(SLICE_MS, (end_ms - grid.start_ms) // MOST_SLICES)
    for first in range(0, len(names), NAMES_AT_ONCE):
        matcher = Matcher("__name__", MatchOperator.REGEX, "|".join(names[first : first + NAMES_AT_ONCE]))
        # What came within the step that ends at the first instant belongs to it.
        for from_ms in range(grid.start_ms - grid.step_ms + 1, end_ms + 1, slice_ms):
            for selection in select_parts(store, [matcher], from_ms, min(from_ms + slice_ms - 1, end_ms)):
                _place(found, selection, grid)
    return join_programs({name: growing.table(name, grid) for name, growing in found.items()})


class _Growing:
    def __init__(self) -> None:
        self.rows: dict[tuple[tuple[str, str], ...], int] = {}
        self.values: list[FloatArray] = []
        self.stale: list[BoolArray] = []

    def row(self, labels: Mapping[str, str], count: int) -> int:
        key = tuple(sorted((name, value) for name, value in labels.items() if name != "__name__"))
        place = self.rows.get(key)
        if place is None:
            place = self.rows[key] = len(self.values)
            self.values.append(np.full(count, np.nan))
            self.stale.append(np.zeros(count, dtype=np.bool_))
        return place

    def table(self, name: str, grid: Grid) -> Table:
        order = sorted(self.rows)
        places = [self.rows[key] for key in order]
        values = np.stack([self.values[place] for place in places])
        return Table(
            grid=grid,
            labels=[dict(key) for key in order],
            values=values,
            stale=np.stack([self.stale[place] for place in places]),
            interval_ms=usual_interval_ms(values, grid),
            back=name.startswith(BY_PERIOD),
        )


def _place(found: dict[str, _Growing], selection: Selection, grid: Grid) -> None:
    bounds: Sequence[int] = selection.offsets.tolist()
    places = np.clip(-(-(selection.timestamps - grid.start_ms) // grid.step_ms), 0, grid.count - 1)
    stale = selection.values.view(np.uint64) == STALE_NAN_BITS
    for labels, begin, end in zip(selection.labels, bounds[:-1], bounds[1:], strict=True):
        growing = found.setdefault(labels["__name__"], _Growing())
        if len(growing.values) >= MOST_SERIES:
            continue
        row = growing.row(labels, grid.count)
        here, ended, values = places[begin:end], stale[begin:end], selection.values[begin:end]
        # Rising times: of several samples in a step the last one stays.
        known = np.abs(values) <= LARGEST_VALUE
        growing.values[row][here[known]] = values[known]
        growing.stale[row][here] = ended
