"""Functions that need more than the values of their arguments: the tree, the grid, or the samples themselves."""

from collections.abc import Callable
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.functions import histogram, label_functions
from loadwatch_backend.series.promql.labels import (
    drop_names,
    is_name,
    label_key,
    merge_alike,
    stack,
    take_rows,
)
from loadwatch_backend.series.promql.parsing.expression import Call, Expression, RangeSelector, Selector, Subquery, Text
from loadwatch_backend.series.promql.samples import newest_rows
from loadwatch_backend.series.promql.value import FloatArray, IntArray, Matrix, Scalar, empty_matrix, unlabelled

if TYPE_CHECKING:
    # Which has a table of these functions.
    from loadwatch_backend.series.promql.evaluate import Evaluation

ElementFunction = Callable[..., FloatArray]
"""Values [series, steps] and scalars [steps] to values."""


def round_to(values: FloatArray, nearest: FloatArray | None = None) -> FloatArray:
    """The nearest multiple of `nearest` (1 by default); halves go up."""
    inverse = 1.0 / nearest if nearest is not None else np.ones(1)
    return np.floor(values * inverse + 0.5) / inverse


def sign(values: FloatArray) -> FloatArray:
    """-1, 0 or 1; NaN and -0 stay as they are."""
    return np.where(values < 0, -1.0, np.where(values > 0, 1.0, values))


def least_of(left: FloatArray, right: FloatArray) -> FloatArray:
    # Go's math.Min: minus infinity wins even over NaN.
    return np.where((left == -np.inf) | (right == -np.inf), -np.inf, np.minimum(left, right))


def greatest_of(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.where((left == np.inf) | (right == np.inf), np.inf, np.maximum(left, right))


def clamp_min(values: FloatArray, least: FloatArray) -> FloatArray:
    return greatest_of(least, values)


def clamp_max(values: FloatArray, greatest: FloatArray) -> FloatArray:
    return least_of(greatest, values)


def degrees(values: FloatArray) -> FloatArray:
    return values * 180 / np.pi


def radians(values: FloatArray) -> FloatArray:
    return values * np.pi / 180


ELEMENT_FUNCTIONS: dict[str, ElementFunction] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "round": round_to,
    "clamp_min": clamp_min,
    "clamp_max": clamp_max,
    "sgn": sign,
    "exp": np.exp,
    "ln": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "deg": degrees,
    "rad": radians,
}

_DAY = 86_400
_RANGE = 2.0**62
Days = npt.NDArray[np.datetime64]


def _days_from(unit: str) -> Callable[[IntArray, Days], npt.NDArray[Any]]:
    """How many days of their month or year have begun."""
    return lambda _, days: (days - days.astype(f"datetime64[{unit}]")).astype(np.int64) + 1


def _days_in_month(_seconds: IntArray, days: Days) -> npt.NDArray[Any]:
    months = days.astype("datetime64[M]")
    return (months + np.timedelta64(1, "M")).astype("datetime64[D]") - months.astype("datetime64[D]")


DATE_FUNCTIONS: dict[str, Callable[[IntArray, Days], npt.NDArray[Any]]] = {
    "minute": lambda seconds, _: seconds // 60 % 60,
    "hour": lambda seconds, _: seconds // 3600 % 24,
    # The epoch was a Thursday.
    "day_of_week": lambda seconds, _: (seconds // _DAY + 4) % 7,
    "day_of_month": _days_from("M"),
    "day_of_year": _days_from("Y"),
    "days_in_month": _days_in_month,
    "month": lambda _, days: days.astype("datetime64[M]").astype(np.int64) % 12 + 1,
    "year": lambda _, days: days.astype("datetime64[Y]").astype(np.int64) + 1970,
}
"""Parts of dates, from whole seconds since the epoch and the days that they are in."""


_NATURAL = cmp_to_key(label_functions.compare_naturally)
SpecialFunction = Callable[["Evaluation", Call], Matrix | Scalar]


def _text(expression: Expression) -> str:
    # The parser has checked the types; a string can only be a literal.
    assert isinstance(expression, Text)
    return expression.value


def time(evaluator: "Evaluation", _call: Call) -> Scalar:
    """Time of each step in seconds."""
    return Scalar(evaluator.grid.times_ms() / 1000)


def pi(evaluator: "Evaluation", _call: Call) -> Scalar:
    return Scalar(np.full(evaluator.grid.count, np.pi))


def scalar(evaluator: "Evaluation", call: Call) -> Scalar:
    """The value of the only series, NaN where there is none or more."""
    matrix = evaluator.vector(call.arguments[0])
    alone = matrix.present.sum(axis=0) == 1
    # One row at most is present where it counts.
    values = np.where(matrix.present, matrix.values, 0.0).sum(axis=0)
    return Scalar(np.where(alone, values, np.nan))


def vector(evaluator: "Evaluation", call: Call) -> Matrix:
    return unlabelled(evaluator.scalar(call.arguments[0]).values)


def timestamp(evaluator: "Evaluation", call: Call) -> Matrix:
    """Time of the sample behind a selector's value; of the evaluation, for any other vector."""
    argument = call.arguments[0]
    if isinstance(argument, Selector):
        samples = evaluator.samples(argument)
        rows, present = newest_rows(samples, evaluator.times(argument), evaluator.lookback_ms)
        times = samples.timestamps[rows] if len(samples.timestamps) else np.zeros(rows.shape, dtype=np.int64)
        return drop_names(Matrix(labels=samples.labels, values=times / 1000, present=present))
    matrix = evaluator.vector(argument)
    times = np.broadcast_to(evaluator.grid.times_ms() / 1000, matrix.values.shape)
    return drop_names(Matrix(labels=matrix.labels, values=np.ascontiguousarray(times), present=matrix.present))


def date_function(evaluator: "Evaluation", call: Call) -> Matrix:
    """A part of a date, of the values of a vector or of the time of the evaluation."""

    def part(values: FloatArray) -> FloatArray:
        # NaN and what no date can hold become the epoch.
        usable = np.isfinite(values) & (np.abs(values) < _RANGE)
        seconds = np.where(usable, values, 0.0).astype(np.int64)
        found = DATE_FUNCTIONS[call.function](seconds, (seconds // _DAY).astype("datetime64[D]"))
        return found.astype(np.int64).astype(np.float64)

    if not call.arguments:
        return unlabelled(part(evaluator.grid.times_ms() / 1000))
    matrix = evaluator.vector(call.arguments[0])
    return drop_names(Matrix(labels=matrix.labels, values=part(matrix.values), present=matrix.present))


def clamp(evaluator: "Evaluation", call: Call) -> Matrix:
    """Values kept between two bounds; nothing where the bounds are crossed."""
    matrix = evaluator.vector(call.arguments[0])
    least, greatest = (evaluator.scalar(argument).values for argument in call.arguments[1:])
    values = greatest_of(least, least_of(greatest, matrix.values))
    present = matrix.present & ~(greatest < least)[None, :]
    return drop_names(Matrix(labels=matrix.labels, values=values, present=present))


def _note_order(evaluator: "Evaluation", call: Call) -> None:
    if evaluator.notes is not None and evaluator.grid.count != 1:
        evaluator.notes.sorts_in_vain(call.own_place)


def sort(evaluator: "Evaluation", call: Call) -> Matrix:
    """`sort` and `sort_desc`: rising or falling values, NaN last; range queries have their own order."""
    matrix = evaluator.vector(call.arguments[0])
    _note_order(evaluator, call)
    if evaluator.grid.count != 1 or not len(matrix.labels):
        return matrix
    values = matrix.values[:, 0]
    order = np.lexsort((-values if call.function == "sort_desc" else values, np.isnan(values)))
    return take_rows(matrix, order.tolist())


def absent(evaluator: "Evaluation", call: Call) -> Matrix:
    return label_functions.absent(evaluator.vector(call.arguments[0]).present, call.arguments[0])


def absent_over_time(evaluator: "Evaluation", call: Call) -> Matrix:
    selector = call.arguments[0]
    assert isinstance(selector, (RangeSelector, Subquery))
    return label_functions.absent(evaluator.windows(selector, call.function).counts > 0, selector)


def label_replace(evaluator: "Evaluation", call: Call) -> Matrix:
    matrix, texts = evaluator.vector(call.arguments[0]), list(map(_text, call.arguments[1:]))
    return label_functions.label_replace(matrix, texts, evaluator.budget, evaluator.check)


def label_join(evaluator: "Evaluation", call: Call) -> Matrix:
    matrix, texts = evaluator.vector(call.arguments[0]), list(map(_text, call.arguments[1:]))
    return label_functions.label_join(matrix, texts, evaluator.budget, evaluator.check)


def histogram_quantile(evaluator: "Evaluation", call: Call) -> Matrix:
    q, matrix = evaluator.scalar(call.arguments[0]).values, evaluator.vector(call.arguments[1])
    if evaluator.notes is not None:
        evaluator.notes.quantiles(q, call.place(0))
        evaluator.notes.bucket_labels(histogram.bad_bounds(matrix), call.place(1))
    return histogram.histogram_quantile(q, matrix, _falling(evaluator, call.place(1)))


def _falling(evaluator: "Evaluation", place: str) -> histogram.Falling | None:
    notes = evaluator.notes
    if notes is None:
        return None
    times = evaluator.grid.times_ms()
    return lambda at, bounds, drops: notes.falling_buckets(place, bounds, drops, times[at])


def histogram_quantiles(evaluator: "Evaluation", call: Call) -> Matrix:
    vector, name, *quantiles = call.arguments
    label = _text(name)
    if not is_name(label):
        raise QueryExecutionError(f"invalid label name {label}")
    matrix = evaluator.vector(vector)
    values = [evaluator.scalar(one).values for one in quantiles]
    if evaluator.notes is not None:
        for place, q in enumerate(values, start=2):
            evaluator.notes.quantiles(q, call.place(place))
        evaluator.notes.bucket_labels(histogram.bad_bounds(matrix), call.place(0))
    falling = _falling(evaluator, call.place(0))
    found = [histogram.histogram_quantiles(q, matrix, label, falling) for q in values]
    return merge_alike(stack(found, evaluator.grid.count))


def histogram_fraction(evaluator: "Evaluation", call: Call) -> Matrix:
    lower, upper = (evaluator.scalar(one).values for one in call.arguments[:2])
    matrix = evaluator.vector(call.arguments[2])
    if evaluator.notes is not None:
        evaluator.notes.bucket_labels(histogram.bad_bounds(matrix), call.place(2))
    return histogram.histogram_fraction(lower, upper, matrix)


def of_native_histograms(evaluator: "Evaluation", call: Call) -> Matrix:
    """Nothing: what native histograms have, buckets of classic ones have not."""
    evaluator.vector(call.arguments[0])
    return empty_matrix(evaluator.grid.count)


def extreme_of(evaluator: "Evaluation", call: Call) -> Scalar:
    """`min_of` and `max_of`: the lesser or the greater of two numbers."""
    left, right = (evaluator.scalar(one).values for one in call.arguments)
    return Scalar(least_of(left, right) if call.function == "min_of" else greatest_of(left, right))


def of_the_query(_evaluator: "Evaluation", call: Call) -> Scalar:
    """`start()` and its like are numbers once a query has its times: `resolve` puts them there."""
    raise TypeError(f"{call.function}() was not resolved")


def sort_by_label(evaluator: "Evaluation", call: Call) -> Matrix:
    """`sort_by_label` and `sort_by_label_desc`: in the order of labels; range queries have their own order."""
    matrix = evaluator.vector(call.arguments[0])
    _note_order(evaluator, call)
    if evaluator.grid.count != 1:
        return matrix
    names = [_text(one) for one in call.arguments[1:]]

    def key(row: int) -> tuple[object, ...]:
        labels = matrix.labels[row]
        return (*(_NATURAL(labels.get(name, "")) for name in names), label_key(labels))

    falling = call.function == "sort_by_label_desc"
    return take_rows(matrix, sorted(range(len(matrix.labels)), key=key, reverse=falling))
