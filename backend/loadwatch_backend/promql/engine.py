"""The embedded PromQL engine over a `SampleStore`: the public face of this package.

    engine = Engine(store)
    matrix = engine.range('sum by (db_name) (rate(go_sql_wait_count_total[30s]))', start_ms, end_ms, step_ms)
    matrix = engine.instant("up == 0", time_ms)
    matrix = engine.at(time_ms).question().vector(parse_expression("up == 0"))

`Matrix` has `labels` (one mapping a series), `values` and `present` (both [series, steps]).
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.promql.errors import QueryParseError, QueryTimeoutError, QueryTooLargeError
from loadwatch_backend.promql.evaluate import Evaluation, Value
from loadwatch_backend.promql.expression import Aggregation, Call, Expression, RangeSelector, ValueType
from loadwatch_backend.promql.fetch import Fetched, FetchedInstant, plan_spans
from loadwatch_backend.promql.labels import in_label_order, without_empty
from loadwatch_backend.promql.parse import parse_expression, value_type
from loadwatch_backend.promql.value import Grid, Matrix, RawMatrix, Scalar, StringValue
from loadwatch_backend.store.port import SampleStore


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Limits and defaults of the engine."""

    lookback_ms: int = 300_000
    """How long the newest sample of a series counts as its present value."""
    max_steps: int = 11_000
    """Steps between the points of one range query, as in Prometheus."""
    max_samples: int = 50_000_000
    """Samples that one query may load, and cells that one of its vectors may have."""
    max_series: int = 100_000
    """Series that one query may load."""
    timeout_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The value of an instant query with its type."""

    type: ValueType
    value: Scalar | StringValue | Matrix | RawMatrix


class Engine:
    """Evaluates PromQL on one store. Safe to call from any thread."""

    def __init__(self, store: SampleStore, settings: EngineSettings | None = None) -> None:
        self.store = store
        self.settings = settings or EngineSettings()

    def instant(self, text: str, time_ms: int, *, lookback_ms: int | None = None) -> Matrix:
        """The vector at one instant: a matrix of one step, without absent series; a scalar is a series without labels.

        Raises:
            QueryParseError, QueryUnsupportedError: the text.
            QueryExecutionError, QueryTooLargeError, QueryTimeoutError: the evaluation.
            QueryLimitError: the store.
        """
        value = self.answer(text, time_ms, lookback_ms=lookback_ms).value
        if isinstance(value, (StringValue, RawMatrix)):
            raise QueryParseError(f"{text[:200]!r} is neither a vector nor a scalar")
        return _as_matrix(value)

    def answer(self, text: str, time_ms: int, *, lookback_ms: int | None = None) -> Answer:
        """The value of any expression at one instant, as Prometheus' instant queries give it; raises as `instant`."""
        expression = parse_expression(text)
        grid = Grid(start_ms=time_ms, step_ms=1, count=1)
        evaluation = self._evaluation(expression, grid, lookback_ms)
        kind = value_type(expression)
        with np.errstate(all="ignore"):
            if isinstance(expression, RangeSelector):
                return Answer(type=kind, value=evaluation.raw(expression))
            value = evaluation.evaluate(expression)
        if isinstance(value, Matrix):
            value = without_empty(value)
            if not _has_own_order(expression):
                value = in_label_order(value)
        return Answer(type=kind, value=value)

    def at(self, time_ms: int, *, lookback_ms: int | None = None) -> "Instant":
        """For many parsed expressions at one instant, which read each selector once; see `Instant`."""
        return Instant(self, time_ms, self.settings.lookback_ms if lookback_ms is None else lookback_ms)

    def range(self, text: str, start_ms: int, end_ms: int, step_ms: int, *, lookback_ms: int | None = None) -> Matrix:
        """The vector at start, start + step, ... up to end, sorted by labels; raises as `instant`."""
        return self.range_of(parse_expression(text), start_ms, end_ms, step_ms, lookback_ms=lookback_ms)

    def range_of(
        self, expression: Expression, start_ms: int, end_ms: int, step_ms: int, *, lookback_ms: int | None = None
    ) -> Matrix:
        """As `range`, of an expression that is parsed already."""
        kind = value_type(expression)
        if kind not in (ValueType.SCALAR, ValueType.VECTOR):
            raise QueryParseError(
                f'invalid expression type "{_TYPE_NAMES[kind]}" for range query, must be Scalar or instant Vector'
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
        with np.errstate(all="ignore"):
            value = self._evaluation(expression, grid, lookback_ms).evaluate(expression)
        assert isinstance(value, (Scalar, Matrix))
        return in_label_order(without_empty(_as_matrix(value)))

    def _evaluation(self, expression: Expression, grid: Grid, lookback_ms: int | None) -> Evaluation:
        lookback = self.settings.lookback_ms if lookback_ms is None else lookback_ms
        check_time = self.time_check()

        def check_size(fetched: Fetched) -> None:
            check_time()
            self.check_size(fetched.sample_count, fetched.series_count, grid.count)

        fetched = Fetched()
        fetched.load(plan_spans(expression, grid, lookback), self.store.select, check_size)
        return Evaluation(
            grid=grid,
            lookback_ms=lookback,
            fetch=fetched.get,
            max_cells=self.settings.max_samples,
            check=check_time,
        )

    def time_check(self) -> Callable[[], None]:
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
                f"the query loads more than {settings.max_samples} samples: ask for fewer series or a shorter range"
            )
        if series > settings.max_series:
            raise QueryTooLargeError(f"the query selects more than {settings.max_series} series: add label matchers")
        if series * steps > settings.max_samples:
            raise QueryTooLargeError(
                f"the query asks for {steps} points of each of {series} series, more than {settings.max_samples}"
                " in all: add label matchers or use a larger step"
            )


class Instant:
    """One instant at which many expressions are evaluated. For one thread; it is worth keeping for a moment only."""

    def __init__(self, engine: Engine, time_ms: int, lookback_ms: int) -> None:
        self._engine = engine
        self._fetched = FetchedInstant(engine.store, lookback_ms)
        self._lookback_ms = lookback_ms
        self.time_ms = time_ms

    def load(self, expressions: Iterable[Expression], offset_ms: int = 0) -> None:
        """Read what the expressions need, in one go: much less work than one after another.

        Raises:
            QueryLimitError: the store; all of it together may be too much where each alone is not.
        """
        self._fetched.load(expressions, _at(self.time_ms - offset_ms))

    def forget(self, metric: str) -> None:
        """Read series of this name again when they are asked for: they have got new samples."""
        self._fetched.forget(metric)

    def question(self, offset_ms: int = 0) -> "Question":
        """For expressions that share parts, at this instant or before it."""
        return Question(self._engine, self.time_ms - offset_ms, self._lookback_ms, self._fetched)


class Question:
    """Some expressions, whose common parts (the same objects) are evaluated once."""

    def __init__(self, engine: Engine, time_ms: int, lookback_ms: int, fetched: FetchedInstant) -> None:
        self._engine = engine
        self._fetched = fetched
        self._lookback_ms = lookback_ms
        self._grid = _at(time_ms)
        self._known: dict[int, Value] = {}
        self._expressions: list[Expression] = []
        self.time_ms = time_ms

    def vector(self, expression: Expression) -> Matrix:
        """The vector of a parsed expression, in no order; otherwise as `Engine.instant`, and raises as that."""
        # Kept, because `known` goes by identity.
        self._expressions.append(expression)
        check_time = self._engine.time_check()
        self._engine.check_size(*self._fetched.load([expression], self._grid), 1)
        evaluation = Evaluation(
            grid=self._grid,
            lookback_ms=self._lookback_ms,
            fetch=self._fetched.range,
            fetch_newest=self._fetched.newest,
            max_cells=self._engine.settings.max_samples,
            check=check_time,
            known=self._known,
        )
        with np.errstate(all="ignore"):
            value = evaluation.evaluate(expression)
        if isinstance(value, StringValue):
            raise QueryParseError("a text is neither a vector nor a scalar")
        return without_empty(_as_matrix(value))


def _at(time_ms: int) -> Grid:
    return Grid(start_ms=time_ms, step_ms=1, count=1)


_TYPE_NAMES = {
    ValueType.STRING: "string",
    ValueType.MATRIX: "range vector",
    ValueType.SCALAR: "scalar",
    ValueType.VECTOR: "instant vector",
}


def _as_matrix(value: Scalar | Matrix) -> Matrix:
    if isinstance(value, Matrix):
        return value
    values = value.values[None, :]
    return Matrix(labels=[{}], values=values, present=np.ones(values.shape, dtype=np.bool_))


def _has_own_order(expression: Expression) -> bool:
    """Whether the order of an instant query's result is part of it."""
    match expression:
        case Call(function="sort" | "sort_desc") | Aggregation(operator="topk" | "bottomk"):
            return True
        case _:
            return False
