"""Per-second series made small enough for a chart, with every spike kept. Pure."""

import math
from collections.abc import Sequence

import numpy as np
from loadwatch_formats.outcomes import OUTCOMES

from loadwatch_backend.records.model import FloatArray, Seconds
from loadwatch_backend.runs.schemas import SecondsOut

LATENCY_NAMES = ("p50", "p90", "p95", "p99", "max")


def reduce_extremes(values: FloatArray, step: int) -> FloatArray:
    """Two values for each `2 * step` seconds: the smallest and the largest, in the order in which they occurred.

    Returns:
        float64[2 * ceil(n / (2 * step))]; NaN where all values of a pair are NaN.
    """
    width = 2 * step
    rows = -(-len(values) // width)
    padded = np.full(rows * width, np.nan)
    padded[: len(values)] = values
    table = padded.reshape(rows, width)
    empty = np.isnan(table).all(axis=1)
    low = np.argmin(np.where(np.isnan(table), np.inf, table), axis=1)
    high = np.argmax(np.where(np.isnan(table), -np.inf, table), axis=1)
    each = np.arange(rows)
    pairs = np.stack([table[each, np.minimum(low, high)], table[each, np.maximum(low, high)]], axis=1)
    pairs[empty] = np.nan
    return pairs.reshape(-1)


def seconds_out(seconds: Seconds, max_points: int) -> SecondsOut:
    """The document of at most `max_points` points."""
    count = len(seconds.outcomes)
    step = 1 if count <= max_points else math.ceil(count / (max_points // 2 * 2))

    def shown(values: FloatArray) -> list[float | None]:
        return _numbers(values if step == 1 else reduce_extremes(values, step))

    latency = seconds.latency
    rate = shown(seconds.requests.astype(np.float64))
    return SecondsOut(
        start_ms=max(seconds.start_ms, 0),
        step_ms=1_000 * step,
        count=len(rate),
        reduced=step > 1,
        exact=seconds.exact,
        outcomes={
            outcome.value: shown(seconds.outcomes[:, code].astype(np.float64))
            for code, outcome in enumerate(OUTCOMES)
            if seconds.outcomes[:, code].any()
        },
        rate=rate,
        latency_seconds={}
        if latency is None
        else {name: shown(latency[:, column]) for column, name in enumerate(LATENCY_NAMES)},
        bytes_in=None if seconds.bytes_in is None else shown(seconds.bytes_in.astype(np.float64)),
        bytes_out=None if seconds.bytes_out is None else shown(seconds.bytes_out.astype(np.float64)),
        users=None if seconds.users is None else shown(seconds.users),
    )


def _numbers(values: FloatArray) -> list[float | None]:
    plain: Sequence[float] = values.tolist()
    return [value if math.isfinite(value) else None for value in plain]
