"""The load of a run from the store: what was streamed while it was under way."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from loadwatch_formats.metrics.loadtest import BYTES, DURATION, FASTEST_LABEL, QUANTILE_LABELS, REQUESTS, USERS
from loadwatch_formats.outcomes import OUTCOMES, Outcome, outcome_of_k6_code
from loadwatch_formats.run_spans import LONGEST_RUN_DAYS

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, IntArray, Seconds
from loadwatch_backend.evidence.series import LARGEST_VALUE
from loadwatch_backend.runs.analysis.load import SECOND_MS
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Reader, Selection

LATE_MS = 10_000
"""Samples are stamped at the end of their second, and tools flush late."""
_COLUMNS: Mapping[str, int] = {outcome.value: code for outcome, code in OUTCOME_CODES.items()}


def read_stream(store: Reader, run: str, from_ms: int, to_ms: int) -> Seconds | None:
    """Per-second series of `loadtest_*`; None when the run has none."""
    selection = _select(store, REQUESTS, run, from_ms, to_ms)
    counted = _counted(selection, from_ms, lambda labels: _column(labels.get("outcome", "")))
    if counted is None:
        return None
    start_ms, outcomes = counted
    count = len(outcomes)
    durations = _select(store, DURATION, run, from_ms, to_ms)
    latency = _latency(durations, start_ms, count, QUANTILE_LABELS)
    fastest = _latency(durations, start_ms, count, (FASTEST_LABEL,))
    sizes = _select(store, BYTES, run, from_ms, to_ms)
    return Seconds(
        start_ms=start_ms,
        outcomes=outcomes,
        latency=latency,
        bytes_in=_bytes(sizes, "in", start_ms, count),
        bytes_out=_bytes(sizes, "out", start_ms, count),
        users=read_gauge(store, USERS, run, start_ms, count),
        exact=latency is not None,
        fastest=None if fastest is None else fastest[:, 0],
    )


def without_tail(seconds: Seconds, end_ms: int) -> Seconds:
    """The seconds up to the run's end, and those after it up to the last one with a request.

    A counter that is still scraped after the run stands still: its seconds are none of the run's.
    """
    busy = np.flatnonzero(seconds.requests)
    last = int(busy[-1]) + 1 if len(busy) else 0
    count = max(last, -(-(end_ms - seconds.start_ms) // SECOND_MS), 1)
    if count >= len(seconds.outcomes):
        return seconds
    names = ("outcomes", "latency", "bytes_in", "bytes_out", "users", "fastest")
    known = {name: values for name in names if (values := getattr(seconds, name)) is not None}
    return replace(seconds, **{name: values[:count] for name, values in known.items()})


def read_k6(store: Reader, run: str, from_ms: int, to_ms: int) -> Seconds | None:
    """Per-second series of k6's own metrics; None when the run has none.

    k6 pushes each few seconds, so counts are spread evenly in between; its latencies are cumulative over the run and
    over each combination of tags, so they are left out.
    """
    selection = _select(store, "k6_http_reqs_total", run, from_ms, to_ms)
    counted = _counted(selection, from_ms, lambda labels: OUTCOME_CODES[k6_outcome(labels)])
    if counted is None:
        return None
    start_ms, outcomes = counted
    return Seconds(
        start_ms=start_ms,
        outcomes=outcomes,
        latency=None,
        bytes_in=None,
        bytes_out=None,
        users=read_gauge(store, "k6_vus", run, start_ms, len(outcomes)),
        exact=False,
    )


def read_gauge(store: Reader, metric: str, run: str, start_ms: int, count: int) -> FloatArray | None:
    """The newest value at the end of each second, [second]; NaN where it is older than ten seconds."""
    selection = _select(store, metric, run, start_ms - LATE_MS, start_ms + count * SECOND_MS + LATE_MS)
    ends = start_ms + SECOND_MS * np.arange(1, count + 1)
    found: FloatArray | None = None
    for _, times, values in _series(selection):
        rows = np.searchsorted(times, ends, side="right") - 1
        known = (rows >= 0) & (times[np.maximum(rows, 0)] > ends - LATE_MS)
        one = np.where(known, values[np.maximum(rows, 0)], np.nan)
        found = one if found is None else np.where(np.isnan(found), one, found)
    return None if found is None or bool(np.isnan(found).all()) else found


def counts_per_second(times: IntArray, values: FloatArray, start_ms: int, count: int) -> IntArray:
    """Increase of a cumulative counter in each second.

    Args:
        times: of the samples, rising; milliseconds.
        values: a falling value is a counter that began again at zero.
        start_ms: start of the first second.
        count: how many seconds.

    Returns:
        int64[count]; a gap's increase is spread evenly over it, and the sum is that of the samples.
    """
    steps = np.diff(values)
    total = np.concatenate([[0.0], np.cumsum(np.where(steps < 0, values[1:], steps))])
    edges = start_ms + SECOND_MS * np.arange(count + 1)
    return np.diff(np.rint(np.interp(edges, times, total)).astype(np.int64))


def k6_outcome(labels: Labels) -> Outcome:
    """How the requests of a series of k6's ended, by its tags; as in k6's files, but for the text of an error."""
    code, status, expected = (labels.get(name, "") for name in ("error_code", "status", "expected_response"))
    if (kind := outcome_of_k6_code(code)) is not None:
        return kind
    if status.startswith("4"):
        return Outcome.HTTP_4XX
    if status.startswith("5"):
        return Outcome.HTTP_5XX
    if status not in ("", "0"):
        return Outcome.ASSERTION if expected == "false" else Outcome.OK
    return Outcome.OTHER if code or status or expected == "false" else Outcome.OK


def _select(store: Reader, metric: str, run: str, from_ms: int, to_ms: int) -> Selection:
    matchers = [Matcher("__name__", MatchOperator.EQUAL, metric), Matcher("run", MatchOperator.EQUAL, run)]
    return store.select(matchers, max(from_ms - LATE_MS, 0), to_ms + LATE_MS)


def _series(selection: Selection) -> Iterable[tuple[Labels, IntArray, FloatArray]]:
    for labels, times, values in selection.each():
        known = np.abs(values) <= LARGEST_VALUE
        if known.any():
            yield labels, times[known], values[known]


def _counted(selection: Selection, from_ms: int, column_of: Callable[[Labels], int]) -> tuple[int, IntArray] | None:
    """Start of the first second, and the requests of each second and outcome; None without samples.

    A kind of outcome has no series before it first occurs: a series that has no sample where others have one has not
    changed, and was zero before its first sample.
    """
    counts = np.diff(selection.offsets)
    known = np.abs(selection.values) <= LARGEST_VALUE
    if not known.any():
        return None
    series = np.repeat(np.arange(len(counts)), counts)[known]
    times, values = selection.timestamps[known], selection.values[known]
    before = np.where(np.diff(series, prepend=-1) != 0, 0.0, np.concatenate([[0.0], values[:-1]]))
    increases = np.where(values < before, values, values - before)
    ticks, places = np.unique(times, return_inverse=True)
    columns = np.array([column_of(labels) for labels in selection.labels], dtype=np.int64)[series]
    width = len(OUTCOMES)
    sums = np.bincount(places * width + columns, increases, len(ticks) * width).astype(np.float64)
    grown = sums.reshape(len(ticks), width)
    begun = bool(grown[0].any())
    start_ms = (min(from_ms, int(ticks[0])) if begun else int(ticks[0])) // SECOND_MS * SECOND_MS
    count = min(-(-(int(ticks[-1]) - start_ms) // SECOND_MS), LONGEST_RUN_DAYS * 86_400)
    if count <= 0:
        return None
    edges = np.concatenate([[start_ms], ticks])
    totals = np.concatenate([np.zeros((1, width)), np.cumsum(grown, axis=0)])
    outcomes = [counts_per_second(edges, totals[:, column], start_ms, count) for column in range(width)]
    return start_ms, np.stack(outcomes, axis=1)


def _column(outcome: str) -> int:
    return _COLUMNS.get(outcome, OUTCOME_CODES[Outcome.OTHER])


def _latency(selection: Selection, start_ms: int, count: int, quantiles: Sequence[str]) -> FloatArray | None:
    """[second, quantile], NaN where there was no request; None without samples."""
    found = np.full((count, len(quantiles)), np.nan)
    for labels, times, values in _series(selection):
        if labels.get("quantile") not in quantiles:
            continue
        rows = -(-(times - start_ms) // SECOND_MS) - 1
        inside = (rows >= 0) & (rows < count)
        found[rows[inside], quantiles.index(labels["quantile"])] = values[inside]
    return None if np.isnan(found).all() else found


def _bytes(selection: Selection, direction: str, start_ms: int, count: int) -> IntArray | None:
    found: IntArray | None = None
    for labels, times, values in _series(selection):
        if labels.get("direction") == direction:
            one = counts_per_second(times, values, start_ms, count)
            found = one if found is None else found + one
    return found
