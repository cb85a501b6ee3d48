"""The load of a window, on its grid: from a run's seconds, or from what is streamed while tests run. Pure."""

from collections.abc import Mapping

import numpy as np
from loadwatch_formats.metrics.loadtest import DURATION, REQUESTS, TARGET_RATE, USERS

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, Seconds
from loadwatch_backend.findings.window import Grid, Load, Table

SECOND_MS = 1_000
STREAMED = (REQUESTS, DURATION, TARGET_RATE, USERS)
_P50, _P95, _P99 = 0, 2, 3


def load_of_seconds(seconds: Seconds, start_ms: int, grid: Grid, target: FloatArray | None = None) -> Load:
    """The load of a run; `start_ms` is that of the first second on the grid's clock, `target` requests per second."""
    ends = start_ms + SECOND_MS * np.arange(1, len(seconds.outcomes) + 1)
    places = -(-(ends - grid.start_ms) // grid.step_ms)
    inside = (places >= 0) & (places < grid.count)
    places = places[inside]

    def spread(values: FloatArray) -> FloatArray:
        result = np.full(grid.count, np.nan)
        if len(places):
            result[places.min() : places.max() + 1] = 0.0
            np.add.at(result, places, values[inside] * (SECOND_MS / grid.step_ms))
        return result

    def highest(values: FloatArray | None) -> FloatArray:
        result = np.full(grid.count, -np.inf)
        if values is not None:
            known = np.where(np.isfinite(values), values, -np.inf)
            np.maximum.at(result, places, known[inside])
        return np.where(np.isfinite(result), result, np.nan)

    latency = seconds.latency
    return Load(
        outcomes={
            outcome.value: spread(seconds.outcomes[:, code].astype(np.float64))
            for outcome, code in OUTCOME_CODES.items()
            if bool(seconds.outcomes[:, code].any())
        },
        p50=highest(None if latency is None else latency[:, _P50]),
        p95=highest(None if latency is None else latency[:, _P95]),
        p99=highest(None if latency is None else latency[:, _P99]),
        target=highest(target),
        users=highest(seconds.users),
    )


def load_of_tables(tables: Mapping[str, Table], grid: Grid) -> Load | None:
    """The load of all runs that are under way; None without one."""
    requests = tables.get(REQUESTS)
    if not requests:
        return None
    begun = _begun_at_zero(requests)
    outcomes = {labels.get("outcome", "other"): table.rate for labels, table in begun.by("outcome")}
    duration = tables.get(DURATION)
    nothing = np.full(grid.count, np.nan)

    def quantile(name: str) -> FloatArray:
        return nothing if duration is None else duration.where(quantile=name).max

    target, users = tables.get(TARGET_RATE), tables.get(USERS)
    return Load(
        outcomes=outcomes,
        p50=quantile("0.5"),
        p95=quantile("0.95"),
        p99=quantile("0.99"),
        target=nothing if target is None else target.sum,
        users=nothing if users is None else users.sum,
    )


def _begun_at_zero(requests: Table) -> Table:
    """With the zero that a kind of outcome had before it first occurred: its series begins with its first count."""
    values = requests.values.copy()
    known = np.isfinite(values)
    for row, labels in enumerate(requests.labels):
        if not known[row].any():
            continue
        first = int(known[row].argmax())
        same = [at for at, other in enumerate(requests.labels) if other.get("run") == labels.get("run")]
        earlier = np.flatnonzero(known[same].any(axis=0))
        before = earlier[earlier < first]
        if len(before):
            values[row, before[-1]] = 0.0
    return Table(
        grid=requests.grid,
        labels=requests.labels,
        values=values,
        stale=requests.stale,
        interval_ms=requests.interval_ms,
    )
