"""What an instance accepted, stored and still holds: its ingest counters as detectors see them. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.seen.facts import selector
from loadwatch_backend.findings.window import Table, Window
from loadwatch_backend.records.model import FloatArray

ACCEPTED, STORED = "ingest_accepted_total", "ingest_stored_total"
FAILED, REJECTED = "ingest_failed_total", "ingest_rejected_total"
QUEUE, QUEUE_LIMIT = "ingest_queue_length", "ingest_queue_limit"
LAG, OLDEST = "ingest_lag_seconds", "ingest_oldest_seconds"
FLOW_METRICS = (ACCEPTED, STORED, FAILED, REJECTED, QUEUE, QUEUE_LIMIT, LAG, OLDEST)
_INSTANCE = ("job", "instance")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One instance of an application, on the grid; [instant] each, NaN where unknown.

    Attributes:
        accepted, stored, failed, rejected: per second.
        queue: requests that are accepted and not written yet; queue_limit: most that it can hold.
        lag: seconds from accepting to writing, the most of what was written, or the age of what still waits.
        resets: how often its counters began again at zero.
    """

    labels: Mapping[str, str]
    accepted: FloatArray
    stored: FloatArray
    failed: FloatArray
    rejected: FloatArray
    queue: FloatArray
    queue_limit: FloatArray
    lag: FloatArray
    resets: int
    interval_ms: int

    @property
    def name(self) -> str:
        """As a person calls it."""
        return self.labels.get("instance", "") or self.labels.get("job", "") or "application"

    @property
    def chosen(self) -> str:
        """Its labels as PromQL has them."""
        return selector(self.labels)

    def missing(self, window: Window) -> FloatArray:
        """[instant]: accepted since the first known instant, and neither stored nor known as failed by then."""
        step = window.step_seconds
        failed = np.where(np.isfinite(self.accepted) & np.isnan(self.failed), 0.0, self.failed)
        change = (self.accepted - self.stored - failed) * step
        known = np.isfinite(change)
        return np.where(known, np.cumsum(np.where(known, change, 0.0)), np.nan)


def flows(window: Window) -> Iterator[Flow]:
    """All instances that say what they accepted."""
    for labels, accepted in window[ACCEPTED].by(*_INSTANCE):

        def of(metric: str, labels: Mapping[str, str] = labels, **more: str) -> Table:
            return window[metric].where(**{name: labels.get(name, "") for name in _INSTANCE}, **more)

        yield Flow(
            labels=labels,
            accepted=accepted.rate,
            stored=of(STORED).rate,
            failed=of(FAILED).rate,
            rejected=of(REJECTED).rate,
            queue=of(QUEUE).sum,
            queue_limit=of(QUEUE_LIMIT).sum,
            lag=_largest(of(LAG, stat="max").max, of(OLDEST).max),
            resets=_resets(window, accepted),
            interval_ms=accepted.slowest_ms,
        )


def waits(flow: Flow, window: Window) -> FloatArray:
    """[instant]: what waits to be written: the queue's length where it is told, else what is missing so far."""
    return np.where(np.isfinite(flow.queue), flow.queue, flow.missing(window))


def floor_of(values: FloatArray, instants: int) -> FloatArray:
    """[instant]: the least known value of the last `instants`: a queue that is flushed at intervals falls to it."""
    padded = np.concatenate([np.full(instants - 1, np.inf), np.where(np.isfinite(values), values, np.inf)])
    lowest = np.lib.stride_tricks.sliding_window_view(padded, instants).min(axis=1)
    return np.where(np.isfinite(lowest), lowest, np.nan)


def _largest(*values: FloatArray) -> FloatArray:
    stacked = np.stack(values)
    known = np.isfinite(stacked).any(axis=0)
    return np.where(known, np.where(np.isfinite(stacked), stacked, -np.inf).max(axis=0), np.nan)


def _resets(window: Window, counter: Table) -> int:
    found = 0
    for row in counter.values:
        seen = row[: window.focus.stop]
        samples = seen[np.isfinite(seen)]
        found += int((np.diff(samples) < 0).sum())
    return found


TABLE_ROWS = "table_rows"


def tolerance(of: float) -> float:
    """By how much two counts of the same requests may differ: the clock cuts a few off at either end."""
    return max(3.0, 0.001 * of)


def rows_grown(window: Window) -> float | None:
    """Rows that came to the table that grew most; None unless one was counted before the focus and after the load.

    A count that is only the server's estimate looks like any other here.
    """
    if window.counts is not None and window.counts.rows is not None:
        return window.counts.rows
    after = window.focus.stop - 1
    grown: list[float] = []
    for row in window[TABLE_ROWS].values:
        known = np.flatnonzero(np.isfinite(row))
        before, behind = known[known < window.focus.start], known[known >= after]
        if len(before) and len(behind):
            grown.append(float(row[behind[-1]] - row[before[-1]]))
    return max(grown) if grown else None


def answered(window: Window) -> float | None:
    """Requests whose client was told that all is well; None where no client counted."""
    if window.counts is not None and window.counts.answered is not None:
        return window.counts.answered
    if window.load is None:
        return None
    ok = window.load.outcomes.get("ok")
    return 0.0 if ok is None else window.total(ok, slice(0, window.grid.count))
