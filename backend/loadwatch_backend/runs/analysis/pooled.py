"""What percentiles of single seconds say of a percentile of all of them. Pure.

Percentiles cannot be averaged. By nearest rank, though, the k-th smallest latency of a second is known at five ranks,
and lies between its neighbours at all others; so the percentile of any span lies between two bounds that hold whatever
the requests in between were.
"""

from dataclasses import dataclass

import numpy as np

from loadwatch_backend.records.model import FloatArray, IntArray

COLUMNS: tuple[float, ...] = (0.5, 0.9, 0.95, 0.99, 1.0)
"""Quantiles of the columns of `Seconds.latency`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The percentile is at least `low` and at most `high`; seconds."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The estimate: half of the width is the most that it can be wrong by."""
        return (self.low + self.high) / 2


def pooled_bounds(requests: IntArray, latency: FloatArray, quantile: float) -> Bounds | None:
    """Bounds of a quantile over all requests of the seconds.

    Args:
        requests: [second].
        latency: [second, 5], seconds, NaN where there is none; the quantiles of `COLUMNS`.
        quantile: of 0 to 1.

    Returns:
        None where no second has both requests and latencies.
    """
    known = (requests > 0) & ~np.isnan(latency).any(axis=1)
    if not known.any():
        return None
    counts, values = requests[known], latency[known]
    # ranks[i, k]: how many of second i's requests are at most values[i, k], at least.
    ranks = np.ceil(np.array(COLUMNS) * counts[:, None] - 1e-9).astype(np.int64)
    below = np.zeros((len(counts), 1), dtype=np.int64)
    slowest = np.diff(ranks, axis=1, prepend=below)
    lowest_values = np.concatenate([np.zeros((len(counts), 1)), values], axis=1)
    # The request at rank ranks[i, k] is values[i, k] itself; those after it, up to the next known one, are no faster.
    edges = np.concatenate([below + 1, ranks, counts[:, None] + 1], axis=1)
    fastest = np.diff(edges, axis=1)
    rank = max(int(np.ceil(quantile * int(counts.sum()) - 1e-9)), 1)
    low = _value_at(lowest_values.ravel(), fastest.ravel(), rank)
    high = _value_at(values.ravel(), slowest.ravel(), rank)
    # Percentiles of another rule than nearest rank can contradict each other in seconds of few requests.
    return Bounds(low=min(low, high), high=max(low, high))


def _value_at(values: FloatArray, copies: IntArray, rank: int) -> float:
    """The rank-th smallest of `values`, each taken `copies` times."""
    order = np.argsort(values, kind="stable")
    place = int(np.searchsorted(np.cumsum(copies[order]), rank))
    return float(values[order][min(place, len(values) - 1)])
