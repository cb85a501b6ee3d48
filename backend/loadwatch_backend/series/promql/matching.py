"""Binary operations between two vectors: which series meet, and what comes of it.

Source of the rules: promql/engine.go (VectorBinop, VectorAnd, VectorOr, VectorUnless, resultMetric). Presence differs
from step to step, so every pair of series that may meet becomes one row, and all checks are made on all steps at once.
"""

from collections.abc import Callable

import numpy as np

from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.labels import (
    RESERVED,
    GroupKey,
    LabelBudget,
    LabelKey,
    drop_labels,
    format_labels,
    grouping,
    keep_labels,
    label_key,
    merge_alike,
    rows_by,
    stack,
)
from loadwatch_backend.series.promql.parsing.catalogue import ARITHMETIC_OPERATORS
from loadwatch_backend.series.promql.parsing.expression import Binary, Cardinality, Matching
from loadwatch_backend.series.promql.value import BoolArray, FloatArray, Matrix, empty_matrix
from loadwatch_backend.series.store.port import Labels

ARITHMETIC: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.fmod,  # As Go's math.Mod it keeps the sign of the dividend.
    "^": np.power,
    "atan2": np.arctan2,
}
COMPARISON: dict[str, Callable[[FloatArray, FloatArray], BoolArray]] = {
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
}


def compute(operator: str, left: FloatArray, right: FloatArray, *, return_bool: bool) -> tuple[FloatArray, BoolArray]:
    """Values and which of them are kept; a comparison keeps the left value where it holds, or gives 0 and 1."""
    if operator in ARITHMETIC:
        values = ARITHMETIC[operator](left, right)
        return values, np.ones(values.shape, dtype=np.bool_)
    holds = COMPARISON[operator](left, right)
    if return_bool:
        return holds.astype(np.float64), np.ones(holds.shape, dtype=np.bool_)
    return left if left.shape == holds.shape else np.broadcast_to(left, holds.shape), holds


def _any_by_group(present: BoolArray, groups: list[int], count: int) -> BoolArray:
    result = np.zeros((count, present.shape[1]), dtype=np.bool_)
    np.logical_or.at(result, np.asarray(groups, dtype=np.int64), present)
    return result


def combine_sets(operator: str, left: Matrix, right: Matrix, matching: Matching) -> Matrix:
    """`and`, `or`, `unless`: presence decides, values stay."""
    sign, _ = grouping(matching.labels, kept=matching.on)
    numbers: dict[GroupKey, int] = {}
    left_groups = [numbers.setdefault(sign(labels), len(numbers)) for labels in left.labels]
    right_groups = [numbers.setdefault(sign(labels), len(numbers)) for labels in right.labels]
    if operator == "or":
        taken = _any_by_group(left.present, left_groups, len(numbers))
        extra = right.present & ~taken[right_groups] if right_groups else right.present
        both = Matrix(
            labels=[*left.labels, *right.labels],
            values=np.concatenate((left.values, right.values)),
            present=np.concatenate((left.present, extra)),
        )
        return merge_alike(both)
    met = _any_by_group(right.present, right_groups, len(numbers))
    if not left_groups:
        return left
    holds = met[left_groups] if operator == "and" else ~met[left_groups]
    return Matrix(labels=left.labels, values=left.values, present=left.present & holds)


def combine_vectors(
    binary: Binary, left: Matrix, right: Matrix, *, grow: Callable[[int, int], None], budget: LabelBudget
) -> Matrix:
    """Arithmetic or comparison between the series that match.

    Raises:
        QueryExecutionError: the "one" side has two series for a match, or a result would have two of one label set.
        QueryTooLargeError: `grow`, which is told how many pairs of series may meet; or more labels than `budget`.
    """
    matching = binary.matching
    swapped = matching.cardinality is Cardinality.ONE_TO_MANY
    many, one = (right, left) if swapped else (left, right)
    steps = many.values.shape[1]
    fills = matching.fill_left is not None or matching.fill_right is not None
    if not fills and (not len(many.labels) or not len(one.labels)):
        return empty_matrix(steps)

    sign, part = grouping(matching.labels, kept=matching.on)
    one_rows = rows_by(sign, one.labels)
    looked_at = np.logical_or.reduce(many.present, axis=0) if not fills else np.ones(steps, dtype=np.bool_)
    _check_one_side(one, one_rows, looked_at, part, "left" if swapped else "right")
    if fills:
        many, one = _filled(many, one, sign, matching)
        one_rows = rows_by(sign, one.labels)
    many_index: list[int] = []
    one_index: list[int] = []
    matches: list[int] = []
    numbers: dict[GroupKey, int] = {}
    for row, labels in enumerate(many.labels):
        key = sign(labels)
        for other in one_rows.get(key, ()):
            many_index.append(row)
            one_index.append(other)
            matches.append(numbers.setdefault(key, len(numbers)))
    if not many_index:
        return empty_matrix(steps)
    grow(len(many_index), len(many_index))

    present = many.present[many_index] & one.present[one_index]
    many_values, one_values = many.values[many_index], one.values[one_index]
    left_values, right_values = (one_values, many_values) if swapped else (many_values, one_values)
    values, kept = compute(binary.operator, left_values, right_values, return_bool=binary.return_bool)
    labels = [
        _result_labels(many.labels[row], one.labels[other], binary, budget)
        for row, other in zip(many_index, one_index, strict=True)
    ]
    _check_matches(present, matches, labels, matching)
    return merge_alike(Matrix(labels=labels, values=np.ascontiguousarray(values), present=present & kept))


def _filled(many: Matrix, one: Matrix, sign: Callable[[Labels], GroupKey], matching: Matching) -> tuple[Matrix, Matrix]:
    """Both sides with series of the fill values, at the steps at which a match has series on the other side only.

    As in Prometheus, which side is filled goes by their order here: with `group_right`, `fill_right` is for the left.
    """
    numbers: dict[GroupKey, int] = {}
    sample: list[Labels] = []
    groups: list[list[int]] = []
    for side in (many, one):
        groups.append([])
        for labels in side.labels:
            number = numbers.setdefault(sign(labels), len(numbers))
            groups[-1].append(number)
            if number == len(sample):
                sample.append(grouping(matching.labels, kept=matching.on)[1](labels))
    there = [
        _any_by_group(side.present, numbered, len(numbers)) for side, numbered in zip((many, one), groups, strict=True)
    ]
    filled: list[Matrix] = []
    for side, own, other, value in (
        (many, there[0], there[1], matching.fill_left),
        (one, there[1], there[0], matching.fill_right),
    ):
        if value is None:
            filled.append(side)
            continue
        made = Matrix(labels=sample, values=np.full(own.shape, value), present=other & ~own)
        filled.append(stack((side, made), own.shape[1]))
    return filled[0], filled[1]


def _check_one_side(
    one: Matrix,
    rows_by_match: dict[GroupKey, list[int]],
    many_present: BoolArray,
    part: Callable[[Labels], Labels],
    side: str,
) -> None:
    for rows in rows_by_match.values():
        if len(rows) == 1:
            continue
        together = (one.present[rows].sum(axis=0) > 1) & many_present
        if not together.any():
            continue
        step = int(np.flatnonzero(together)[0])
        first, second = [row for row in rows if one.present[row, step]][:2]
        match = format_labels(part(one.labels[second]))
        names = ", ".join(sorted((format_labels(one.labels[first]), format_labels(one.labels[second]))))
        raise QueryExecutionError(
            f"found duplicate series for the match group {match} on the {side} hand-side of the"
            f" operation: [{names}];many-to-many matching not allowed: matching labels must be unique on one side"
        )


def _check_matches(present: BoolArray, matches: list[int], labels: list[Labels], matching: Matching) -> None:
    """Each match may give one result (one-to-one), or one of each label set (many-to-one), at a step."""
    if matching.cardinality is Cardinality.ONE_TO_ONE:
        keys: list[int | tuple[int, LabelKey]] = list(matches)
        message = "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
    else:
        keys = [(match, label_key(full)) for match, full in zip(matches, labels, strict=True)]
        message = "multiple matches for labels: grouping labels must ensure unique matches"
    if len(set(keys)) == len(keys):
        return
    numbers: dict[int | tuple[int, LabelKey], int] = {}
    groups = np.asarray([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    together = np.zeros((len(numbers), present.shape[1]), dtype=np.int64)
    np.add.at(together, groups, present)
    if (together > 1).any():
        raise QueryExecutionError(message)


def _result_labels(many: Labels, one: Labels, binary: Binary, budget: LabelBudget) -> Labels:
    matching = binary.matching
    result = dict(many)
    if binary.return_bool or binary.operator in ARITHMETIC_OPERATORS:
        for name in RESERVED:
            result.pop(name, None)
    if matching.cardinality is Cardinality.ONE_TO_ONE:
        result = dict(keep_labels(result, matching.labels) if matching.on else drop_labels(result, matching.labels))
    for name in matching.include:
        value = one.get(name, "")
        if value:
            budget.take(name, value)
            result[name] = value
        else:
            result.pop(name, None)
    return result
