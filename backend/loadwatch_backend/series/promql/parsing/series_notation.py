"""The notation of input series: `up{job="a"}` with `1 1+1x5 _ 0x3 stale` (promql/parser: series descriptions)."""

import re

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql.parsing.expression import Selector
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.store.port import STALE_NAN, Labels, MatchOperator

MAX_VALUES = 1_000_000
_NUMBER = r"(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF]|[nN][aA][nN])"
_ITEM = re.compile(rf"(?P<first>_|stale|[+-]?{_NUMBER})(?:(?P<step>[+-]{_NUMBER})?x(?P<times>[0-9]+))?", re.ASCII)


def parse_labels(text: str) -> Labels:
    """The labels of a series, written as a selector of equalities.

    Raises:
        ValueError: says what is expected.
    """
    if text.strip() == "{}":
        return {}
    try:
        found = parse_expression(text)
    except ProblemError as error:
        raise ValueError(f'{text!r} is no series such as up{{job="a"}}: {error.detail}') from error
    if (
        not isinstance(found, Selector)
        or found.offset_ms
        or any(one.operator is not MatchOperator.EQUAL for one in found.matchers)
    ):
        raise ValueError(f'{text!r} is no series such as up{{job="a"}}')
    return {one.label: one.value for one in found.matchers if one.value}


def parse_values(text: str) -> list[float | None]:
    """Values one interval apart; None where there is no sample. A stale marker is the NaN `STALE_NAN`.

    `1+2x3` is 1 3 5 7, `1x3` is 1 1 1 1, `_x3` is three times nothing.

    Raises:
        ValueError: says what is expected.
    """
    values: list[float | None] = []
    for item in text.split():
        if "{{" in item or "}}" in item:
            raise ValueError("native histograms are not supported: write the buckets of a classic histogram")
        found = _ITEM.fullmatch(item)
        if found is None or (found["first"] in ("_", "stale") and found["step"]):
            raise ValueError(f"{item!r} is no value; write numbers, 1+2x3, 5x10, _ (no sample) or stale")
        values += _expand(found)
        if len(values) > MAX_VALUES:
            raise ValueError(f"the series has more than {MAX_VALUES} values")
    return values


def _expand(found: "re.Match[str]") -> list[float | None]:
    times = min(int(found["times"] or 0), MAX_VALUES + 1)
    if found["first"] == "_":
        return [None] * (times if found["times"] else 1)
    if found["first"] == "stale":
        return [STALE_NAN] * (times + 1)
    value, step = float(found["first"]), float(found["step"] or 0)
    if not step:
        return [value] * (times + 1)
    values: list[float | None] = []
    for _ in range(times + 1):
        # Added up as Prometheus does, so that the rounding is the same.
        values.append(value)
        value += step
    return values
