"""From a tree and samples to values, with no I/O: the embedded evaluator.

Source of the rules: promql/engine.go of Prometheus 3 (eval, rangeEval), with delayed name removal off, as by default.

Three kinds: over the windows of a range selector, over the elements of a vector, and the few that need more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from loadwatch_backend.series.promql.admission import CELL_BYTES, LABELS_BYTES, READ_BYTES, WORK_BYTES
from loadwatch_backend.series.promql.aggregate import aggregate, count_values
from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.functions import covered, info, special_functions
from loadwatch_backend.series.promql.functions.over_time import OVER_TIME
from loadwatch_backend.series.promql.functions.rates import RATES, WindowResult
from loadwatch_backend.series.promql.functions.rolled import ROLLED
from loadwatch_backend.series.promql.functions.special_functions import (
    DATE_FUNCTIONS,
    ELEMENT_FUNCTIONS,
    ElementFunction,
    SpecialFunction,
)
from loadwatch_backend.series.promql.labels import (
    DUPLICATE_LABELS,
    METRIC_NAME,
    RESERVED,
    LabelBudget,
    LabelKey,
    drop_labels,
    drop_names,
    label_key,
)
from loadwatch_backend.series.promql.levels import (
    RAW,
    Choices,
    instant_span,
    is_aligned,
    key_of,
    minute_edges,
    minutes_span,
    range_span,
    selected_times,
    subquery_grid,
)
from loadwatch_backend.series.promql.matching import combine_sets, combine_vectors, compute
from loadwatch_backend.series.promql.notes import COUNTER_ENDINGS, Notes
from loadwatch_backend.series.promql.parsing.catalogue import ARITHMETIC_OPERATORS, COMPARISON_OPERATORS, SET_OPERATORS
from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Binary,
    Call,
    Expression,
    Negation,
    Number,
    RangeSelector,
    Selector,
    Subquery,
    Text,
)
from loadwatch_backend.series.promql.samples import (
    Samples,
    Windows,
    cut_windows,
    evaluate_selector,
    samples_of,
    windows_between,
)
from loadwatch_backend.series.promql.value import (
    BoolArray,
    FloatArray,
    Grid,
    IntArray,
    Matrix,
    RawMatrix,
    RawSeries,
    Scalar,
    StringValue,
    check_cells,
    empty_matrix,
)
from loadwatch_backend.series.store.levels import Level
from loadwatch_backend.series.store.port import Labels, MatchOperator


@dataclass(frozen=True, slots=True, kw_only=True)
class OverWindows:
    """Windows and scalars [steps] to values and presence [series, steps]."""

    evaluate: Callable[..., WindowResult]
    keeps_name: bool = False
    scalar_first: bool = False
    """The scalar stands before the range selector (quantile_over_time)."""


class OverElements(NamedTuple):
    """Values [series, steps] and scalars [steps] to values; the metric name goes."""

    evaluate: ElementFunction


class Special(NamedTuple):
    """A function that gets its arguments unevaluated."""

    evaluate: SpecialFunction


FUNCTIONS: dict[str, OverWindows | OverElements | Special] = {
    **{
        name: OverWindows(
            evaluate=function,
            keeps_name=name in ("last_over_time", "first_over_time"),
            scalar_first=name == "quantile_over_time",
        )
        for name, function in {**RATES, **OVER_TIME}.items()
    },
    **{
        function.__name__: Special(evaluate=function)
        for function in (
            *(special_functions.absent, special_functions.absent_over_time, info.info),
            *(special_functions.label_replace, special_functions.label_join),
            *(special_functions.histogram_quantile, special_functions.histogram_quantiles),
            *(special_functions.histogram_fraction, special_functions.timestamp, special_functions.clamp),
            *(special_functions.time, special_functions.pi, special_functions.scalar, special_functions.vector),
        )
    },
    **{name: Special(evaluate=special_functions.sort) for name in ("sort", "sort_desc")},
    **{name: Special(evaluate=special_functions.sort_by_label) for name in ("sort_by_label", "sort_by_label_desc")},
    **{name: Special(evaluate=special_functions.extreme_of) for name in ("min_of", "max_of")},
    **{
        f"histogram_{name}": Special(evaluate=special_functions.of_native_histograms)
        for name in ("count", "sum", "avg", "stddev", "stdvar")
    },
    **{name: Special(evaluate=special_functions.date_function) for name in DATE_FUNCTIONS},
    **{name: OverElements(evaluate=function) for name, function in ELEMENT_FUNCTIONS.items()},
    **{name: Special(evaluate=special_functions.of_the_query) for name in ("start", "end", "step", "range")},
}

UNNAMED: dict[str, Special] = {covered.NAME: Special(evaluate=covered.covered_rate)}
"""Functions that no text can name: the server puts them into trees."""


Value = Scalar | StringValue | Matrix

Origins = dict[int, dict[LabelKey, LabelKey]]
"""Of each range function (by identity) which series each of its results came from, over all parts of a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One evaluation: the grid, and where samples come from.

    `fetch` returns at least the samples in (start, end] of the series that the selector asks for.
    """

    grid: Grid
    lookback_ms: int
    fetch: Callable[..., Samples]
    """Selector, first and last time; and the level, where it is not that of all samples."""
    fetch_newest: Callable[[Selector, int, int], Samples] | None = None
    """For instant selectors at a grid of one step: at least the newest sample of each series. None is `fetch`."""
    max_cells: int = 50_000_000
    all_steps: int | None = None
    """Steps of the range of which the grid is a part; None where it is all there is."""
    budget: LabelBudget = field(default_factory=LabelBudget)
    """For labels that the evaluation makes."""
    check: Callable[[], None] = lambda: None
    """Called before each node; raises when the time is up or nobody waits any more."""
    take: Callable[[int], None] = lambda _bytes: None
    """Called with the bytes of what is made beyond the vectors of the selectors; raises when there is no room."""
    origins: Origins | None = None
    """Shared by the parts of one range."""
    known: dict[int, Value] | None = None
    """Values by the identity of their expressions, for expressions that share parts (the caller keeps those alive)."""
    subquery_step_ms: int = 60_000
    """Step of subqueries that name none."""
    notes: Notes | None = None
    """Where warnings and infos go; None for those that nobody reads."""
    choices: Choices | None = None
    """How selectors were read; None for all samples."""
    is_inner: bool = False
    """Whether it is that of a subquery, for which nobody has taken memory yet."""

    def evaluate(self, expression: Expression) -> Value:
        """The value of an expression at each step.

        Raises:
            QueryExecutionError: the samples do not allow it (many-to-many, label sets that collide).
            QueryTooLargeError: an operation makes more values than `max_cells`, than there is memory for, or more
                labels than `budget` allows.
        """
        if self.known is None:
            return self._evaluate(expression)
        value = self.known.get(id(expression))
        if value is None:
            value = self.known[id(expression)] = self._evaluate(expression)
        return value

    def _evaluate(self, expression: Expression) -> Value:
        self.check()
        match expression:
            case Number(value):
                return Scalar(np.full(self.grid.count, value))
            case Text(value):
                return StringValue(value)
            case Selector():
                return evaluate_selector(self.samples(expression), self.times(expression), self.lookback_ms)
            case Negation(inner):
                value = self.evaluate(inner)
                if isinstance(value, Scalar):
                    return Scalar(-value.values)
                assert isinstance(value, Matrix)
                return drop_names(Matrix(labels=value.labels, values=-value.values, present=value.present))
            case Call():
                return self._call(expression)
            case Aggregation():
                return self._aggregation(expression)
            case Binary():
                return self._binary(expression)
            case RangeSelector() | Subquery():
                raise TypeError("a range has no value of its own outside of an instant query")

    def vector(self, expression: Expression) -> Matrix:
        value = self.evaluate(expression)
        assert isinstance(value, Matrix)
        return value

    def scalar(self, expression: Expression) -> Scalar:
        value = self.evaluate(expression)
        assert isinstance(value, Scalar)
        return value

    def times(self, selector: Selector) -> IntArray:
        """The time that each step of a selector looks at, int64[steps]."""
        return selected_times(selector, self.grid)

    def samples(self, selector: Selector) -> Samples:
        span = instant_span(selector, self.grid, self.lookback_ms)
        if self.fetch_newest is not None:
            return self._read(self.fetch_newest(selector, *span))
        level = self._level(selector, "")
        return self._read(self.fetch(selector, *span) if level is Level.RAW else self.fetch(selector, *span, level))

    def windows(self, selector: RangeSelector | Subquery, function: str = "") -> Windows:
        if isinstance(selector, Subquery):
            return cut_windows(
                self._subquery_samples(selector), selected_times(selector, self.grid), self.grid, selector.range_ms
            )
        level = self._level(selector, function)
        times, inner = self.times(selector.selector), selector.selector
        if level.is_of_minutes:
            minutes = self._read(self.fetch(inner, *minutes_span(selector, self.grid), level))
            return windows_between(minutes, *minute_edges(times, selector.range_ms), self.grid)
        span = range_span(selector, self.grid)
        samples = self.fetch(inner, *span) if level is Level.RAW else self.fetch(inner, *span, level)
        return cut_windows(self._read(samples), times, self.grid, selector.range_ms)

    def _level(self, selector: Selector | RangeSelector, function: str) -> Level:
        """The level at which a selector was read; what a rollup costs goes to the notes."""
        if not self.choices:
            return Level.RAW
        aligned = is_aligned(selector, self.grid)
        choice = self.choices.get(key_of(selector, function, is_aligned=aligned), RAW)
        if choice.info is not None and self.notes is not None:
            self.notes.rollups(choice.info)
        return choice.level

    def _read(self, samples: Samples) -> Samples:
        if self.is_inner:
            self.grow(len(samples.labels), len(samples.labels))
        return samples

    def _subquery_samples(self, subquery: Subquery) -> Samples:
        grid = subquery_grid(subquery, self.grid, self.subquery_step_ms)
        check_cells(1, grid.count, self.max_cells)
        if not grid.count:
            return samples_of(empty_matrix(0), grid)
        self.take(grid.count * WORK_BYTES)
        inner = replace(self, grid=grid, fetch_newest=None, known=None, all_steps=None, is_inner=True)
        matrix = inner.vector(subquery.expression)
        self.take(matrix.values.size * READ_BYTES)
        return samples_of(matrix, grid)

    def raw(self, selector: RangeSelector | Subquery) -> RawMatrix:
        """The samples of a range at the first step."""
        windows = self.windows(selector)
        samples = windows.samples
        bounds = zip(windows.first[:, 0].tolist(), windows.end[:, 0].tolist(), strict=True)
        return RawMatrix(
            [
                RawSeries(labels=labels, timestamps=samples.timestamps[first:end], values=samples.values[first:end])
                for labels, (first, end) in zip(samples.labels, bounds, strict=True)
                if end > first
            ]
        )

    def _call(self, call: Call) -> Value:
        function = FUNCTIONS.get(call.function) or UNNAMED[call.function]
        match function:
            case OverWindows():
                return self._over_windows(function, call)
            case OverElements():
                matrix = self.vector(call.arguments[0])
                scalars = [self.scalar(argument).values for argument in call.arguments[1:]]
                values = function.evaluate(matrix.values, *scalars)
                return drop_names(Matrix(labels=matrix.labels, values=values, present=matrix.present))
            case _:
                return function.evaluate(self, call)

    def _over_windows(self, function: OverWindows, call: Call) -> Matrix:
        position = 1 if function.scalar_first else 0
        selector = call.arguments[position]
        assert isinstance(selector, (RangeSelector, Subquery))
        scalars = [self.scalar(argument).values for argument in call.arguments if argument is not selector]
        windows = self.windows(selector, call.function)
        shape = windows.counts.shape
        if not len(windows.samples.timestamps):
            return Matrix(labels=[], values=np.zeros((0, shape[1])), present=np.zeros((0, shape[1]), dtype=np.bool_))
        evaluate = function.evaluate if windows.samples.minutes is None else ROLLED[call.function]
        values, present = evaluate(windows, *scalars)
        if self.notes is not None:
            self._note(self.notes, call, windows.samples.labels, present, scalars)
        matrix = Matrix(labels=windows.samples.labels, values=values, present=present)
        if function.keeps_name:
            return matrix
        if self.origins is not None and not _has_one_name(selector):
            self._check_origins(call, matrix, self.origins)
        return drop_names(matrix, strict=True)

    @staticmethod
    def _note(
        notes: Notes, call: Call, labels: Sequence[Labels], present: BoolArray, scalars: Sequence[FloatArray]
    ) -> None:
        if call.function in ("rate", "increase"):
            names = {one.get(METRIC_NAME, "") for one in labels}
            if not all(name.endswith(COUNTER_ENDINGS) for name in names):
                seen = np.flatnonzero(present.any(axis=1)).tolist()
                notes.counters((labels[row].get(METRIC_NAME, "") for row in seen), call.place(0))
        elif call.function == "quantile_over_time":
            notes.quantiles(scalars[0], call.place(0), np.logical_or.reduce(present, axis=0))

    @staticmethod
    def _check_origins(call: Call, matrix: Matrix, origins: Origins) -> None:
        """Series that become alike without their names are an error even where they never meet in one part."""
        known = origins.setdefault(id(call), {})
        for row in np.flatnonzero(matrix.present.any(axis=1)).tolist():
            full = label_key(matrix.labels[row])
            if known.setdefault(label_key(drop_labels(matrix.labels[row], RESERVED)), full) != full:
                raise QueryExecutionError(DUPLICATE_LABELS)

    def grow(self, series: int, new: int) -> None:
        """An operation is about to have `series` series, of which `new` are still to be made.

        Raises:
            QueryTooLargeError: they have more values than `max_cells`, or there is no memory for them.
        """
        check_cells(series, self.all_steps or self.grid.count, self.max_cells)
        self.check()
        self.take(new * (self.grid.count * WORK_BYTES + LABELS_BYTES))

    def _aggregation(self, aggregation: Aggregation) -> Matrix:
        matrix = self.vector(aggregation.expression)
        if isinstance(aggregation.parameter, Text):
            label = aggregation.parameter.value
            return count_values(matrix, aggregation, label, grow=self.grow, budget=self.budget)
        parameter = None if aggregation.parameter is None else self.scalar(aggregation.parameter).values
        if self.notes is not None and parameter is not None and aggregation.operator == "quantile":
            self.notes.quantiles(parameter, aggregation.place)
        if self.notes is not None and parameter is not None and aggregation.operator == "limit_ratio":
            self.notes.ratios(parameter, aggregation.place)
        return aggregate(matrix, aggregation, parameter)

    def _binary(self, binary: Binary) -> Value:
        left = self.evaluate(binary.left)
        if isinstance(left, Matrix):
            # It stays while the other is evaluated.
            self.take(len(left.labels) * (self.grid.count * CELL_BYTES + LABELS_BYTES))
        right = self.evaluate(binary.right)
        operator = binary.operator
        if isinstance(left, Scalar) and isinstance(right, Scalar):
            return Scalar(compute(operator, left.values, right.values, return_bool=True)[0])
        if isinstance(left, Matrix) and isinstance(right, Matrix):
            if operator in SET_OPERATORS:
                return combine_sets(operator, left, right, binary.matching)
            return combine_vectors(binary, left, right, grow=self.grow, budget=self.budget)
        if isinstance(left, Matrix) and isinstance(right, Scalar):
            values, kept = compute(operator, left.values, right.values[None, :], return_bool=binary.return_bool)
            return self._with_scalar(binary, left, values, kept & left.present)
        assert isinstance(left, Scalar)
        assert isinstance(right, Matrix)
        values, kept = compute(operator, left.values[None, :], right.values, return_bool=binary.return_bool)
        if operator in COMPARISON_OPERATORS and not binary.return_bool:
            # A comparison that filters gives the vector's value, on whichever side it stands.
            values = right.values
        return self._with_scalar(binary, right, values, kept & right.present)

    @staticmethod
    def _with_scalar(binary: Binary, vector: Matrix, values: np.ndarray, present: np.ndarray) -> Matrix:
        result = Matrix(labels=vector.labels, values=values, present=present)
        return drop_names(result) if binary.return_bool or binary.operator in ARITHMETIC_OPERATORS else result


def _has_one_name(node: RangeSelector | Subquery) -> bool:
    if isinstance(node, Subquery):
        return False
    matchers = node.selector.matchers
    return any(one.label == METRIC_NAME and one.operator is MatchOperator.EQUAL for one in matchers)
