"""Functions that work on label sets: absent, label_replace, label_join.

Source of the rules: promql/functions.go (createLabelsForAbsentFunction, evalLabelReplace, evalLabelJoin).
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.labels import METRIC_NAME, LabelBudget, is_name, merge_alike
from loadwatch_backend.series.promql.parsing.expression import Expression, RangeSelector, Selector
from loadwatch_backend.series.promql.value import BoolArray, Matrix
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import compile_pattern
from loadwatch_backend.series.store.port import Labels, MatchOperator

_BETWEEN_CHECKS = 100
"""Series between two looks at the clock: a pattern takes up to 0.3 s for the longest of values."""
_CHUNK = re.compile(r"[0-9]+|[^0-9]+")
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


def label_replace(
    matrix: Matrix, texts: Sequence[str], budget: LabelBudget, check: Callable[[], None] = lambda: None
) -> Matrix:
    """Sets a label to the expanded template in series of which another one matches the whole pattern (RE2).

    `texts` are the target, the template, the source and the pattern.

    Raises:
        QueryExecutionError: the pattern or the target's name is not valid, or series become alike.
        QueryTooLargeError: the labels are more than `budget` allows.
        QueryTimeoutError: by `check`, which is called now and then.
    """
    target, template, source, pattern = texts
    try:
        compiled = compile_pattern(pattern)
    except PatternError as error:
        raise QueryExecutionError(f"invalid regular expression in label_replace(): {pattern[:200]}") from error
    if not is_name(target):
        raise QueryExecutionError(f"invalid destination label name in label_replace(): {target}")

    def replaced(labels: Labels) -> Labels:
        found = compiled.fullmatch(labels.get(source, ""))
        if found is None:
            return labels
        value = expand_groups(template, found.group, budget.value_length)
        if value is None:
            raise budget.too_long(target)
        return _with_label(labels, target, value, budget)

    return _relabelled(matrix, replaced, check)


def compare_naturally(left: str, right: str) -> int:
    """Below, at or above zero, in the order that people expect: numbers within a text by their value.

    As facette/natsort has it, which Prometheus uses.
    """
    if left == right:
        return 0
    left_parts, right_parts = _CHUNK.findall(left), _CHUNK.findall(right)
    for one, other in zip(left_parts, right_parts, strict=False):
        if one == other:
            continue
        # No number of 300 digits means anything, and Python refuses to read longer ones than 4,300.
        both_numbers = one[0].isdigit() and other[0].isdigit() and max(len(one), len(other)) <= 300
        if not both_numbers:
            return -1 if one < other else 1
        if int(one) != int(other):
            return -1 if int(one) < int(other) else 1
    return -1 if len(left_parts) <= len(right_parts) else 1


def label_join(matrix: Matrix, texts: Sequence[str], budget: LabelBudget, check: Callable[[], None]) -> Matrix:
    """Sets a label to the joined values of others; raises as `label_replace`.

    `texts` are the target, the separator and the sources.
    """
    target, separator, *sources = texts
    for kind, name in [*(("source", source) for source in sources), ("destination", target)]:
        if not is_name(name):
            raise QueryExecutionError(f"invalid {kind} label name in label_join(): {name}")
    separators = len(separator) * max(len(sources) - 1, 0)

    def joined(labels: Labels) -> Labels:
        parts = [labels.get(source, "") for source in sources]
        if separators + sum(map(len, parts)) > budget.value_length:
            raise budget.too_long(target)
        return _with_label(labels, target, separator.join(parts), budget)

    return _relabelled(matrix, joined, check)


def _relabelled(matrix: Matrix, change: Callable[[Labels], Labels], check: Callable[[], None]) -> Matrix:
    changed: list[Labels] = []
    for labels in matrix.labels:
        if len(changed) % _BETWEEN_CHECKS == 0:
            check()
        changed.append(change(labels))
    return merge_alike(Matrix(labels=changed, values=matrix.values, present=matrix.present))


def _with_label(labels: Labels, name: str, value: str, budget: LabelBudget) -> Labels:
    result = dict(labels)
    if value:
        budget.take(name, value)
        result[name] = value
    else:
        result.pop(name, None)
    return result


def expand_groups(template: str, group: Callable[[int | str], str | None], longest: int) -> str | None:
    """Go's Regexp.Expand: $1, $name, ${name}, $$; a group that is not there is empty.

    None when the text would be longer than `longest`; it is not built then.
    """
    parts: list[str] = []
    values: dict[str, str] = {}
    length = position = 0
    for reference in _REFERENCE.finditer(template):
        between = template[position : reference.start()]
        dollar, name, braced = reference.groups()
        name = name or braced
        if not dollar and name not in values:
            values[name] = _group_value(name, group)
        value = "$" if dollar else values[name]
        parts += (between, value)
        length += len(between) + len(value)
        if length > longest:
            return None
        position = reference.end()
    parts.append(template[position:])
    return None if length + len(parts[-1]) > longest else "".join(parts)


def _group_value(name: str, group: Callable[[int | str], str | None]) -> str:
    try:
        # No pattern has groups of more digits, and a number of thousands of digits is no number to Python.
        return group(int(name) if name.isdecimal() and len(name) < 6 else name) or ""
    except (IndexError, KeyError):
        return ""
