"""Counters of the store on common edges: what grew in each interval, whoever sampled it when."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.records.model import FloatArray, IntArray
from loadwatch_backend.series.store.errors import QueryLimitError
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Matcher, MatchOperator, Reader, Selection

BoolArray = npt.NDArray[np.bool_]
SLICE_MS = 600_000
LARGEST_VALUE = 1e30
"""Values beyond this, and infinities, are treated as gaps, so that sums and products stay finite."""
MOST_SERIES = 20_000
"""Of one metric; of more, the first ones are read."""
MOST_INTERVALS = 1_200
BRIDGED_INTERVALS, BRIDGED_MS = 5, 10_000
"""A longer gap between two samples says nothing of the intervals in it."""
USUAL_INTERVALS = 1.5
OUTLANDISH = 3.0
"""A series that begins with so many times its largest later growth had begun before it was seen."""


@dataclass(frozen=True, kw_only=True)
class Edges:
    """Intervals from each time to the next, ms since the epoch, of one length."""

    times: FloatArray
    step_ms: int

    @property
    def count(self) -> int:
        return max(len(self.times) - 1, 0)


@dataclass(frozen=True, kw_only=True)
class Grown:
    """What counters of one metric grew by in each interval.

    Attributes:
        labels: of each series.
        values: [series, interval]; 0 where a series is not there.
        seen: [interval], whether the sender was there at all.
        sampled: [interval], whether it was also sampled as often as usual: what a longer gap holds is spread evenly,
            and says nothing of what happened in which second.
    """

    labels: Sequence[Mapping[str, str]]
    values: FloatArray
    seen: BoolArray
    sampled: BoolArray

    def by(self, key: Callable[[Mapping[str, str]], Any]) -> dict[Any, FloatArray]:
        """[interval] of each key that is not None, summed over its series."""
        found: dict[Any, FloatArray] = {}
        for labels, values in zip(self.labels, self.values, strict=True):
            name = key(labels)
            if name is not None:
                found[name] = found[name] + values if name in found else values.copy()
        return found


def edges_of(from_ms: int, to_ms: int, step_ms: int, phase_ms: int) -> Edges:
    """Edges that cover a span, at the phase at which samples are taken."""
    first = (from_ms - phase_ms) // step_ms * step_ms + phase_ms
    count = max(-(-(to_ms - first) // step_ms), 1)
    return Edges(times=first + step_ms * np.arange(count + 1, dtype=np.float64), step_ms=step_ms)


def sampled_edges(from_ms: int, to_ms: int, interval_ms: int, phase_ms: int) -> Edges:
    """Edges at the instants of samples, or at every second, third and so on of many."""
    least = -(-(to_ms - from_ms) // MOST_INTERVALS)
    return edges_of(from_ms, to_ms, -(-max(interval_ms, least) // interval_ms) * interval_ms, phase_ms)


def rhythm(store: Reader, metric: str, from_ms: int, to_ms: int) -> tuple[int, int] | None:
    """How far apart samples of a metric are, and their phase in that, ms; None without any."""
    middle = (from_ms + to_ms) // 2
    for begin, end in ((middle - 60_000, middle + 60_000), (from_ms, to_ms)):
        best: IntArray | None = None
        for selection in select_parts(store, [_named(metric)], max(begin, from_ms), min(end, to_ms)):
            for low, high in zip(selection.offsets[:-1].tolist(), selection.offsets[1:].tolist(), strict=True):
                if best is None or high - low > len(best):
                    best = selection.timestamps[low:high]
        if best is not None and len(best) >= 2:
            interval = max(round(float(np.median(np.diff(best))) / 1_000) * 1_000, 1_000)
            return interval, int(np.median(best % interval))
    return None


def read_grown(store: Reader, metric: str, edges: Edges, matchers: Iterable[Matcher] = ()) -> Grown:
    """What the counters of a metric grew by between edges.

    Raises:
        ProblemError: of the store.
    """
    begin, end = int(edges.times[0]) - BRIDGED_MS, int(edges.times[-1]) + BRIDGED_MS
    rows: dict[tuple[tuple[str, str], ...], int] = {}
    pieces: list[list[tuple[IntArray, FloatArray]]] = []
    asked = [_named(metric), *matchers]
    for from_ms in range(max(begin, 0), end + 1, SLICE_MS):
        for selection in select_parts(store, asked, from_ms, min(from_ms + SLICE_MS - 1, end)):
            _keep(rows, pieces, selection, edges.step_ms)
    labels = [dict(key) for key in rows]
    there = _presence(store, {one.get("job", "") for one in labels}, max(begin, 0), end)
    series = [
        (np.concatenate([times for times, _ in one]), np.concatenate([values for _, values in one])) for one in pieces
    ]
    return grown_of(labels, series, edges, there)


def grown_of(
    labels: Sequence[Mapping[str, str]],
    series: Sequence[tuple[IntArray, FloatArray]],
    edges: Edges,
    there: Mapping[tuple[str, str], IntArray] | None = None,
) -> Grown:
    """The same of samples (times in ms, values) that are at hand. Pure.

    `there`: further times at which senders, by job and instance, were there: a counter of what has not happened yet
    has no series.
    """
    at = edges.times
    senders: dict[tuple[str, str], list[int]] = {}
    for row, one in enumerate(labels):
        senders.setdefault((one.get("job", ""), one.get("instance", "")), []).append(row)
    values = np.zeros((len(labels), edges.count))
    seen, sampled = np.zeros(edges.count, dtype=np.bool_), np.ones(edges.count, dtype=np.bool_)
    for sender, members in senders.items():
        further = [] if there is None or sender not in there else [there[sender]]
        read = np.unique(np.concatenate([series[row][0] for row in members]))
        instants = np.unique(np.concatenate([*further, read]))
        known = _covered(instants, at, max(_usual(instants) * BRIDGED_INTERVALS, BRIDGED_MS))
        seen |= known
        # Of several senders each has to have been there: their sum is what is compared.
        sampled &= _covered(instants, at, _usual(instants) * USUAL_INTERVALS) | ~known
        for row in members:
            values[row] = np.where(known, _growth(*_held(*_with_beginning(*series[row], instants), read), at), 0.0)
    return Grown(labels=labels, values=values, seen=seen, sampled=seen & sampled)


def _presence(store: Reader, jobs: set[str], begin: int, end: int) -> dict[tuple[str, str], IntArray]:
    """When an agent said of these jobs that it could read them, by job and instance."""
    wanted = [Matcher("__name__", MatchOperator.EQUAL, "up")]
    if len(jobs) == 1:
        wanted.append(Matcher("job", MatchOperator.EQUAL, next(iter(jobs))))
    found: dict[tuple[str, str], IntArray] = {}
    for selection in select_parts(store, wanted, begin, end):
        bounds = selection.offsets.tolist()
        for labels, first, last in zip(selection.labels, bounds[:-1], bounds[1:], strict=True):
            key = (labels.get("job", ""), labels.get("instance", ""))
            if key[0] in jobs:
                times = selection.timestamps[first:last][selection.values[first:last] == 1.0]
                found[key] = np.union1d(found[key], times) if key in found else times
    return found


def _named(metric: str) -> Matcher:
    return Matcher("__name__", MatchOperator.EQUAL, metric)


def select_parts(store: Reader, matchers: Sequence[Matcher], from_ms: int, to_ms: int) -> Iterable[Selection]:
    """The samples of a span, in as many parts as the store's bounds ask for.

    Raises:
        ProblemError: of the store; QueryLimitError where a second holds more than it gives.
    """
    try:
        yield store.select(matchers, max(from_ms, 0), to_ms)
    except QueryLimitError:
        if to_ms - from_ms < 1_000:
            raise
        middle = (from_ms + to_ms) // 2
        yield from select_parts(store, matchers, from_ms, middle)
        yield from select_parts(store, matchers, middle + 1, to_ms)


def _keep(
    rows: dict[tuple[tuple[str, str], ...], int],
    pieces: list[list[tuple[IntArray, FloatArray]]],
    selection: Selection,
    step_ms: int,
) -> None:
    live = selection.values.view(np.uint64) != STALE_NAN_BITS
    bounds = selection.offsets.tolist()
    for labels, begin, end in zip(selection.labels, bounds[:-1], bounds[1:], strict=True):
        chosen = live[begin:end] & (np.abs(selection.values[begin:end]) <= LARGEST_VALUE)
        times, values = selection.timestamps[begin:end][chosen], selection.values[begin:end][chosen]
        if not len(times):
            continue
        key = tuple(sorted((name, value) for name, value in labels.items() if name != "__name__"))
        row = rows.get(key)
        if row is None:
            if len(rows) >= MOST_SERIES:
                continue
            row = rows[key] = len(pieces)
            pieces.append([])
        # Of many samples in a step the last one is enough, and a fall between two of them is still seen.
        quarter = times // max(step_ms // 4, 1)
        last = np.ones(len(quarter), dtype=np.bool_)
        last[:-1] = quarter[1:] != quarter[:-1]
        pieces[row].append((times[last], values[last]))


def _usual(instants: IntArray) -> float:
    """Distance of samples, ms; 0 of fewer than two."""
    return float(np.median(np.diff(instants))) if len(instants) > 1 else 0.0


def _covered(instants: IntArray, at: FloatArray, longest: float) -> BoolArray:
    """[interval], whether samples stand so near around both its edges that what lies between is known."""
    if len(instants) < 2:
        return np.zeros(max(len(at) - 1, 0), dtype=np.bool_)
    after = np.clip(np.searchsorted(instants, at, side="left"), 1, len(instants) - 1)
    # An edge may lie a moment beyond the last sample: a step's jitter is no gap.
    beyond = longest / (2 * BRIDGED_INTERVALS)
    inside = (at >= instants[0] - beyond) & (at <= instants[-1] + beyond)
    known = inside & (instants[after] - instants[after - 1] <= longest)
    return known[:-1] & known[1:]


def _with_beginning(times: IntArray, values: FloatArray, instants: IntArray) -> tuple[IntArray, FloatArray]:
    """With the zero that a series had before its first sample, where its sender was there already."""
    place = int(np.sum(instants < times[0]))
    if place == 0:
        return times, values
    largest = float(np.max(values[1:] - values[:-1], initial=0.0))
    if len(values) > 1 and values[0] > max(OUTLANDISH * largest, 10.0):
        return times, values
    return np.concatenate([instants[place - 1 : place], times]), np.concatenate([np.zeros(1), values])


def _held(times: IntArray, values: FloatArray, read: IntArray) -> tuple[IntArray, FloatArray]:
    """With what stood at the readings between its samples: agents do not send again what has not changed."""
    between = read[(read > times[0]) & (read < times[-1])]
    every = np.union1d(times, between)
    if len(every) == len(times):
        return times, values
    return every, values[np.searchsorted(times, every, side="right") - 1]


def _growth(times: IntArray, values: FloatArray, at: FloatArray) -> FloatArray:
    """[interval]: growth between edges, evenly spread between samples; a fall is a new beginning at zero."""
    steps = np.diff(values)
    running: FloatArray = np.zeros(len(values), dtype=np.float64)
    running[1:] = np.cumsum(np.where(steps < 0, values[1:], steps))
    return np.diff(np.interp(at, times.astype(np.float64), running))
