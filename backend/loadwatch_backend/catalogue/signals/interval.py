"""How often the data of an expression comes, read from its newest samples."""

import functools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.series.promql.functions.covered import Cover, with_cover
from loadwatch_backend.series.promql.parsing.expression import (
    Binary,
    Call,
    Expression,
    RangeSelector,
    Selector,
    children,
    walk,
    with_children,
)
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.store.port import Matcher, Reader, Selection

SAMPLED_MS = 270_000
"""Span of newest samples looked at: four of a scrape each minute, which tell its interval beside faster ones."""
WIDER = 6
"""How much longer each further span is in which older samples of the range are looked for."""
REMEMBERED_MS = 30_000
LARGEST_CACHE = 4_096
FINEST_SAMPLED_MS = 1_200_000
"""Late values may come each minute, and be minutes late."""
UNKNOWN_LOOKBACK_MS = 300_000
UNKNOWN_WINDOW_MS = 60_000
LEAST_MS = 5_000
WINDOW = "$window"
ANY_MS = 86_399_000
"""Stands for `$window` in a tree until it is known how often the data comes; no one writes such a range."""
INTERVALS = 4
"""Four intervals: one missed sample, or two late ones, leave no gap."""
Intervals = Mapping[Selector, int | None]
"""By selector of an expression how often its data comes, ms; None where nothing tells."""


def measure_interval(selection: Selection) -> int | None:
    """The largest of the usual distances (medians) between samples of a series, in ms; None when nothing tells.

    The largest, because the slowest sender must still be seen. A series with fewer than three distances (a database
    user that comes and goes) has a say only where no other has more.
    """
    if usual := _distances(selection, 4):
        return round(max(usual))
    rare = _distances(selection, 2)
    return round(min(rare)) if rare else None


def measure_finest(selection: Selection) -> int | None:
    """The smallest of the usual distances (medians) between samples of a series, in ms; None when nothing tells.

    The smallest, because of late values none may be passed over; how long each of a slower series lasts is seen from
    its own distances.
    """
    usual = _distances(selection, 4)
    return round(min(usual)) if usual else None


def _distances(selection: Selection, least: int) -> list[float]:
    return [float(np.median(np.diff(times))) for _, times, _ in selection.each() if len(times) >= least]


def lookback_of(interval_ms: int | None) -> int:
    """How long a sample counts as the present value; at most Prometheus' five minutes."""
    if interval_ms is None:
        return UNKNOWN_LOOKBACK_MS
    return min(max(INTERVALS * interval_ms, LEAST_MS), UNKNOWN_LOOKBACK_MS)


def window_of(interval_ms: int | None, fine_ms: int) -> int:
    """What rates look back over, in whole seconds as ms.

    At least a step of the grid, so that no increase falls between two instants.
    """
    window = UNKNOWN_WINDOW_MS if interval_ms is None else max(INTERVALS * interval_ms, LEAST_MS)
    return -(-max(window, fine_ms) // 1_000) * 1_000


def selectors_of(expression: Expression) -> Sequence[Selector]:
    found = [node.selector if isinstance(node, RangeSelector) else node for node in walk(expression)]
    return [node for node in found if isinstance(node, Selector)]


def cover_of(interval_ms: int | None, fine_ms: int, *, held: bool = False) -> Cover:
    """How rates are read for a grid of `fine_ms`: over an interval, over five seconds of shorter ones, over a step.

    `held` asks for the newest rate as the present one, as a look-back does for other samples.
    """
    if interval_ms is None:
        window = max(UNKNOWN_WINDOW_MS, fine_ms)
        return Cover(window_ms=window, bridge_ms=UNKNOWN_LOOKBACK_MS, hold_ms=UNKNOWN_WINDOW_MS if held else 0)
    usual, bridge = max(interval_ms, LEAST_MS), max(INTERVALS * interval_ms, LEAST_MS)
    if held:
        return Cover(window_ms=max(usual, fine_ms), bridge_ms=bridge, hold_ms=lookback_of(interval_ms))
    if fine_ms > usual:
        # A load that ended between two instants is drawn at the second one.
        return Cover(window_ms=fine_ms, bridge_ms=bridge, hold_ms=fine_ms)
    return Cover(window_ms=usual, bridge_ms=bridge, still_ms=usual)


def settled_after(interval_ms: int | None) -> int:
    """How long after the newest sample an instant may still change for want of samples, ms."""
    return 0 if interval_ms is None else min(cover_of(interval_ms, 0).ahead_ms, UNKNOWN_LOOKBACK_MS)


def slowest(intervals: Intervals) -> int | None:
    return max((interval for interval in intervals.values() if interval is not None), default=None)


def tree_of(text: str, intervals: Intervals, fine_ms: int, *, held: bool = False, across: bool = False) -> Expression:
    """An expression of the catalogue, whose `$window` fits the interval of its data and the step of the grid.

    Each alternative of an `or` is read by its own interval, not by that of a slower one. `across`: a rate is known in
    gaps of a minute, too, as the mean over the gap.
    """
    whole = slowest(intervals)

    def alternative(node: Expression) -> Expression:
        return fitted(node, slowest({one: intervals[one] for one in selectors_of(node)}) or whole)

    def fitted(node: Expression, interval_ms: int | None) -> Expression:
        match node:
            case Call(
                function="rate" | "deriv" as function, arguments=(RangeSelector(range_ms=range_ms) as selector,)
            ) if range_ms == ANY_MS:
                cover = cover_of(interval_ms, fine_ms, held=held)
                if across:
                    cover = replace(cover, bridge_ms=max(cover.bridge_ms, UNKNOWN_WINDOW_MS), still_ms=0)
                return with_cover(selector, cover, falls=function == "deriv")
            case RangeSelector() if node.range_ms == ANY_MS:
                return replace(node, range_ms=window_of(interval_ms, fine_ms))
            case Binary(operator="or"):
                return with_children(node, [alternative(child) for child in children(node)])
            case _:
                return with_children(node, [fitted(child, interval_ms) for child in children(node)])

    return fitted(parse_expression(fill_window(text, ANY_MS)), whole)


@functools.cache
def any_tree_of(text: str) -> Expression:
    """An expression of the catalogue with some window, which changes no selector: tells how often its data comes.

    Parsed when it is first asked for: all of the catalogue at once was a sixth of a server's start.
    """
    return parse_expression(fill_window(text, UNKNOWN_WINDOW_MS))


def fill_window(text: str, window_ms: int) -> str:
    return text.replace(WINDOW, f"{window_ms // 1_000}s")


class IntervalDetector:
    """Measures intervals and remembers them; safe to use from any thread.

    `conditions` narrow an expression's selectors to what is looked at: with an engine that is asked over HTTP, the
    samples of all instances are too many to find how often those of ten come.

    What tells is the newest data within the span that is asked about. Where that has none, the interval that the same
    selector had when it was last seen still holds: whether somebody sends now changes nothing about what was sent.
    """

    def __init__(self, store: Reader, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[tuple[tuple[Matcher, ...], int, int, bool], tuple[int, int | None]] = {}
        self._last: dict[tuple[tuple[Matcher, ...], bool], int] = {}

    def detect(
        self, expression: Expression, start_ms: int, end_ms: int, conditions: Sequence[Matcher] = ()
    ) -> Intervals:
        return {
            selector: self._detect((*selector.matchers, *conditions), start_ms, end_ms, finest=False)
            for selector in selectors_of(expression)
        }

    def detect_finest(self, expression: Expression, end_ms: int, conditions: Sequence[Matcher] = ()) -> int | None:
        """The interval of the fastest series of an expression whose values come late; None when nothing tells."""
        found = [
            self._detect((*selector.matchers, *conditions), end_ms, end_ms, finest=True)
            for selector in selectors_of(expression)
        ]
        return min((interval for interval in found if interval is not None), default=None)

    def _detect(self, matchers: tuple[Matcher, ...], start_ms: int, end_ms: int, *, finest: bool) -> int | None:
        now = self._clock()
        # Questions about the present share an entry; those about the past one for each minute.
        end = 0 if end_ms > now - SAMPLED_MS else end_ms // 60_000
        key = (matchers, start_ms // 60_000 if start_ms < end_ms - SAMPLED_MS else 0, end, finest)
        known = self._known.get(key)
        if known is not None and 0 <= now - known[0] < REMEMBERED_MS:
            return known[1]
        if finest:
            interval = measure_finest(self._store.select(matchers, end_ms - FINEST_SAMPLED_MS, end_ms))
        else:
            interval = self._newest_within(matchers, start_ms, end_ms)
        with self._lock:
            for kept in (self._known, self._last):
                if len(kept) >= LARGEST_CACHE:
                    kept.clear()
            if interval is None:
                interval = self._last.get((matchers, finest))
            else:
                self._last[matchers, finest] = interval
            self._known[key] = (now, interval)
        return interval

    def _newest_within(self, matchers: tuple[Matcher, ...], start_ms: int, end_ms: int) -> int | None:
        """The interval of the newest samples in the span, searched backwards from its end."""
        last_ms, span_ms = end_ms, SAMPLED_MS
        while True:
            first_ms = last_ms - span_ms
            selection = self._store.select(matchers, first_ms, last_ms)
            if len(selection.timestamps):
                newest_ms = int(selection.timestamps.max())
                if last_ms != end_ms:
                    selection = self._store.select(matchers, newest_ms - SAMPLED_MS, newest_ms)
                interval = measure_interval(selection)
                if interval is not None:
                    return interval
                # A slow sender has one sample in so short a span.
                return measure_interval(self._store.select(matchers, newest_ms - WIDER * SAMPLED_MS, newest_ms))
            if first_ms - 1 <= start_ms:
                return None
            last_ms = first_ms - 1
            span_ms = min(span_ms * WIDER, last_ms - start_ms)
