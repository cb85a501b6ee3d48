"""Figures of one's own, of `loadwatch run --figure`: `NAME=REGEX`, `NAME=json:$.a.b[0]["c d"]`, `NAME=promql:EXPR`.

`NAME[ms]` says in which unit the figure is printed; it is kept in the base unit.
"""

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from loadwatch_formats.numbers import FACTORS, UNITS, to_base

MOST = 20
LONGEST = 500
LONGEST_NAME = 40
MOST_MARKERS = 100
LONGEST_MARKER = 500
_NAME = re.compile(rf"([A-Za-z_][A-Za-z0-9_]{{0,{LONGEST_NAME - 1}}})\s*(?:\[([^\]]*)\])?")
_STEP = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\d{1,9})\]|\[\"([^\"]*)\"\]")
_NUMBER = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+|(?=\.\d))(?:\.\d*)?(?:[eE][+-]?\d+)?")

_BASES: Mapping[str, str] = {
    **{unit: base for base, units in reversed([*UNITS.items()]) for unit in units},
    **{"ratio": "ratio", "requests/s": "per_second", "bytes": "bytes", "bytes/s": "bytes_per_second"},
}
FIGURE_UNITS = tuple(dict.fromkeys([*FACTORS, *_BASES]))
"""That a figure may name: those of thresholds, and the base units that have no sign there."""


class UnitError(ValueError):
    """A figure names a unit that there is not."""


class FigureSource(StrEnum):
    """Where a figure is read."""

    REGEX = "regex"
    JSON = "json"
    PROMQL = "promql"


class ReportProblem(StrEnum):
    """Why what the command printed has no figure."""

    NO_LINE = "no-line"
    NO_JSON = "no-json"
    NO_PATH = "no-path"
    NO_NUMBER = "no-number"
    TOO_SLOW = "too-slow"


class OwnFigure(NamedTuple):
    """`text` is the regular expression, the path, or the PromQL; `unit` as it was written, empty without one."""

    name: str
    source: FigureSource
    text: str
    unit: str = ""

    @property
    def base_unit(self) -> str:
        return _BASES.get(self.unit, "")

    def in_base(self, number: float) -> float:
        return to_base(number, FACTORS.get(self.unit, 1.0))


def parse_figure(given: str) -> OwnFigure:
    """Read one; regular expressions and paths are read by whoever uses them.

    Raises:
        ValueError: it is none; the message says how to write one.
        UnitError: of its unit; the message lists those that there are.
    """
    name, equals, text = given.partition("=")
    found = _NAME.fullmatch(name.strip())
    if not equals or not text.strip() or found is None:
        raise ValueError(
            f"figure {given[:80]!r} is not NAME=REGEX, NAME=json:$.path or NAME=promql:EXPR; "
            f"NAME is up to {LONGEST_NAME} letters, digits and _"
        )
    name, unit = found[1], found[2]
    if unit is not None and unit not in _BASES:
        raise UnitError(f"{unit[:40]!r} is no unit of a figure: write one of {', '.join(FIGURE_UNITS)}")
    source, _, rest = text.partition(":")
    if source in (FigureSource.JSON, FigureSource.PROMQL):
        return OwnFigure(name, FigureSource(source), rest.strip(), unit or "")
    return OwnFigure(name, FigureSource.REGEX, text, unit or "")


def parse_pattern(text: str, groups: int) -> re.Pattern[str]:
    """A regular expression with so many groups at least.

    Raises:
        ValueError: it is none, or has too few.
    """
    try:
        found = re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{text[:80]!r} is no regular expression: {error}") from None
    if found.groups < groups:
        raise ValueError(f"{text[:80]!r} has no group: put ( and ) around the number, as in 'score: (\\d+)'")
    return found


def parse_path(text: str) -> tuple[str | int, ...]:
    """The steps of `$.a.b[0]["c d"]`.

    Raises:
        ValueError: it is no such path.
    """
    steps: list[str | int] = []
    at = 1
    while at < len(text) and (step := _STEP.match(text, at)) is not None:
        steps.append(int(step[2]) if step[2] else step[1] or step[3])
        at = step.end()
    if not text.startswith("$") or at < len(text) or not steps:
        raise ValueError(f"{text[:80]!r} is no path: write such as json:$.a.b[0].c")
    return tuple(steps)


def find_path(document: Any, steps: tuple[str | int, ...]) -> Any:
    """What stands there; None where nothing does."""
    for step in steps:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def read_number(found: Any) -> float | None:
    """A number, or a text that is one (`12,345.6` too); None for all else."""
    if isinstance(found, str):
        text = found.strip()
        found = float(text.replace(",", "")) if _NUMBER.fullmatch(text) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
