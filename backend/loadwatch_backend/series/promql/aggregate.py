"""Aggregations over groups of series, at all steps at once.

Source of the arithmetic: promql/engine.go (aggregation, aggregationK, aggregationCountValues).
"""

import hashlib
from collections.abc import Callable

import numpy as np

from loadwatch_backend.series.promql.blocks import may_overflow, two_sum
from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.functions.over_time import interpolate_quantile, sort_nan_first
from loadwatch_backend.series.promql.labels import GroupKey, LabelBudget, grouping, is_name, label_key, take_rows
from loadwatch_backend.series.promql.numbers import format_number
from loadwatch_backend.series.promql.parsing.expression import Aggregation
from loadwatch_backend.series.promql.value import BoolArray, FloatArray, IntArray, Matrix, empty_matrix
from loadwatch_backend.series.store.port import Labels


class _Groups:
    """Series sorted by group: `order` their rows, `starts` where each group begins, `labels` one set for each."""

    def __init__(self, matrix: Matrix, aggregation: Aggregation) -> None:
        numbers: dict[GroupKey, int] = {}
        self.labels: list[Labels] = []
        key, label = grouping(aggregation.labels, kept=not aggregation.without)
        of_row: list[int] = []
        for labels in matrix.labels:
            number = numbers.setdefault(key(labels), len(numbers))
            if number == len(self.labels):
                self.labels.append(label(labels))
            of_row.append(number)
        self.of_row = np.asarray(of_row, dtype=np.int64)
        self.order = np.argsort(self.of_row, kind="stable")
        self.starts = np.searchsorted(self.of_row[self.order], np.arange(len(self.labels)))

    def rows(self) -> list[IntArray]:
        return np.split(self.order, self.starts[1:])


def aggregate(matrix: Matrix, aggregation: Aggregation, parameter: FloatArray | None) -> Matrix:
    """The aggregation of a vector; `parameter` is k or q at each step."""
    operator = aggregation.operator
    if parameter is not None and operator in ("topk", "bottomk", "limitk"):
        _check_k(parameter)
    if operator == "limit_ratio" and parameter is not None and np.isnan(parameter).any():
        raise QueryExecutionError("Ratio value is NaN")
    if not len(matrix.labels):
        return matrix
    groups = _Groups(matrix, aggregation)
    if parameter is None:
        present = np.logical_or.reduceat(matrix.present[groups.order], groups.starts, axis=0)
        return Matrix(labels=groups.labels, values=_REDUCTIONS[operator](matrix, groups), present=present)
    if operator == "quantile":
        return _quantile(matrix, groups, parameter)
    if operator == "limit_ratio":
        return _limit_ratio(matrix, parameter)
    if parameter.max() < 1:
        return empty_matrix(matrix.values.shape[1])
    # As an integer, k is cut towards zero.
    limit = np.clip(np.trunc(parameter), 0, len(matrix.labels)).astype(np.int64)
    if operator == "limitk":
        return _limit_k(matrix, groups, limit)
    return _select_k(matrix, groups, limit, largest=operator == "topk")


def _counts(matrix: Matrix, groups: _Groups) -> FloatArray:
    return np.add.reduceat(matrix.present[groups.order].astype(np.float64), groups.starts, axis=0)


def _sum(matrix: Matrix, groups: _Groups) -> FloatArray:
    """Sums in pairs with compensation for rounding (Prometheus: Kahan); -0.0 stands for what is absent."""
    values = np.where(matrix.present[groups.order], matrix.values[groups.order], -0.0)
    if may_overflow(values, len(values)):
        return _sum_in_order(values, groups)
    lost = np.zeros_like(values)
    starts, total = groups.starts, len(groups.order)
    sizes = np.diff(np.append(starts, total))
    while (sizes > 1).any():
        halves = (sizes + 1) // 2
        new_starts = np.concatenate(([0], np.cumsum(halves)[:-1]))
        # The i-th row of a group meets its (i + half)-th; what has no partner stays as it is.
        inside = np.arange(int(halves.sum())) - np.repeat(new_starts, halves)
        left = np.repeat(starts, halves) + inside
        paired = inside + np.repeat(halves, halves) < np.repeat(sizes, halves)
        right = left[paired] + np.repeat(halves, halves)[paired]
        new, new_lost = values[left], lost[left]
        new[paired], rounded = two_sum(new[paired], values[right])
        new_lost[paired] += lost[right] + rounded
        values, lost, starts, sizes = new, new_lost, new_starts, halves
    return np.where(np.isfinite(values), values + lost, values)


def _sum_in_order(values: FloatArray, groups: _Groups) -> FloatArray:
    """Sums one series after another: where a sum may overflow, the order decides what comes out."""
    sums: list[FloatArray] = []
    for rows in np.split(values, groups.starts[1:]):
        total: FloatArray = rows[0]
        lost = np.zeros_like(total)
        for row in rows[1:]:
            total, rounded = two_sum(total, row)
            lost = np.where(np.isinf(total), 0.0, lost + rounded)
        sums.append(total + lost)
    return np.stack(sums)


def _avg(matrix: Matrix, groups: _Groups) -> FloatArray:
    counts = _counts(matrix, groups)
    means = _sum(matrix, groups) / counts
    if np.isinf(means).any():
        # The sum may have overflowed where the mean does not.
        scaled = Matrix(labels=matrix.labels, values=matrix.values / counts[groups.of_row], present=matrix.present)
        means = np.where(np.isinf(means), _sum(scaled, groups), means)
    return means


def _extreme(reducer: np.ufunc) -> Callable[[Matrix, _Groups], FloatArray]:
    def reduce(matrix: Matrix, groups: _Groups) -> FloatArray:
        values = np.where(matrix.present[groups.order], matrix.values[groups.order], np.nan)
        return reducer.reduceat(values, groups.starts, axis=0)

    return reduce


def _stdvar(matrix: Matrix, groups: _Groups) -> FloatArray:
    counts = _counts(matrix, groups)
    means = _sum(matrix, groups) / counts
    deviations = matrix.values - means[groups.of_row]
    squares = Matrix(labels=matrix.labels, values=deviations * deviations, present=matrix.present)
    # Of equal values the mean may be off by a bit, and what lies around them is nothing.
    level = _extreme(np.fmin)(matrix, groups) == _extreme(np.fmax)(matrix, groups)
    level &= ~np.isinf(means)
    return np.where(level & ~np.isnan(means), 0.0, _sum(squares, groups) / counts)


_REDUCTIONS: dict[str, Callable[[Matrix, _Groups], FloatArray]] = {
    "sum": _sum,
    "avg": _avg,
    "min": _extreme(np.fmin),
    "max": _extreme(np.fmax),
    "count": _counts,
    "group": lambda matrix, groups: np.ones((len(groups.labels), matrix.values.shape[1])),
    "stddev": lambda matrix, groups: np.sqrt(_stdvar(matrix, groups)),
    "stdvar": _stdvar,
}


def _quantile(matrix: Matrix, groups: _Groups, q: FloatArray) -> Matrix:
    values = np.zeros((len(groups.labels), matrix.values.shape[1]))
    present = np.zeros(values.shape, dtype=np.bool_)
    for number, rows in enumerate(groups.rows()):
        alive = matrix.present[rows]
        counts = alive.sum(axis=0)
        present[number] = counts > 0
        for count in np.unique(counts[counts > 0]).tolist():
            steps = np.flatnonzero(counts == count)
            # [steps, count]: the transposed mask walks step by step.
            chosen = matrix.values[rows][:, steps].T[alive[:, steps].T].reshape(len(steps), count)
            values[number, steps] = interpolate_quantile(sort_nan_first(chosen), q[steps])
    return Matrix(labels=groups.labels, values=values, present=present)


def _check_k(k: FloatArray) -> None:
    if np.fmax.reduce(k, initial=-np.inf) < 1 and not np.isnan(k).all():
        return
    if np.isnan(k).any():
        raise QueryExecutionError("Parameter value is NaN")
    if k.min() <= -(2.0**63):
        raise QueryExecutionError(f"Scalar value {format_number(float(k.min()))} underflows int64")
    if k.max() >= 2.0**63:
        raise QueryExecutionError(f"Scalar value {format_number(float(k.max()))} overflows int64")


def _limit_k(matrix: Matrix, groups: _Groups, limit: IntArray) -> Matrix:
    """The first k series of each group at each step, in the order of their labels."""
    chosen = np.zeros(matrix.present.shape, dtype=np.bool_)
    keys = [label_key(labels) for labels in matrix.labels]
    for rows in groups.rows():
        ordered = np.asarray(sorted(rows.tolist(), key=keys.__getitem__), dtype=np.int64)
        alive = matrix.present[ordered]
        chosen[ordered] = alive & (np.cumsum(alive, axis=0) <= limit[None, :])
    return Matrix(labels=matrix.labels, values=matrix.values, present=chosen)


def _limit_ratio(matrix: Matrix, ratio: FloatArray) -> Matrix:
    """The series whose hash lies in the lower part of all (`ratio` above zero), or in the upper one."""
    places = np.asarray([_place(labels) for labels in matrix.labels])[:, None]
    ratio = np.clip(ratio, -1.0, 1.0)[None, :]
    chosen = np.where(ratio >= 0, places < ratio, places >= 1.0 + ratio)
    return Matrix(labels=matrix.labels, values=matrix.values, present=matrix.present & chosen)


def _place(labels: Labels) -> float:
    """A hash in [0, 1): the same for the same labels, evenly spread over all."""
    digest = hashlib.blake2b(repr(label_key(labels)).encode(errors="surrogatepass"), digest_size=6).digest()
    return int.from_bytes(digest) / 2**48


def _select_k(matrix: Matrix, groups: _Groups, limit: IntArray, *, largest: bool) -> Matrix:
    """The k greatest or least series of each group at each step, as they are; NaN comes after every number."""
    rank = _ranks(matrix, groups, largest=largest)
    chosen = matrix.present & (rank < limit)
    if matrix.values.shape[1] > 1:
        return Matrix(labels=matrix.labels, values=matrix.values, present=chosen)
    rows = np.flatnonzero(chosen[:, 0])
    order = np.lexsort((rank[rows, 0], groups.of_row[rows]))
    return take_rows(Matrix(labels=matrix.labels, values=matrix.values, present=chosen), rows[order].tolist())


def _ranks(matrix: Matrix, groups: _Groups, *, largest: bool) -> IntArray:
    """Place of each series in its group at each step, 0 for the first; [series, steps]."""
    keys = np.where(np.isnan(matrix.values), np.inf, -matrix.values if largest else matrix.values)
    rank = np.zeros(matrix.values.shape, dtype=np.int64)
    for rows in groups.rows():
        # Absent last, NaN before them, and ties in the order of the series.
        last = np.where(matrix.present[rows], np.isnan(matrix.values[rows]).astype(np.int8), 2)
        order = np.lexsort((keys[rows], last), axis=0)
        places = np.empty(order.shape, dtype=np.int64)
        np.put_along_axis(places, order, np.arange(len(rows), dtype=np.int64)[:, None], axis=0)
        rank[rows] = places
    return rank


def count_values(
    matrix: Matrix, aggregation: Aggregation, label: str, *, grow: Callable[[int, int], None], budget: LabelBudget
) -> Matrix:
    """How many series of each group have each value; the value becomes the label `label`.

    Raises:
        QueryExecutionError: the label has no name.
        QueryTooLargeError: `grow`, which is told of each new series; or more labels than `budget` allows.
    """
    steps = int(matrix.values.shape[1])
    if not is_name(label):
        raise QueryExecutionError(f"invalid label name {label}")
    without = aggregation.without
    key, make = grouping(aggregation.labels if without else (*aggregation.labels, label), kept=not without)
    numbers: dict[GroupKey, int] = {}
    labels: list[Labels] = []
    counts: list[FloatArray] = []
    for row, full in enumerate(matrix.labels):
        present: BoolArray = matrix.present[row]
        found = matrix.values[row]
        # NaN is one value here, and -0 is another than 0.
        for bits in np.unique(np.where(np.isnan(found), np.nan, found)[present].view(np.int64)).tolist():
            value = np.asarray([bits], dtype=np.int64).view(np.float64)[0]
            same: BoolArray = np.isnan(found) if np.isnan(value) else np.equal(found.view(np.int64), bits)
            tagged = {**full, label: format_number(float(value))}
            number = numbers.setdefault(key(tagged), len(numbers))
            if number == len(labels):
                grow(number + 1, 1)
                budget.take(label, tagged[label])
                labels.append(make(tagged))
                counts.append(np.zeros(steps))
            np.add(counts[number], same & present, out=counts[number])
    if not labels:
        return empty_matrix(steps)
    values = np.stack(counts)
    return Matrix(labels=labels, values=values, present=values > 0)
