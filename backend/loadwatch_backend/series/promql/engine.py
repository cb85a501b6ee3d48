"""The embedded PromQL engine over a `SampleStore`: the public face of this package.

    engine = Engine(store)
    matrix = engine.range('sum by (db_name) (rate(go_sql_wait_count_total[30s]))', start_ms, end_ms, step_ms)
    matrix = engine.instant("up == 0", time_ms)
    matrix = engine.at(time_ms).question().vector(parse_expression("up == 0"))

`Matrix` has `labels` (one mapping a series), `values` and `present` (both [series, steps]).
"""

import math
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from loadwatch_backend.series.promql.admission import (
    CELL_BYTES,
    LABELS_BYTES,
    MEBIBYTE,
    READ_BYTES,
    WORK_BYTES,
    MemoryPool,
    Ticket,
    select_within,
)
from loadwatch_backend.series.promql.errors import QueryParseError, QueryTimeoutError, QueryTooLargeError
from loadwatch_backend.series.promql.evaluate import Evaluation, Value
from loadwatch_backend.series.promql.fetch import Fetched, FetchedInstant, Source, plan_spans
from loadwatch_backend.series.promql.functions.covered import read_cover
from loadwatch_backend.series.promql.labels import LabelBudget, in_label_order, without_empty
from loadwatch_backend.series.promql.levels import Levels, behind_ms, is_worth, wanted_by
from loadwatch_backend.series.promql.notes import Notes
from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Binary,
    Call,
    Cardinality,
    Expression,
    Matching,
    Negation,
    Number,
    RangeSelector,
    Selector,
    Subquery,
    Text,
    ValueType,
)
from loadwatch_backend.series.promql.parsing.parse import TYPE_NAMES, parse_expression, value_type
from loadwatch_backend.series.promql.parsing.resolve import QueryTimes, resolve
from loadwatch_backend.series.promql.samples import Samples
from loadwatch_backend.series.promql.slices import Assembly, SlicedRange
from loadwatch_backend.series.promql.value import Grid, Matrix, RawMatrix, Scalar, StringValue, empty_matrix, unlabelled
from loadwatch_backend.series.store.errors import EngineAnswerError
from loadwatch_backend.series.store.levels import MINUTE_MS, LevelledReader
from loadwatch_backend.series.store.port import Matcher, QueryPasser, Reader, Select, Selection, quoted
from loadwatch_backend.series.store.prometheus.reading import label_text, matrix_rows, selector_text

_GROUPS = {Cardinality.MANY_TO_ONE: "group_left", Cardinality.ONE_TO_MANY: "group_right"}


def expression_text(node: Expression, conditions: Sequence[Matcher] = (), lookback_ms: int | None = None) -> str:
    """The text of a resolved expression, whose selectors also meet the conditions and look back so far.

    The rate that charts draw, which no engine has, becomes the usual one. Not every engine takes a look-back beside
    the text.

    Raises:
        ValueError: it has something that no engine knows.
    """

    def text(inner: Expression) -> str:
        return expression_text(inner, conditions, lookback_ms)

    match node:
        case Number(value):
            return _number(value)
        case Text(value):
            return quoted(value)
        case Selector() if lookback_ms is not None:
            return f"last_over_time({text(RangeSelector(selector=node, range_ms=lookback_ms))})"
        case Selector():
            return selector_text((*node.matchers, *conditions)) + _modifiers(node)
        case RangeSelector(selector=inner):
            return f"{selector_text((*inner.matchers, *conditions))}[{node.range_ms}ms]{_modifiers(inner)}"
        case Subquery():
            step = "" if node.step_ms is None else f"{node.step_ms}ms"
            return f"({text(node.expression)})[{node.range_ms}ms:{step}]{_modifiers(node)}"
        case Call(function="timestamp", arguments=(Selector() as inner,)):
            return f"timestamp({expression_text(inner, conditions)})"
        case Call():
            if (rate := read_cover(node)) is not None:
                return f"{rate[0]}({text(rate[1])})"
            return f"{node.function}({', '.join(map(text, node.arguments))})"
        case Aggregation():
            by = f" {'without' if node.without else 'by'} {_names(node.labels)}" if node.labels or node.without else ""
            parameter = "" if node.parameter is None else f"{text(node.parameter)}, "
            return f"{node.operator}{by} ({parameter}{text(node.expression)})"
        case Negation(inner):
            return f"-({text(inner)})"
        case Binary():
            bool_word = " bool" if node.return_bool else ""
            left, right = text(node.left), text(node.right)
            return f"({left}) {node.operator}{bool_word}{_matching(node.matching)} ({right})"


def _modifiers(node: Selector | Subquery) -> str:
    at = "" if node.at_ms is None else f" @ {node.at_ms / 1000:.3f}"
    return at + (f" offset {node.offset_ms}ms" if node.offset_ms else "")


def _matching(matching: Matching) -> str:
    if matching.fill_left is not None or matching.fill_right is not None:
        raise ValueError("fill modifiers are Loadwatch's own")
    found = ""
    if matching.on or matching.labels:
        found = f" {'on' if matching.on else 'ignoring'} {_names(matching.labels)}"
    if matching.cardinality in _GROUPS:
        found += f" {_GROUPS[matching.cardinality]} {_names(matching.include)}"
    return found


def _names(labels: Sequence[str]) -> str:
    return f"({', '.join(map(label_text, labels))})"


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"


def pass_range(store: QueryPasser, text: str, grid: Grid, ticket: Ticket) -> Matrix:
    """What the engine gives for a range, in its own semantics; its memory stays taken.

    Raises:
        EngineAnswerError: the engine's own error.
        EngineAwayError, QueryLimitError, QueryMemoryError, CancelledError.
    """
    pairs = [
        ("query", text),
        ("start", f"{grid.start_ms / 1000:.3f}"),
        ("end", f"{grid.end_ms / 1000:.3f}"),
        ("step", f"{grid.step_ms / 1000:.3f}"),
        # VictoriaMetrics moves the steps where it may cache.
        ("nocache", "1"),
    ]
    rows = matrix_rows(b"".join(store.query("query_range", pairs, ticket.cancellation)))
    ticket.take(len(rows) * (grid.count * CELL_BYTES + LABELS_BYTES))
    values, present = np.zeros((len(rows), grid.count)), np.zeros((len(rows), grid.count), np.bool_)
    for row, (_, times, found) in enumerate(rows):
        steps = (times - grid.start_ms) // grid.step_ms
        values[row, steps], present[row, steps] = found, True
    return Matrix(labels=[labels for labels, _, _ in rows], values=values, present=present)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    lookback_ms: int = 300_000
    """How long the newest sample of a series counts as its present value."""
    subquery_step_ms: int = 60_000
    """Default step of subqueries: Prometheus' default evaluation interval."""
    max_steps: int = 11_000
    """Steps between the points of one range query, as in Prometheus."""
    max_samples: int = 50_000_000
    """Samples that one query may load, and cells that one of its vectors may have over all steps."""
    max_series: int = 100_000
    max_label_length: int = 4096
    """Characters of the name or value of a label that a query makes."""
    max_new_labels: int = 32 << 20
    """Characters of all labels that one query makes."""
    timeout_seconds: float = 60.0
    answer_bytes: int = 256 * MEBIBYTE
    """Most bytes of an answer over HTTP."""
    slice_samples: int = 1_000_000
    """Samples that are read at once, or fewer: what is more is read and evaluated slice by slice."""
    slice_cells: int = 250_000
    """Points that an operation makes at once, or fewer."""

    def scaled(self, by: float) -> "EngineSettings":
        names = ("max_samples", "max_series", "answer_bytes")
        return replace(self, **{name: int(getattr(self, name) * by) for name in names})


class QueryResult(NamedTuple):
    type: ValueType
    value: Scalar | StringValue | Matrix | RawMatrix


class Engine:
    """Evaluates PromQL on one store. Safe to call from any thread.

    Queries take their memory from `memory`, each with a ticket of its own, given back with its return; or all with
    the `ticket` of whoever asks, which then holds their results too.
    """

    def __init__(
        self,
        store: Reader,
        settings: EngineSettings | None = None,
        *,
        memory: MemoryPool | None = None,
    ) -> None:
        self.store = store
        self.select: Select = store.select
        self._conditions: Sequence[Matcher] = ()
        """What `select` adds to each selector."""
        self.settings = settings or EngineSettings()
        self.memory = memory or MemoryPool(1024 * MEBIBYTE, 256 * MEBIBYTE)
        self._ticket: Ticket | None = None

    def bound(self, ticket: Ticket, select: Select | None = None, conditions: Sequence[Matcher] = ()) -> "Engine":
        """The same engine for one who asks, perhaps with a `select` that meets conditions besides."""
        bound = copy(self)
        bound._ticket, bound.select = ticket, select or self.select
        bound._conditions = conditions or self._conditions
        return bound

    @contextmanager
    def ticket(self) -> Generator[Ticket]:
        """What the queries within the block take their memory by."""
        if self._ticket is not None:
            yield self._ticket
            return
        own = self.memory.ticket()
        try:
            yield own
        finally:
            own.close()

    def instant(self, text: str, time_ms: int, *, lookback_ms: int | None = None) -> Matrix:
        """The vector at one instant: a matrix of one step, without absent series; a scalar is a series without labels.

        Raises:
            QueryParseError, QueryUnsupportedError: the text.
            QueryExecutionError, QueryTooLargeError, QueryTimeoutError: the evaluation.
            QueryBusyError: others hold the memory; CancelledError: the ticket's owner has gone.
            QueryLimitError: the store.
        """
        value = self.answer(text, time_ms, lookback_ms=lookback_ms).value
        if isinstance(value, (StringValue, RawMatrix)):
            raise QueryParseError(f"{text[:200]!r} is neither a vector nor a scalar")
        return _as_matrix(value)

    def answer(
        self, text: str, time_ms: int, *, lookback_ms: int | None = None, notes: Notes | None = None
    ) -> QueryResult:
        """The value of any expression at one instant, as Prometheus' instant queries give it; raises as `instant`."""
        expression = resolved(parse_expression(text), QueryTimes(start_ms=time_ms, end_ms=time_ms))
        # A step that is none, but as good as any: the instant alone decides whether it is at the edge of a minute.
        grid = Grid(start_ms=time_ms, step_ms=MINUTE_MS, count=1)
        kind = value_type(expression)
        if isinstance(expression, RangeSelector | Subquery):
            return QueryResult(type=kind, value=self._raw(expression, grid, lookback_ms, notes))
        value = self._evaluate(expression, grid, lookback_ms, notes)
        if isinstance(value, Matrix):
            value = without_empty(value)
            if not _has_own_order(expression):
                value = in_label_order(value)
        return QueryResult(type=kind, value=value)

    def at(self, time_ms: int, *, lookback_ms: int | None = None) -> "Instant":
        """For many parsed expressions at one instant, which read each selector once; see `Instant`."""
        return Instant(self, time_ms, self.settings.lookback_ms if lookback_ms is None else lookback_ms)

    def range(
        self,
        asked_for: str | Expression,
        start_ms: int,
        end_ms: int,
        step_ms: int,
        *,
        lookback_ms: int | None = None,
        notes: Notes | None = None,
    ) -> Matrix:
        """The vector at start, start + step, ... up to end, sorted by labels; raises as `instant`."""
        expression = parse_expression(asked_for) if isinstance(asked_for, str) else asked_for
        kind = value_type(expression)
        if kind not in (ValueType.SCALAR, ValueType.VECTOR):
            raise QueryParseError(
                f'invalid expression type "{TYPE_NAMES[kind]}" for range query, must be Scalar or instant Vector'
            )
        if step_ms <= 0:
            raise QueryParseError("zero or negative query resolution step widths are not accepted: try 1s or more")
        if end_ms < start_ms:
            raise QueryParseError("end timestamp must not be before start time")
        grid = Grid(start_ms=start_ms, step_ms=step_ms, count=(end_ms - start_ms) // step_ms + 1)
        if grid.count - 1 > self.settings.max_steps:
            raise QueryTooLargeError(
                f"the query asks for {grid.count - 1} steps, more than {self.settings.max_steps}:"
                " use a larger step or a shorter range"
            )
        known = resolved(expression, QueryTimes(start_ms=start_ms, end_ms=end_ms, step_ms=step_ms))
        with self.ticket() as ticket:
            asked = self.bound(ticket)
            passed = asked._pass_on(known, grid, lookback_ms)
            count = passed.values.shape[1]
            value: Value = passed
            if count < grid.count:
                value = asked._evaluate(known, grid.part(count, grid.count - count), lookback_ms, notes)
            assert isinstance(value, (Scalar, Matrix))
            if 0 < count < grid.count:
                whole = Assembly(grid.count, ticket)
                whole.put(passed, 0)
                whole.put(value, count)
                value = whole.value()
            matrix = _as_matrix(value)
            # Taking rows out, or in another order, makes a copy.
            with ticket.working(matrix.values.size * CELL_BYTES):
                return in_label_order(without_empty(matrix))

    def _pass_on(self, expression: Expression, grid: Grid, lookback_ms: int | None) -> Matrix:
        """The first steps, as the store's own engine gives them.

        None where it has no such engine, it may not show all of their samples yet, or it does not take the expression.
        """
        store = self.store
        if not isinstance(store, QueryPasser):
            return empty_matrix(0)
        reads = wanted_by(expression, grid, self.settings.lookback_ms, self.settings.subquery_step_ms)
        shown_ms = store.shown_ms([(*matchers, *self._conditions) for matchers in {one.matchers for one in reads}])
        if shown_ms < grid.start_ms:
            return empty_matrix(0)
        passed = grid.part(0, min((shown_ms - grid.start_ms) // grid.step_ms + 1, grid.count))
        lookback = None if lookback_ms == self.settings.lookback_ms else lookback_ms
        with self.ticket() as ticket, suppress(ValueError, EngineAnswerError):
            return pass_range(store, expression_text(expression, self._conditions, lookback), passed, ticket)
        return empty_matrix(0)

    def _evaluate(self, expression: Expression, grid: Grid, lookback_ms: int | None, notes: Notes | None) -> Value:
        with self.ticket() as ticket, ticket.counting(), np.errstate(all="ignore"):
            return SlicedRange(
                select=self.select,
                expression=expression,
                # Each slice has samples of its own.
                evaluation=self.evaluation(grid, Fetched().get, ticket, lookback_ms, notes),
                ticket=ticket,
                slice_samples=self.settings.slice_samples,
                slice_cells=self.settings.slice_cells,
                check_size=self.check_size,
                levels=self._levels(expression, grid, lookback_ms, notes),
            ).evaluate(grid)

    def _levels(
        self, expression: Expression, grid: Grid, lookback_ms: int | None, notes: Notes | None
    ) -> Levels | None:
        """The levels that the store has for the expression; None where it has no rollups."""
        if not isinstance(self.store, LevelledReader):
            return None
        behind = behind_ms(expression, self.settings.lookback_ms if lookback_ms is None else lookback_ms)
        return Levels(whole=self.store.whole_spans(), tells=notes is not None, is_worth=is_worth(grid, behind))

    def _raw(
        self, expression: RangeSelector | Subquery, grid: Grid, lookback_ms: int | None, notes: Notes | None
    ) -> RawMatrix:
        fetched = Fetched()

        def check(found: Fetched) -> None:
            evaluation.check()
            self.check_size(found.sample_count, found.series_count, 1)

        with self.ticket() as ticket, ticket.counting(), np.errstate(all="ignore"):
            evaluation = self.evaluation(grid, fetched.get, ticket, lookback_ms, notes)

            def select(source: Source, start_ms: int, end_ms: int) -> Selection:
                most = min(self.settings.max_samples - fetched.sample_count, ticket.room_bytes // 2 // READ_BYTES)
                return select_within(self.select, ticket, most, source, (start_ms, end_ms))

            levels = self._levels(expression, grid, lookback_ms, notes)
            plan, choices = plan_spans(expression, grid, evaluation.lookback_ms, self.settings.subquery_step_ms, levels)
            fetched.load(plan, select, check)
            return replace(evaluation, choices=choices).raw(expression)

    def evaluation(
        self,
        grid: Grid,
        fetch: Callable[..., Samples],
        ticket: Ticket,
        lookback_ms: int | None,
        notes: Notes | None = None,
    ) -> Evaluation:
        settings = self.settings
        return Evaluation(
            grid=grid,
            lookback_ms=settings.lookback_ms if lookback_ms is None else lookback_ms,
            fetch=fetch,
            max_cells=settings.max_samples,
            budget=LabelBudget(settings.max_label_length, settings.max_new_labels),
            check=self._time_check(),
            take=ticket.take,
            subquery_step_ms=settings.subquery_step_ms,
            notes=notes,
        )

    def _time_check(self) -> Callable[[], None]:
        """Raises QueryTimeoutError, when it is called after the time that a query has from now on."""
        deadline = time.monotonic() + self.settings.timeout_seconds

        def check() -> None:
            if time.monotonic() > deadline:
                raise QueryTimeoutError(
                    f"the query took longer than {self.settings.timeout_seconds:g} s: ask for fewer series, a shorter"
                    " range or a larger step"
                )

        return check

    def check_size(self, samples: int, series: int, steps: int) -> None:
        """Raises QueryTooLargeError when a query reads more than it may."""
        settings = self.settings
        if samples > settings.max_samples:
            raise QueryTooLargeError(
                f"the query loads more than {settings.max_samples} samples: ask for fewer series or a shorter range, or"
                " raise LOADWATCH_QUERY_MEMORY_BYTES"
            )
        if series > settings.max_series:
            raise QueryTooLargeError(
                f"the query selects more than {settings.max_series} series: add label matchers, or raise"
                " LOADWATCH_QUERY_MEMORY_BYTES"
            )
        if series * steps > settings.max_samples:
            raise QueryTooLargeError(
                f"the query asks for {steps} points of each of {series} series, more than {settings.max_samples}"
                " in all: add label matchers, use a larger step, or raise LOADWATCH_QUERY_MEMORY_BYTES"
            )


class Instant:
    """One instant at which many expressions are evaluated. For one thread; it is worth keeping for a moment only.

    It holds the memory of what it has read for as long as it lives.
    """

    def __init__(self, engine: Engine, time_ms: int, lookback_ms: int) -> None:
        self.engine = engine
        self.ticket = engine.memory.ticket()
        weakref.finalize(self, self.ticket.close)
        self.fetched = FetchedInstant(engine.store, lookback_ms, engine.settings.subquery_step_ms, self.ticket)
        self.lookback_ms = lookback_ms
        self.time_ms = time_ms

    def load(self, expressions: Iterable[Expression], offset_ms: int = 0) -> None:
        """Read what the expressions need, in one go: much less work than one after another.

        Raises:
            QueryLimitError: the store; all of it together may be too much where each alone is not.
        """
        time_ms = self.time_ms - offset_ms
        times = QueryTimes(start_ms=time_ms, end_ms=time_ms)
        self.fetched.load([resolved(one, times) for one in expressions], _at(time_ms))

    def forget(self, metric: str) -> None:
        """Read series of this name again when they are asked for: they have got new samples."""
        self.fetched.forget(metric)

    def question(self, offset_ms: int = 0) -> "Question":
        return Question(self, self.time_ms - offset_ms)


class Question:
    """Some expressions, whose common parts (the same objects) are evaluated once."""

    def __init__(self, instant: Instant, time_ms: int) -> None:
        # Its ticket is closed when it goes.
        self._instant = instant
        self._grid = _at(time_ms)
        self._known: dict[int, Value] = {}
        self._expressions: list[Expression] = []
        self.time_ms = time_ms

    def vector(self, expression: Expression) -> Matrix:
        """The vector of a parsed expression, in no order; otherwise as `Engine.instant`, and raises as that."""
        expression = resolved(expression, QueryTimes(start_ms=self.time_ms, end_ms=self.time_ms))
        # Kept, because `known` goes by identity.
        self._expressions.append(expression)
        engine, ticket, fetched = self._instant.engine, self._instant.ticket, self._instant.fetched
        evaluation = engine.evaluation(self._grid, fetched.range, ticket, self._instant.lookback_ms)
        samples, series = fetched.load([expression], self._grid)
        engine.check_size(samples, series, 1)
        evaluation = replace(evaluation, fetch_newest=fetched.newest, known=self._known)
        with ticket.counting(), np.errstate(all="ignore"), ticket.working(series * (WORK_BYTES + LABELS_BYTES)):
            value = evaluation.evaluate(expression)
        if isinstance(value, StringValue):
            raise QueryParseError("a text is neither a vector nor a scalar")
        return without_empty(_as_matrix(value))


def resolved(expression: Expression, times: QueryTimes) -> Expression:
    """The expression at these times of a query.

    Raises:
        QueryParseError: arithmetic of durations that gives none for this step and range.
    """
    try:
        return resolve(expression, times)
    except ValueError as error:
        raise QueryParseError(f"a duration of the expression cannot be used: {error}") from error


def _at(time_ms: int) -> Grid:
    return Grid(start_ms=time_ms, step_ms=1, count=1)


def _as_matrix(value: Scalar | Matrix) -> Matrix:
    return value if isinstance(value, Matrix) else unlabelled(value.values)


def _has_own_order(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return expression.function in ("sort", "sort_desc", "sort_by_label", "sort_by_label_desc")
    return isinstance(expression, Aggregation) and expression.operator in ("topk", "bottomk")
