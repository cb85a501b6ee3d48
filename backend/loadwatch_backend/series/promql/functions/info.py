"""info(): adds the labels of series that describe the same target, such as `target_info`.

Source of the rules: promql/info.go of Prometheus 3. Targets are told by `instance` and `job`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.labels import METRIC_NAME, format_labels, merge_alike, rows_by, stack
from loadwatch_backend.series.promql.parsing.expression import Call, Selector
from loadwatch_backend.series.promql.samples import newest_rows
from loadwatch_backend.series.promql.value import BoolArray, IntArray, Matrix
from loadwatch_backend.series.store.patterns import value_test
from loadwatch_backend.series.store.port import Labels

if TYPE_CHECKING:
    from loadwatch_backend.series.promql.evaluate import Evaluation

IDENTIFYING = ("instance", "job")


def info(evaluator: "Evaluation", call: Call) -> Matrix:
    """The first argument with the labels of what describes it, which the second one selects (see `resolve`).

    Raises:
        QueryExecutionError: two descriptions of one target contradict each other.
        QueryTooLargeError: more new labels than the budget allows.
    """
    base, selector = evaluator.vector(call.arguments[0]), call.arguments[1]
    assert isinstance(selector, Selector)
    names = [value_test(one) for one in selector.matchers if one.label == METRIC_NAME]
    data = [one for one in selector.matchers if one.label != METRIC_NAME]
    samples = evaluator.samples(selector)
    rows, present = newest_rows(samples, evaluator.times(selector), evaluator.lookback_ms)
    present = _newest_of_each(samples.labels, samples.timestamps, rows, present)
    by_target = rows_by(_target, samples.labels)
    wanted = frozenset(one.label for one in data)
    # A series without a description stays when nothing is asked of it.
    keeps_bare = all(value_test(one)("") for one in data)

    def enriched(one: Matrix, rows: Sequence[int]) -> Iterator[Matrix]:
        """One series, a part for each set of descriptions that are there together."""
        there = present[list(rows)] if rows else np.zeros((0, evaluator.grid.count), dtype=np.bool_)
        patterns, pattern_of = np.unique(there, axis=1, return_inverse=True)
        for number, pattern in enumerate(patterns.T):
            here = one.present & (pattern_of.ravel() == number)[None, :]
            if not here.any():
                continue
            found = [samples.labels[row] for row, is_there in zip(rows, pattern.tolist(), strict=True) if is_there]
            if found or keeps_bare:
                new = _described(one.labels[0], found, wanted)
                for name, value in new.items():
                    evaluator.budget.take(name, value)
                yield Matrix(labels=[{**one.labels[0], **new}], values=one.values, present=here)

    parts: list[Matrix] = []
    for row, labels in enumerate(base.labels):
        one = Matrix(labels=[labels], values=base.values[row : row + 1], present=base.present[row : row + 1])
        target = _target(labels)
        is_info = all(test(labels.get(METRIC_NAME, "")) for test in names)
        if is_info or not any(target):
            parts += [one] if is_info or keeps_bare else []
            continue
        parts += enriched(one, by_target.get(target, []))
    return merge_alike(stack(parts, evaluator.grid.count))


def _described(labels: Labels, descriptions: Sequence[Labels], wanted: frozenset[str]) -> dict[str, str]:
    new: dict[str, str] = {}
    for description in descriptions:
        for name, value in description.items():
            if name == METRIC_NAME or (wanted and name not in wanted):
                continue
            if new.get(name, value) != value:
                raise QueryExecutionError(f"conflicting label: {name}")
            if name not in labels:
                new[name] = value
    return new


def _newest_of_each(labels: Sequence[Labels], times: IntArray, rows: IntArray, present: BoolArray) -> BoolArray:
    """Of the descriptions of one target by one metric only the newest counts."""
    result = present.copy()
    for members in rows_by(lambda one: (one.get(METRIC_NAME, ""), *_target(one)), labels).values():
        if len(members) == 1:
            continue
        alive = present[members]
        when = np.where(alive, times[rows[members]], np.iinfo(np.int64).min)
        newest = alive & (when == when.max(axis=0))
        twice = newest.sum(axis=0) > 1
        if twice.any():
            step = int(np.flatnonzero(twice)[0])
            first, second = [row for row, is_newest in zip(members, newest[:, step], strict=True) if is_newest][:2]
            raise QueryExecutionError(
                f"found duplicate series for info metric: existing {format_labels(labels[first])} @"
                f" {times[rows[first, step]]}, new {format_labels(labels[second])} @ {times[rows[second, step]]}"
            )
        result[members] = newest
    return result


def _target(labels: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(labels.get(name, "") for name in IDENTIFYING)
