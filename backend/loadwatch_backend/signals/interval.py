"""How often the data of an expression comes, read from its newest samples."""

import threading
from collections.abc import Sequence

import numpy as np

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.promql.expression import Expression, RangeSelector, Selector, walk
from loadwatch_backend.store.port import Matcher, SampleStore, Selection

SAMPLED_MS = 90_000
"""Span of newest samples looked at: six of a 15 s scrape."""
REMEMBERED_MS = 20_000
LARGEST_CACHE = 4_096
FINEST_SAMPLED_MS = 1_200_000
"""Late values may come each minute, and be minutes late."""
UNKNOWN_LOOKBACK_MS = 300_000
UNKNOWN_WINDOW_MS = 60_000
LEAST_MS = 5_000
INTERVALS = 4
"""Four intervals: one missed sample, or two late ones, leave no gap."""


def measure_interval(selection: Selection) -> int | None:
    """The largest of the usual distances (medians) between samples of a series, in ms; None when nothing tells.

    The largest, because the slowest sender must still be seen. A series with fewer than three distances (a database
    user that comes and goes) has a say only where no other has more.
    """
    usual: list[float] = []
    rare: list[float] = []
    for begin, end in zip(selection.offsets[:-1].tolist(), selection.offsets[1:].tolist(), strict=True):
        if end - begin < 2:
            continue
        distance = float(np.median(np.diff(selection.timestamps[begin:end])))
        (usual if end - begin > 3 else rare).append(distance)
    if usual:
        return round(max(usual))
    return round(min(rare)) if rare else None


def measure_finest(selection: Selection) -> int | None:
    """The smallest of the usual distances (medians) between samples of a series, in ms; None when nothing tells.

    The smallest, because of late values none may be passed over; how long each of a slower series lasts is seen from
    its own distances.
    """
    usual = [
        float(np.median(np.diff(selection.timestamps[begin:end])))
        for begin, end in zip(selection.offsets[:-1].tolist(), selection.offsets[1:].tolist(), strict=True)
        if end - begin > 3
    ]
    return round(min(usual)) if usual else None


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
    """All selectors of an expression."""
    found = [node.selector if isinstance(node, RangeSelector) else node for node in walk(expression)]
    return [node for node in found if isinstance(node, Selector)]


class IntervalDetector:
    """Measures intervals and remembers them for a while; safe to use from any thread."""

    def __init__(self, store: SampleStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[tuple[tuple[Matcher, ...], int, bool], tuple[int, int | None]] = {}

    def detect(self, expression: Expression, end_ms: int) -> int | None:
        """The interval of the slowest selector of the expression at `end_ms`; None when nothing tells."""
        found = [self._detect(selector.matchers, end_ms, finest=False) for selector in selectors_of(expression)]
        return max((interval for interval in found if interval is not None), default=None)

    def detect_finest(self, expression: Expression, end_ms: int) -> int | None:
        """The interval of the fastest series of an expression whose values come late; None when nothing tells."""
        found = [self._detect(selector.matchers, end_ms, finest=True) for selector in selectors_of(expression)]
        return min((interval for interval in found if interval is not None), default=None)

    def _detect(self, matchers: tuple[Matcher, ...], end_ms: int, *, finest: bool) -> int | None:
        now = self._clock()
        # Questions about the present share an entry; those about the past one for each minute.
        key = (matchers, 0 if end_ms > now - SAMPLED_MS else end_ms // 60_000, finest)
        known = self._known.get(key)
        if known is not None and now - known[0] < REMEMBERED_MS:
            return known[1]
        if finest:
            interval = measure_finest(self._store.select(matchers, end_ms - FINEST_SAMPLED_MS, end_ms))
        else:
            interval = measure_interval(self._store.select(matchers, end_ms - SAMPLED_MS, end_ms))
        with self._lock:
            if len(self._known) >= LARGEST_CACHE:
                self._known.clear()
            self._known[key] = (now, interval)
        return interval
