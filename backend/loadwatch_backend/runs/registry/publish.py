"""A run's per-second series as samples, under the names that live streams use; they replace what was streamed.

Past the ingest's age limit on purpose: the window of a run is pinned.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future

import numpy as np
import structlog
from loadwatch_formats.metrics.loadtest import (
    BYTES,
    DURATION,
    FASTEST_LABEL,
    QUANTILE_LABELS,
    REQUESTS,
    TARGET_RATE,
    USERS,
)
from loadwatch_formats.metrics.model import metrics_of
from loadwatch_formats.outcomes import OUTCOMES

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.records.model import FloatArray, IntArray, Seconds
from loadwatch_backend.series.store.port import (
    STALE_NAN_BITS,
    Batch,
    Labels,
    Matcher,
    MatchOperator,
    MetricMetadata,
    SampleStore,
)

logger = structlog.get_logger(__name__)

SECOND_MS = 1_000
APPEND_SECONDS = 120.0
BATCH_SAMPLES = 100_000

COUNTED = (REQUESTS, DURATION, BYTES)
"""Metrics of the same requests as the result's; nothing streamed of them may stay beside it."""
STATED = (TARGET_RATE, USERS)
"""Metrics that may be in a stream alone: they stay unless the result has them, too."""
METADATA: Mapping[str, MetricMetadata] = {
    metric.name: MetricMetadata(type=metric.type, help=metric.help, unit=metric.unit)
    for metric in metrics_of("load")["loadtest"]
    if metric.name in (*COUNTED, *STATED)
}

Series = tuple[Labels, IntArray, FloatArray]
LATEST_MS = 2**62
_STALE = np.array([STALE_NAN_BITS], np.uint64).view(np.float64)
_NOTHING: tuple[IntArray, FloatArray] = (np.empty(0, np.int64), np.empty(0, np.float64))


def series_of(run_id: str, seconds: Seconds, target_rate: float | None) -> Iterator[Series]:
    """Labels, times (ms) and values of each series of a run.

    Counters have a 0 at the start; every value stands at the end of its second, and a stale marker one second after the
    last.
    """
    count = len(seconds.outcomes)
    if not count:
        return
    start_ms = seconds.start_ms // SECOND_MS * SECOND_MS
    ends = start_ms + SECOND_MS * np.arange(1, count + 1, dtype=np.int64)

    def counter(metric: str, label: str, value: str, per_second: IntArray) -> Series:
        sums = np.concatenate([[0], np.cumsum(per_second)]).astype(np.float64)
        return _ended({"__name__": metric, "run": run_id, label: value}, np.concatenate([[start_ms], ends]), sums)

    for code, outcome in enumerate(OUTCOMES):
        if seconds.outcomes[:, code].any():
            yield counter(REQUESTS, "outcome", outcome.value, seconds.outcomes[:, code])
    for direction, sizes in (("in", seconds.bytes_in), ("out", seconds.bytes_out)):
        if sizes is not None:
            yield counter(BYTES, "direction", direction, np.maximum(sizes, 0))
    if seconds.latency is not None:
        columns = [(quantile, seconds.latency[:, column]) for column, quantile in enumerate(QUANTILE_LABELS)]
        columns += [] if seconds.fastest is None else [(FASTEST_LABEL, seconds.fastest)]
        for quantile, values in columns:
            yield from _known({"__name__": DURATION, "run": run_id, "quantile": quantile}, ends, values)
    if seconds.users is not None:
        yield from _known({"__name__": USERS, "run": run_id}, ends, seconds.users)
    if target_rate is not None:
        labels = {"__name__": TARGET_RATE, "run": run_id}
        yield _ended(labels, ends, np.full(count, target_rate, np.float64))


def publish(store: SampleStore, run_id: str, seconds: Seconds, target_rate: float | None) -> bool:
    """Put a run's series into the store, in place of what was streamed or imported of it before.

    False when the store refuses, which is logged: the result itself has them.
    """
    try:
        own = list(series_of(run_id, seconds, target_rate))
        waiting: list[Future[None]] = []
        for labels, times, values in [*_replaced(store, run_id, own), *own]:
            series = store.resolve([labels])
            for begin in range(0, len(times), BATCH_SAMPLES):
                part = slice(begin, begin + BATCH_SAMPLES)
                rows = len(times[part])
                batch = Batch(series=np.repeat(series, rows), timestamps=times[part], values=values[part])
                waiting.append(store.append(batch))
            while len(waiting) > 8:
                waiting.pop(0).result(APPEND_SECONDS)
        for future in waiting:
            future.result(APPEND_SECONDS)
        store.put_metadata(METADATA)
    except (ProblemError, TimeoutError) as error:
        logger.warning("the store did not take a run's series", run=run_id, error=str(error))
        return False
    return True


def _replaced(store: SampleStore, run_id: str, own: Sequence[Series]) -> Iterator[Series]:
    """Samples that take those of the run away which are not among its `own`: the last one written at a time wins.

    At a time inside of the own series stands its value from before, so that nothing ends there; anywhere else, and for
    series that the run no longer has (failures that were streamed under another outcome), a stale marker.
    """
    if not own:
        return
    wanted = {frozenset(labels.items()): (times, values) for labels, times, values in own}
    told = {labels["__name__"] for labels, _, _ in own}
    for metric in (*COUNTED, *(name for name in STATED if name in told)):
        matchers = [Matcher("__name__", MatchOperator.EQUAL, metric), Matcher("run", MatchOperator.EQUAL, run_id)]
        for labels, other, held in store.select(matchers, 0, LATEST_MS).each():
            times, values = wanted.get(frozenset(labels.items()), _NOTHING)
            there = held.view(np.uint64) != STALE_NAN_BITS
            other = other[there & ~np.isin(other, times)]
            if not len(other):
                continue
            place = np.searchsorted(times, other) - 1
            inside = (place >= 0) & (place < len(times) - 1)
            yield (
                labels,
                other,
                np.where(inside, values[place], _STALE) if len(times) else np.repeat(_STALE, len(other)),
            )


def _known(labels: dict[str, str], times: IntArray, values: FloatArray) -> Iterator[Series]:
    known = ~np.isnan(values)
    if known.any():
        # The marker comes a second after the last second of the run, not of the last request.
        yield _ended(labels, times[known], values[known], end_ms=int(times[-1]))


def _ended(labels: dict[str, str], times: IntArray, values: FloatArray, end_ms: int | None = None) -> Series:
    last_ms = int(times[-1]) if end_ms is None else end_ms
    return labels, np.append(times, last_ms + SECOND_MS), np.concatenate([values, _STALE])
