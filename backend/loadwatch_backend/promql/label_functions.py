"""Functions that work on label sets: absent, label_replace, label_join.

Source of the rules: promql/functions.go (createLabelsForAbsentFunction, evalLabelReplace, evalLabelJoin).
"""

import re
from collections.abc import Callable

import numpy as np
import re2

from loadwatch_backend.promql.errors import QueryExecutionError
from loadwatch_backend.promql.expression import Expression, RangeSelector, Selector
from loadwatch_backend.promql.labels import METRIC_NAME, merge_alike
from loadwatch_backend.promql.value import BoolArray, Matrix
from loadwatch_backend.store.port import Labels, MatchOperator

_REFERENCE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)\})", re.ASCII)


def absent_labels(argument: Expression) -> Labels:
    """Labels that the selector fixes with `=` once; none for any other expression."""
    match argument:
        case Selector(matchers=matchers) | RangeSelector(selector=Selector(matchers=matchers)):
            pass
        case _:
            return {}
    result: dict[str, str] = {}
    seen: set[str] = set()
    for matcher in matchers:
        if matcher.label == METRIC_NAME:
            continue
        if matcher.operator is MatchOperator.EQUAL and matcher.label not in seen:
            seen.add(matcher.label)
            if matcher.value:
                result[matcher.label] = matcher.value
        else:
            result.pop(matcher.label, None)
    return result


def absent(present: BoolArray, argument: Expression) -> Matrix:
    """One series that is 1 where nothing of `present` [series, steps] is."""
    missing = np.logical_not(present.any(axis=0, keepdims=True))
    return Matrix(labels=[absent_labels(argument)], values=np.ones(missing.shape), present=missing)


def label_replace(matrix: Matrix, target: str, template: str, source: str, pattern: str) -> Matrix:
    """Sets `target` to the expanded `template` in series whose `source` matches the whole `pattern` (RE2).

    Raises:
        QueryExecutionError: the pattern or the target's name is not valid, or series become alike.
    """
    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise QueryExecutionError(f"invalid regular expression in label_replace(): {pattern}") from error
    if not target:
        raise QueryExecutionError(f"invalid destination label name in label_replace(): {target}")

    def replaced(labels: Labels) -> Labels:
        found = compiled.fullmatch(labels.get(source, ""))
        if found is None:
            return labels
        return _with_label(labels, target, expand_groups(template, found.group))

    return _relabelled(matrix, replaced)


def label_join(matrix: Matrix, target: str, separator: str, sources: list[str]) -> Matrix:
    """Sets `target` to the joined values of `sources`.

    Raises:
        QueryExecutionError: a label's name is not valid, or series become alike.
    """
    for kind, name in [*(("source", source) for source in sources), ("destination", target)]:
        if not name:
            raise QueryExecutionError(f"invalid {kind} label name in label_join(): {name}")
    return _relabelled(
        matrix,
        lambda labels: _with_label(labels, target, separator.join(labels.get(source, "") for source in sources)),
    )


def _relabelled(matrix: Matrix, change: Callable[[Labels], Labels]) -> Matrix:
    labels = [change(labels) for labels in matrix.labels]
    return merge_alike(Matrix(labels=labels, values=matrix.values, present=matrix.present))


def _with_label(labels: Labels, name: str, value: str) -> Labels:
    result = dict(labels)
    if value:
        result[name] = value
    else:
        result.pop(name, None)
    return result


def expand_groups(template: str, group: Callable[[int | str], str | None]) -> str:
    """Go's Regexp.Expand: $1, $name, ${name}, $$; a group that is not there is empty."""

    def value(reference: re.Match[str]) -> str:
        if reference.group(1):
            return "$"
        name = reference.group(2) or reference.group(3)
        try:
            return group(int(name) if name.isdigit() else name) or ""
        except (IndexError, KeyError):
            return ""

    return _REFERENCE.sub(value, template)
