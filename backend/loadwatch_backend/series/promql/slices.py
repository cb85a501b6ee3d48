"""A range evaluated slice by slice, so that its memory does not grow with its length.

PromQL gives each step its value from samples at and before that step alone, so the steps of a grid may be evaluated
in any number of parts. A *slice* is what is read at once; a *part* of it is what is evaluated at once. Both are made
smaller when they would take more memory than there is, down to a single step.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from loadwatch_backend.series.promql.admission import (
    CELL_BYTES,
    LABELS_BYTES,
    READ_BYTES,
    WORK_BYTES,
    SliceTooLargeError,
    Ticket,
    select_within,
)
from loadwatch_backend.series.promql.errors import QueryMemoryError
from loadwatch_backend.series.promql.evaluate import Evaluation, Origins, Value
from loadwatch_backend.series.promql.fetch import Fetched, Source, plan_spans
from loadwatch_backend.series.promql.labels import LabelKey, label_key
from loadwatch_backend.series.promql.levels import Choices, Levels, SelectorRead, behind_ms, wanted_by
from loadwatch_backend.series.promql.parsing.expression import Expression
from loadwatch_backend.series.promql.value import BoolArray, FloatArray, Grid, Matrix, Scalar, unlabelled
from loadwatch_backend.series.store.port import Labels, Select, Selection


@dataclass(kw_only=True)
class SlicedRange:
    """One expression over one grid.

    `evaluation` is that of all parts, but for their grids, samples and labels. `check_size` (samples so far, series,
    steps) raises when a limit is passed. `slice_samples` and `slice_cells` are what slices and parts are aimed at;
    less, where the ticket has less room.
    """

    select: Select
    expression: Expression
    evaluation: Evaluation
    ticket: Ticket
    slice_samples: int
    slice_cells: int
    check_size: Callable[[int, int, int], None]
    levels: Levels | None = None
    _samples: int = 0
    _seen_until: dict[Source, int] = field(default_factory=dict[Source, int])
    _origins: Origins = field(default_factory=dict[int, dict[LabelKey, LabelKey]])

    def evaluate(self, grid: Grid) -> Value:
        """The value at all steps; its memory stays taken.

        Raises:
            QueryExecutionError, QueryTooLargeError, QueryTimeoutError, CancelledError, QueryBusyError.
        """
        overlap_ms = behind_ms(self.expression, self.evaluation.lookback_ms)
        borders = self._borders(grid)
        whole = Assembly(grid.count, self.ticket)
        place, steps = 0, grid.count
        while place < grid.count:
            # What is before a border is read at another level than what is after it.
            border = next(one for one in borders if one > place)
            steps = min(steps, border - place)
            part = grid.part(place, steps)
            base = self.ticket.held_bytes
            # A slice no longer than what each of its steps looks back over is not worth cutting for its samples' sake.
            is_short = steps == 1 or steps * grid.step_ms <= overlap_ms
            most = self.ticket.room_bytes // 2 // READ_BYTES
            try:
                fetched, choices = self._read(part, most if is_short else min(most, self.slice_samples), grid.count)
            except QueryMemoryError as error:
                self.ticket.give(self.ticket.held_bytes - base)
                if steps == 1:
                    raise
                steps = _fewer(steps, overlap_ms, grid.step_ms, self.slice_samples, error)
                continue
            held = self.ticket.held_bytes - base
            value = self._evaluate_parts(part, fetched, choices, grid, whole, place)
            self.ticket.give(held)
            if value is not None:
                return value
            place += steps
            if fetched.sample_count < self.slice_samples // 3:
                steps = grid.count if place in borders else steps * 2
        return whole.value()

    def _read(self, part: Grid, most_samples: int, all_steps: int) -> tuple[Fetched, Choices]:
        fetched = Fetched()
        read = self._samples
        seen = dict(self._seen_until)

        def select(source: Source, start_ms: int, end_ms: int) -> Selection:
            nonlocal read
            left = most_samples - fetched.sample_count
            selection = select_within(self.select, self.ticket, left, source, (start_ms, end_ms))
            # What slices read twice counts once.
            read += int(np.count_nonzero(selection.timestamps > seen.get(source, -1)))
            seen[source] = max(end_ms, seen.get(source, -1))
            return selection

        def check(found: Fetched) -> None:
            self.evaluation.check()
            self.check_size(read, found.series_count, all_steps)

        plan, choices = plan_spans(self.expression, part, *self._reach, self.levels)
        fetched.load(plan, select, check)
        self._samples, self._seen_until = read, seen
        return fetched, choices

    def _borders(self, grid: Grid) -> Sequence[int]:
        """Ends of the runs of steps for which the store is whole, or is not; the last is `grid.count`."""
        levels = self.levels
        if levels is None or levels.is_all_whole(self._wanted(grid)):
            return [grid.count]
        whole = [levels.is_all_whole(self._wanted(grid.part(step, 1))) for step in range(grid.count)]
        return [*(step for step in range(1, grid.count) if whole[step] != whole[step - 1]), grid.count]

    def _wanted(self, grid: Grid) -> Iterable[SelectorRead]:
        return wanted_by(self.expression, grid, *self._reach)

    @property
    def _reach(self) -> tuple[int, int]:
        return self.evaluation.lookback_ms, self.evaluation.subquery_step_ms

    def _evaluate_parts(
        self, part: Grid, fetched: Fetched, choices: Choices, grid: Grid, whole: "Assembly", place: int
    ) -> Value | None:
        """Evaluate a slice into `whole`; the value itself, when it is that of the whole grid."""
        series = max(fetched.series_count, 1)
        room = self.ticket.room_bytes // 3 // WORK_BYTES
        width = min(part.count, max(1, min(self.slice_cells, room) // series))
        done = 0

        def check() -> None:
            self.ticket.cancellation.check()
            self.evaluation.check()

        while done < part.count:
            width = min(width, part.count - done)
            try:
                with self.ticket.working(series * (width * WORK_BYTES + LABELS_BYTES)):
                    value = replace(
                        self.evaluation,
                        grid=part.part(done, width),
                        fetch=fetched.get,
                        all_steps=grid.count,
                        # All slices make the same labels, which are merged.
                        budget=copy(self.evaluation.budget),
                        check=check,
                        origins=self._origins,
                        choices=choices,
                    ).evaluate(self.expression)
            except QueryMemoryError:
                if width == 1:
                    raise
                width //= 2
                continue
            if width == grid.count:
                if isinstance(value, Matrix):
                    self.ticket.take(len(value.labels) * (LABELS_BYTES + CELL_BYTES * grid.count))
                return value
            assert isinstance(value, (Scalar, Matrix))
            whole.put(value, place + done)
            done += width
        return None


def _fewer(steps: int, overlap_ms: int, step_ms: int, slice_samples: int, error: QueryMemoryError) -> int:
    fewer = steps // 2
    if isinstance(error, SliceTooLargeError):
        span_ms = overlap_ms + steps * step_ms
        fitting_ms = int(span_ms * 0.9 * slice_samples / error.found)
        fewer = min(fewer, max(fitting_ms - overlap_ms, overlap_ms) // step_ms)
    return max(1, fewer)


class Assembly:
    def __init__(self, steps: int, ticket: Ticket) -> None:
        self._steps = steps
        self._ticket = ticket
        self._rows: dict[LabelKey, int] = {}
        self._labels: list[Labels] = []
        self._values: FloatArray = np.zeros((0, steps))
        self._present: BoolArray = np.zeros((0, steps), dtype=np.bool_)
        self._is_scalar = False

    def put(self, value: Scalar | Matrix, place: int) -> None:
        if isinstance(value, Scalar):
            self._is_scalar = True
            value = unlabelled(value.values)
        alive = np.flatnonzero(value.present.any(axis=1))
        places: list[int] = []
        for labels in (value.labels[row] for row in alive.tolist()):
            places.append(self._rows.setdefault(label_key(labels), len(self._labels)))
            if places[-1] == len(self._labels):
                self._labels.append(labels)
        rows = np.array(places, dtype=np.int64)
        self._make_room(len(self._labels))
        end = place + value.values.shape[1]
        self._values[rows, place:end] = value.values[alive]
        self._present[rows, place:end] = value.present[alive]

    def _make_room(self, rows: int) -> None:
        have = len(self._values)
        if rows <= have:
            return
        wanted = max(rows, have + have // 2)
        # While rows are copied, both are there.
        self._ticket.take(wanted * (self._steps * CELL_BYTES + LABELS_BYTES))
        values, present = np.zeros((wanted, self._steps)), np.zeros((wanted, self._steps), dtype=np.bool_)
        values[:have], present[:have] = self._values, self._present
        self._values, self._present = values, present
        self._ticket.give(have * (self._steps * CELL_BYTES + LABELS_BYTES))

    def value(self) -> Scalar | Matrix:
        if self._is_scalar:
            return Scalar(self._values[0])
        count = len(self._labels)
        return Matrix(labels=self._labels, values=self._values[:count], present=self._present[:count])
