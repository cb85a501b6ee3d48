"""At which level each selector of a query is read: all samples, or one-minute rollups; and what that costs.

Where the store has all samples, rollups are read only where they give the same answer sooner. Where samples were
deleted for their age, rollups answer; what is not exact then has a bound, which is said in the answer's infos. Who has
no place to say it gets what samples there are.

Windows of whole minutes are exact: a minute is open on the left, as they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.series.promql.functions.rolled import ENDS_FUNCTIONS, LAST_FUNCTIONS, ROLLED
from loadwatch_backend.series.promql.parsing.expression import RangeSelector, Selector
from loadwatch_backend.series.promql.spans import SelectorRead, minutes_span
from loadwatch_backend.series.promql.value import Grid, IntArray
from loadwatch_backend.series.store.levels import MINUTE_MS, Level, Span

WORTH_MS = 6 * 3_600_000
"""Shorter queries read all samples where they are there: the newest are in memory, and not rolled up yet."""
LEAST_RANGE_MS = 2 * MINUTE_MS

Key = tuple[int, str, bool]
"""Of a selector: its identity, the function around its range, and whether it looks at minute edges alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How a selector is read, and what is to be said of it."""

    level: Level = Level.RAW
    info: str | None = None


Choices = dict[Key, Choice]
RAW = Choice()


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """What there is for a query: spans in which no sample is missing, and whether there is a place for infos."""

    whole: Sequence[Span]
    tells: bool
    is_worth: bool

    def is_whole(self, span: Span) -> bool:
        """Whether all samples of a span are there."""
        return any(first <= span[0] and span[1] <= last for first, last in self.whole)

    def is_all_whole(self, reads: Iterable[SelectorRead]) -> bool:
        """Whether all samples are there that are read."""
        return all(self.is_whole(read.span) for read in reads)

    def choose(self, reads: Iterable[SelectorRead]) -> Choices:
        """The level of each selector; one that is read twice is read at one."""
        whole: dict[Key, bool] = {}
        first: dict[Key, SelectorRead] = {}
        for read in reads:
            key = key_of(read.selector, read.function, is_aligned=read.is_aligned)
            whole[key] = whole.get(key, True) and self.is_whole(read.span)
            first.setdefault(key, read)
        return {key: self._choice(read, is_whole=whole[key]) for key, read in first.items()}

    def _choice(self, read: SelectorRead, *, is_whole: bool) -> Choice:
        range_ms = read.selector.range_ms if isinstance(read.selector, RangeSelector) else 0
        if is_whole:
            if not (self.is_worth and read.is_aligned):
                return RAW
            if read.function in ROLLED and range_ms >= LEAST_RANGE_MS:
                return Choice(level=_of_minutes(read.function))
            return Choice(level=Level.LAST) if _is_of_last(read) else RAW
        is_rolled = read.function in ROLLED
        level = _of_minutes(read.function) if is_rolled else Level.LAST
        if read.is_aligned and (is_rolled or _is_of_last(read)):
            return Choice(level=level)
        return Choice(level=level, info=self._info(read, range_ms)) if self.tells else RAW

    def _info(self, read: SelectorRead, range_ms: int) -> str:
        since = np.datetime64(self.whole[-1][0] // 1_000, "s") if self.whole else "now"
        if not isinstance(read.selector, RangeSelector):
            what = "values are up to 60 s older than at full resolution, or missing where the look-back is shorter"
        elif read.function in ROLLED:
            what = f"windows of {read.function} begin and end up to {60 if range_ms >= MINUTE_MS else 120} s early"
        else:
            what = f"{read.function or 'a range'} sees the last sample of each minute alone"
        return f"one-minute rollups stand for samples before {since}Z, which were deleted for their age: {what}"


def _of_minutes(function: str) -> Level:
    return Level.ENDS if function in ENDS_FUNCTIONS else Level.MINUTES


def _is_of_last(read: SelectorRead) -> bool:
    return not isinstance(read.selector, RangeSelector) or read.function in LAST_FUNCTIONS


def key_of(selector: Selector | RangeSelector, function: str, *, is_aligned: bool) -> Key:
    """Of a choice."""
    return id(selector), function, is_aligned


def span_at(read: SelectorRead, level: Level) -> Span:
    """What is read at a level."""
    if level.is_of_minutes and isinstance(read.selector, RangeSelector):
        return minutes_span(read.selector, read.grid)
    return read.span


def minute_edges(times: IntArray, range_ms: int) -> tuple[IntArray, IntArray]:
    """Begins and ends of the windows of whole minutes, of at least one, that stand for those that end at `times`."""
    ends = times // MINUTE_MS * MINUTE_MS
    return np.minimum((times - range_ms) // MINUTE_MS * MINUTE_MS, ends - MINUTE_MS), ends


def is_worth(grid: Grid, behind_ms: int) -> bool:
    """Whether a query is long enough for rollups to be worth it."""
    return (grid.count - 1) * grid.step_ms + behind_ms >= WORTH_MS
