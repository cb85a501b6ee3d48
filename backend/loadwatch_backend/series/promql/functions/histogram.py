"""histogram_quantile over classic histograms: series of one metric that differ in `le`.

Source of the arithmetic: promql/quantile.go (BucketQuantile, coalesceBuckets, ensureMonotonicAndIgnoreSmallDeltas).
"""

import re
from collections.abc import Callable

import numpy as np

from loadwatch_backend.series.promql.labels import (
    METRIC_NAME,
    RESERVED,
    LabelKey,
    drop_labels,
    label_key,
    merge_alike,
    stack,
)
from loadwatch_backend.series.promql.numbers import format_short_number
from loadwatch_backend.series.promql.value import FloatArray, IntArray, Matrix, empty_matrix
from loadwatch_backend.series.store.port import Labels

BUCKET = "le"
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)", re.IGNORECASE)
_TOLERANCE = 1e-12
"""Differences between neighbouring buckets, relative to both, that are taken for rounding."""


Falling = Callable[[IntArray, FloatArray, FloatArray], None]
"""Told the steps, bounds and drops [buckets, steps] of cumulative counts that fall."""


def histogram_quantile(q: FloatArray, matrix: Matrix, falling: Falling | None = None) -> Matrix:
    """The q-quantile, q float64[steps], of each histogram; rows without a usable `le` are left out."""

    def compute(at: IntArray, bounds: FloatArray, counts: FloatArray) -> FloatArray:
        bounds, counts = _coalesced(bounds, counts)
        if falling is not None and bounds[-1] == np.inf:
            usable = (q[at] >= 0) & (q[at] <= 1)
            falling(at[usable], bounds, _drops(counts)[:, usable])
        return _bucket_quantile(q[at], bounds, counts)

    return _each(matrix, compute)


def bad_bounds(matrix: Matrix) -> list[str]:
    """Values of `le` that are no numbers, with their metrics, of the series that are there at any step."""
    bad = [row for row, labels in enumerate(matrix.labels) if not _NUMBER.fullmatch(labels.get(BUCKET, ""))]
    seen = [matrix.labels[row] for row in bad if matrix.present[row].any()]
    named = ((labels.get(BUCKET, ""), labels.get(METRIC_NAME, "")) for labels in seen)
    return sorted({f'"{bound}"' + (f' for metric name "{name}"' if name else "") for bound, name in named})


def histogram_quantiles(q: FloatArray, matrix: Matrix, label: str, falling: Falling | None = None) -> Matrix:
    """As `histogram_quantile`, with q in a label; q may change from step to step, and the series too."""
    found = histogram_quantile(q, matrix, falling)
    parts: list[Matrix] = []
    for value in np.unique(q).tolist():
        text = _open_metrics_number(value)
        here = np.isnan(q) if np.isnan(value) else q == value
        labels = [{**full, label: text} for full in found.labels]
        parts.append(Matrix(labels=labels, values=found.values, present=found.present & here[None, :]))
    return stack(parts, len(q))


def histogram_fraction(lower: FloatArray, upper: FloatArray, matrix: Matrix) -> Matrix:
    """Share of the observations of each histogram between `lower` and `upper`, float64[steps]."""
    return _each(matrix, lambda at, bounds, counts: _bucket_fraction(lower[at], upper[at], bounds, counts))


def _open_metrics_number(value: float) -> str:
    """As labels of OpenMetrics have it: a whole number with a decimal point."""
    text = format_short_number(value)
    return text if "e" in text or "." in text or not np.isfinite(value) else f"{text}.0"


def _each(matrix: Matrix, compute: Callable[[IntArray, FloatArray, FloatArray], FloatArray]) -> Matrix:
    """One value for each histogram and step: of the steps, bounds and counts [buckets, steps] that are there."""
    steps = matrix.values.shape[1]
    groups: dict[LabelKey, list[tuple[float, int]]] = {}
    labels: list[Labels] = []
    for row, full in enumerate(matrix.labels):
        bound = full.get(BUCKET, "")
        if not _NUMBER.fullmatch(bound):
            continue
        key = label_key(drop_labels(full, (BUCKET,)))
        if key not in groups:
            groups[key] = []
            labels.append(drop_labels(full, (BUCKET, METRIC_NAME, *RESERVED)))
        groups[key].append((float(bound), row))
    if not groups:
        return empty_matrix(steps)
    values = np.zeros((len(groups), steps))
    present = np.zeros((len(groups), steps), dtype=np.bool_)
    for number, buckets in enumerate(groups.values()):
        buckets.sort(key=lambda bucket: bucket[0])
        bounds = np.asarray([bound for bound, _ in buckets])
        rows = np.asarray([row for _, row in buckets], dtype=np.int64)
        alive = matrix.present[rows]
        present[number] = alive.any(axis=0)
        patterns, pattern_of = np.unique(alive, axis=1, return_inverse=True)
        for index, pattern in enumerate(patterns.T):
            if not pattern.any():
                continue
            at: IntArray = np.flatnonzero(pattern_of.ravel() == index)
            counts = matrix.values[rows[pattern][:, None], at[None, :]]
            values[number, at] = compute(at, bounds[pattern], counts)
    return merge_alike(Matrix(labels=labels, values=values, present=present))


def _coalesced(bounds: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Merges buckets of the same bound."""
    bounds, first = np.unique(bounds, return_index=True)
    return bounds, np.add.reduceat(counts, first, axis=0)


def _bucket_quantile(q: FloatArray, bounds: FloatArray, counts: FloatArray) -> FloatArray:
    """Quantiles, float64[steps], from cumulative counts [buckets, steps] below bounds that rise, each once."""
    if bounds[-1] != np.inf or len(bounds) < 2:
        return _outside(q, np.full(q.shape, np.nan))
    counts = _monotonic(counts)
    observations = counts[-1]
    rank = q * observations
    bucket = _first_at_least(counts[:-1], rank)
    lower = np.maximum(bucket - 1, 0)
    step = np.arange(len(q))
    below = np.where(bucket > 0, counts[lower, step], 0.0)
    start = np.where(bucket > 0, bounds[lower], 0.0)
    inside = start + (bounds[bucket] - start) * ((rank - below) / (counts[bucket, step] - below))
    result = np.where(bucket == len(bounds) - 1, float(bounds[-2]), inside)
    if bounds[0] <= 0:
        result = np.where(bucket == 0, float(bounds[0]), result)
    return _outside(q, np.where(observations == 0, np.nan, result))


def _bucket_fraction(lower: FloatArray, upper: FloatArray, bounds: FloatArray, counts: FloatArray) -> FloatArray:
    """Shares, float64[steps], from cumulative counts [buckets, steps] below rising bounds (BucketFraction)."""
    bounds, counts = _coalesced(bounds, counts)
    if bounds[-1] != np.inf:
        return np.full(lower.shape, np.nan)
    total = counts[-1]
    share = (_rank(upper, bounds, counts) - _rank(lower, bounds, counts)) / total
    share = np.where(lower >= upper, 0.0, share)
    return np.where((total == 0) | np.isnan(lower) | np.isnan(upper), np.nan, share)


def _rank(limit: FloatArray, bounds: FloatArray, counts: FloatArray) -> FloatArray:
    """How many observations lie below `limit`, interpolated within its bucket; none is in one without an end."""
    steps = np.arange(len(limit))
    starts = np.concatenate(([0.0 if bounds[0] > 0 else -np.inf], bounds[:-1]))
    # The bucket whose start is the limit or beyond it, or that has the limit inside.
    reached = (starts[:, None] >= limit) | (bounds[:, None] > limit)
    bucket = reached.argmax(axis=0)
    below = np.where(bucket > 0, counts[np.maximum(bucket - 1, 0), steps], 0.0)
    start, end, count = starts[bucket], bounds[bucket], counts[bucket, steps]
    inside = np.where(np.isinf(start), count, below + (count - below) * (limit - start) / (end - start))
    rank = np.where(start >= limit, below, inside)
    return np.where(reached.any(axis=0), np.minimum(rank, counts[-1]), counts[-1])


def _first_at_least(counts: FloatArray, rank: FloatArray) -> IntArray:
    """Number of the first bucket with count >= rank; that of the highest bucket if there is none."""
    reached = counts >= rank[None, :]
    return np.where(reached.any(axis=0), reached.argmax(axis=0), len(counts)).astype(np.int64)


def _outside(q: FloatArray, result: FloatArray) -> FloatArray:
    return np.where(np.isnan(q), np.nan, np.where(q < 0, -np.inf, np.where(q > 1, np.inf, result)))


def _drops(counts: FloatArray) -> FloatArray:
    """By how much counts [buckets, steps] fall below those before them, rounding left aside."""
    before = np.maximum.accumulate(counts, axis=0)
    drops = before - counts
    return np.where(drops > _TOLERANCE * (np.abs(before) + np.abs(counts)), drops, 0.0)


def _monotonic(counts: FloatArray) -> FloatArray:
    """Counts that never fall; rises within rounding are levelled, too."""
    previous: FloatArray = counts[0]
    rows = [previous]
    for current in counts[1:]:
        size = np.abs(previous) + np.abs(current)
        close = np.abs(previous - current) / np.minimum(size, np.finfo(np.float64).max) < _TOLERANCE
        levelled = (current < previous) | (close & (previous != 0) & (current != 0))
        previous = np.where(levelled, previous, current)
        rows.append(previous)
    return np.stack(rows)
