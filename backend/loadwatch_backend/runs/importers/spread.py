"""Per-second series from a tool's figures of longer periods: counts spread evenly, percentiles repeated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from loadwatch_formats.outcomes import OUTCOMES, Outcome
from loadwatch_formats.run_spans import LONGEST_RUN_DAYS

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, IntArray, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """What a tool says of the time from `start_ms` up to `end_ms`.

    Attributes:
        latency: p50, p90, p95, p99, max in seconds; None where nothing was answered or it is not told.
        users: active users; None where unknown.
    """

    start_ms: int
    end_ms: int
    outcomes: Mapping[Outcome, int]
    latency: FloatArray | None
    bytes_in: int | None
    users: float | None


def spread(total: int, seconds: int) -> IntArray:
    """`total` over so many seconds as evenly as whole numbers allow; sums to `total`."""
    edges = np.floor(np.arange(seconds + 1, dtype=np.float64) * total / seconds)
    edges[-1] = total
    return np.diff(edges.astype(np.int64))


def seconds_of_periods(periods: Sequence[Period]) -> Seconds | None:
    """Second by second; `exact` is false. None without periods, or when they span more than the longest run."""
    if not periods:
        return None
    first = min(period.start_ms for period in periods) // 1000
    last = max(max(period.start_ms, period.end_ms - 1) for period in periods) // 1000
    length = last - first + 1
    if length > LONGEST_RUN_DAYS * 86_400:
        return None
    outcomes = np.zeros((length, len(OUTCOMES)), dtype=np.int64)
    latency = np.full((length, 5), np.nan)
    bytes_in = np.zeros(length, dtype=np.int64)
    users = np.full(length, np.nan)
    for period in periods:
        begin = period.start_ms // 1000 - first
        end = max(begin, (period.end_ms - 1) // 1000 - first) + 1
        for outcome, n in period.outcomes.items():
            outcomes[begin:end, OUTCOME_CODES[outcome]] += spread(n, end - begin)
        bytes_in[begin:end] += spread(period.bytes_in or 0, end - begin)
        if period.latency is not None:
            latency[begin:end] = period.latency
        if period.users is not None:
            users[begin:end] = period.users
    latency[outcomes.sum(axis=1) == 0] = np.nan
    return Seconds(
        start_ms=first * 1000,
        outcomes=outcomes,
        latency=latency if any(period.latency is not None for period in periods) else None,
        bytes_in=bytes_in if any(period.bytes_in is not None for period in periods) else None,
        bytes_out=None,
        users=users if any(period.users is not None for period in periods) else None,
        exact=False,
    )
