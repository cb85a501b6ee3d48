"""Exact percentiles of every second."""

from collections.abc import Iterator

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray, IntArray
from loadwatch_backend.evidence.records.parquet import RecordReader
from loadwatch_backend.evidence.records.quantiles import rank_table, select

NS = 1_000_000_000
SPAN_ROWS = 3_000_000
"""Requests whose latencies are sorted at once."""
_SPAN_SECONDS = 1 << 16
_LATENCY_BITS = 47
LONGEST_NS = 86_400 * NS
"""A day: the longest latency that is taken for one. It fits into `_LATENCY_BITS`."""


def latency_by_second(reader: RecordReader, first: int, requests: IntArray) -> FloatArray:
    """p50, p90, p95, p99, max and min of every second, in seconds; NaN where there was no request.

    Second and latency are sorted as one integer, a span of seconds at a time, so memory stays the same however many
    requests there are and in whatever order they stand in the file.

    Args:
        reader: the records.
        first: the second since the epoch of row 0.
        requests: how many requests started in each second.
    """
    found = np.full((len(requests), 6), np.nan)
    for low, high in spans(requests):
        counts = requests[low:high]
        from_ns, to_ns = (first + low) * NS, (first + high) * NS
        if counts.sum() > SPAN_ROWS:
            found[low] = _crowded(reader, from_ns, to_ns, int(counts[0])) / NS
            continue
        keys: list[IntArray] = []
        for chunk in reader.chunks(["time_ns", "latency_ns"], from_ns, to_ns):
            keys.append((((chunk["time_ns"] - from_ns) // NS) << _LATENCY_BITS) | chunk["latency_ns"])
        ordered = np.concatenate(keys)
        ordered.sort()
        ends = np.cumsum(counts)
        ranks = (rank_table(counts), counts[:, None], np.ones((len(counts), 1), dtype=np.int64))
        places = np.concatenate(ranks, axis=1) + (ends - counts)[:, None] - 1
        busy = counts > 0
        values = ordered[places[busy]] & ((1 << _LATENCY_BITS) - 1)
        found[low:high][busy] = values / NS
    return found


def spans(requests: IntArray) -> Iterator[tuple[int, int]]:
    """Ranges of seconds with at most `SPAN_ROWS` requests; a fuller second is one by itself."""
    ends: IntArray = np.cumsum(np.append(np.zeros(1, dtype=np.int64), requests))
    low = 0
    while low < len(requests):
        high = int(np.searchsorted(ends, int(ends[low]) + SPAN_ROWS, side="right")) - 1
        high = min(max(high, low + 1), low + _SPAN_SECONDS, len(requests))
        if ends[high] > ends[low]:
            yield low, high
        low = high


def _crowded(reader: RecordReader, from_ns: int, to_ns: int, count: int) -> IntArray:
    quantiles = select(
        lambda: ((chunk["latency_ns"], None) for chunk in reader.chunks(["latency_ns"], from_ns, to_ns)),
        np.array([count]),
    )
    each = [c["latency_ns"] for c in reader.chunks(["latency_ns"], from_ns, to_ns) if len(c["latency_ns"])]
    return np.append(quantiles[0], [max(one.max() for one in each), min(one.min() for one in each)])
