"""Label sets: keys, names taken away, sets merged."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from loadwatch_backend.series.promql.errors import QueryExecutionError, QueryTooLargeError
from loadwatch_backend.series.promql.value import Matrix, empty_matrix
from loadwatch_backend.series.store.port import Labels, quoted

METRIC_NAME = "__name__"
RESERVED = frozenset((METRIC_NAME, "__type__", "__unit__"))
"""What an operation that changes the meaning of a value takes away (Prometheus: schema.IsMetadataLabel)."""

LabelKey = tuple[tuple[str, str], ...]
GroupKey = tuple[object, ...]
DUPLICATE_LABELS = "vector cannot contain metrics with the same labelset"


class LabelBudget:
    """Bounds the labels that one evaluation makes itself: by label functions, count_values and group modifiers.

    What is stored is bounded where it is taken in; without this a query of 4 kB makes an answer of 90 MB.
    """

    def __init__(self, value_length: int = 4096, total: int = 32 << 20) -> None:
        self.value_length = value_length
        self._total = total
        self._left = total

    def take(self, name: str, value: str) -> None:
        """Count one new label of one series.

        Raises:
            QueryTooLargeError: it is too long, or all of them together are.
        """
        if len(name) > self.value_length or len(value) > self.value_length:
            raise self.too_long(name)
        self._left -= len(name) + len(value)
        if self._left < 0:
            raise QueryTooLargeError(
                f"the labels that the query makes have more than {self._total} characters in all: select fewer series,"
                " or make shorter labels"
            )

    def too_long(self, name: str) -> QueryTooLargeError:
        return QueryTooLargeError(
            f"the query makes a label {name[:100]!r} whose name or value is longer than {self.value_length} characters:"
            " join fewer labels, or use a shorter text"
        )


def label_key(labels: Labels) -> LabelKey:
    """A hashable key that also sorts as Prometheus sorts label sets."""
    return tuple(sorted(labels.items()))


def format_labels(labels: Labels) -> str:
    """A label set as Prometheus writes it in messages."""
    return "{" + ", ".join(f"{name}={quoted(value)}" for name, value in sorted(labels.items())) + "}"


def is_name(label: str) -> bool:
    """Whether a label may have this name: not empty, and no U+FFFD in place of invalid UTF-8."""
    return bool(label) and "\ufffd" not in label


def keep_labels(labels: Labels, names: Iterable[str]) -> Labels:
    return {name: labels[name] for name in names if name in labels}


def drop_labels(labels: Labels, names: Iterable[str]) -> Labels:
    dropped = frozenset(names)
    return {name: value for name, value in labels.items() if name not in dropped}


def grouping(names: Sequence[str], *, kept: bool) -> tuple[Callable[[Labels], GroupKey], Callable[[Labels], Labels]]:
    """Two functions of a label set: its group key, and the labels of its group (`names` or all others)."""
    if kept:
        return (
            lambda labels: tuple([labels.get(name, "") for name in names]),
            lambda labels: keep_labels(labels, names),
        )
    dropped = frozenset((*names, METRIC_NAME))
    return (
        lambda labels: tuple(sorted([pair for pair in labels.items() if pair[0] not in dropped])),
        lambda labels: drop_labels(labels, dropped),
    )


def rows_by(key: Callable[[Labels], GroupKey], labels: Iterable[Labels]) -> dict[GroupKey, list[int]]:
    found: dict[GroupKey, list[int]] = {}
    for row, one in enumerate(labels):
        found.setdefault(key(one), []).append(row)
    return found


def drop_names(matrix: Matrix, *, strict: bool = False) -> Matrix:
    """The matrix without metric names; series that become alike are merged.

    Args:
        matrix: any matrix.
        strict: series that become alike are an error even where they never meet (range functions).

    Raises:
        QueryExecutionError: two series become alike and have a value at the same step.
    """
    one_name = len({labels.get(METRIC_NAME) for labels in matrix.labels}) <= 1
    labels = [drop_labels(labels, RESERVED) for labels in matrix.labels]
    renamed = Matrix(labels=labels, values=matrix.values, present=matrix.present)
    # Series of one name are told apart by their other labels, unless those carry __type__ or __unit__.
    if one_name and all("__type__" not in full and "__unit__" not in full for full in matrix.labels):
        return renamed
    return merge_alike(renamed, strict=strict)


def merge_alike(matrix: Matrix, *, strict: bool = False) -> Matrix:
    """One series for each label set, in order of first appearance.

    Raises:
        QueryExecutionError: two series of one label set have a value at the same step (`strict`: at any steps).
    """
    groups = rows_by(label_key, matrix.labels)
    if len(groups) == len(matrix.labels):
        return matrix
    values = np.zeros((len(groups), matrix.values.shape[1]))
    present = np.zeros(values.shape, dtype=np.bool_)
    for target, rows in enumerate(groups.values()):
        alive = [row for row in rows if matrix.present[row].any()] if len(rows) > 1 else rows
        if strict and len(alive) > 1:
            raise QueryExecutionError(DUPLICATE_LABELS)
        for row in alive:
            if (present[target] & matrix.present[row]).any():
                raise QueryExecutionError(DUPLICATE_LABELS)
            values[target] = np.where(matrix.present[row], matrix.values[row], values[target])
            present[target] |= matrix.present[row]
    return Matrix(labels=[matrix.labels[rows[0]] for rows in groups.values()], values=values, present=present)


def take_rows(matrix: Matrix, rows: Sequence[int]) -> Matrix:
    chosen = np.asarray(rows, dtype=np.int64)
    return Matrix(
        labels=[matrix.labels[row] for row in rows], values=matrix.values[chosen], present=matrix.present[chosen]
    )


def stack(parts: Sequence[Matrix], steps: int) -> Matrix:
    if not parts:
        return empty_matrix(steps)
    return Matrix(
        labels=[labels for part in parts for labels in part.labels],
        values=np.concatenate([part.values for part in parts]),
        present=np.concatenate([part.present for part in parts]),
    )


def without_empty(matrix: Matrix) -> Matrix:
    alive = matrix.present.any(axis=1)
    if alive.all():
        return matrix
    return take_rows(matrix, np.flatnonzero(alive).tolist())


def in_label_order(matrix: Matrix) -> Matrix:
    keys = [label_key(labels) for labels in matrix.labels]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return matrix if order == list(range(len(keys))) else take_rows(matrix, order)
