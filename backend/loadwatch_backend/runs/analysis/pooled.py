"""What percentiles of single seconds say of a percentile of all of them. Pure.

Percentiles cannot be averaged. By nearest rank, though, the k-th smallest latency of a second is known at five ranks,
and lies between its neighbours at all others; so the percentile of any span lies between two bounds that hold whatever
the requests in between were.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray, IntArray

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
    """Bounds of one quantile over all requests of the seconds; see `bounds_of`."""
    found = bounds_of(requests, latency, (quantile,))
    return found[0] if found else None


def bounds_of(requests: IntArray, latency: FloatArray, quantiles: Sequence[float]) -> list[Bounds]:
    """Bounds of quantiles over all requests of the seconds.

    Args:
        requests: [second].
        latency: [second, 5], seconds, NaN where there is none; the quantiles of `COLUMNS`.
        quantiles: of 0 to 1.

    Returns:
        One for each; empty where no second has both requests and latencies.
    """
    known = (requests > 0) & ~np.isnan(latency).any(axis=1)
    if not known.any():
        return []
    counts, values = requests[known], latency[known]
    # At least ranks[i, k] of second i's requests are as fast as values[i, k] or faster.
    ranks = np.ceil(np.array(COLUMNS) * counts[:, None] - 1e-9).astype(np.int64)
    slowest = np.diff(ranks, axis=1, prepend=0)
    # The request at rank ranks[i, k] is values[i, k] itself; those after it, up to the next known one, are no faster.
    fastest = np.diff(ranks, axis=1, append=counts[:, None] + 1)
    unknown = int((ranks[:, 0] - 1).sum())
    order = np.argsort(values, axis=None)
    ordered = values.ravel()[order]
    upto_high, upto_low = np.cumsum(slowest.ravel()[order]), unknown + np.cumsum(fastest.ravel()[order])
    total = int(counts.sum())
    found: list[Bounds] = []
    for quantile in quantiles:
        rank = max(int(np.ceil(quantile * total - 1e-9)), 1)
        high = float(ordered[int(np.searchsorted(upto_high, rank))])
        low = 0.0 if rank <= unknown else float(ordered[int(np.searchsorted(upto_low, rank))])
        # Percentiles of another rule than nearest rank can contradict each other in seconds of few requests.
        found.append(Bounds(low=min(low, high), high=max(low, high)))
    return found
