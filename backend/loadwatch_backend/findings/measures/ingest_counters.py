"""What an instance accepted, stored and still holds: its ingest counters as detectors see them. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray, IntArray
from loadwatch_backend.findings.measures.facts import largest, program_name
from loadwatch_backend.findings.window import Episode, Table, Window

ACCEPTED, STORED = "ingest_accepted_total", "ingest_stored_total"
FAILED, REJECTED = "ingest_failed_total", "ingest_rejected_total"
QUEUE, QUEUE_LIMIT = "ingest_queue_length", "ingest_queue_limit"
LAG, OLDEST, PROBE = "ingest_lag_seconds", "ingest_oldest_seconds", "probe_ingest_lag_seconds"
IN_FLIGHT = "http_requests_in_flight"
FLOW_METRICS = (ACCEPTED, STORED, FAILED, REJECTED, QUEUE, QUEUE_LIMIT, LAG, OLDEST, PROBE, IN_FLIGHT)
_INSTANCE = ("job", "instance")


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestCounters:
    """One instance of an application, on the grid; [instant] each, NaN where unknown.

    Attributes:
        accepted, stored, failed, rejected: per second.
        in_flight: requests that are not answered.
        queue: requests that are accepted and not written yet, perhaps without those of the statement under way;
            queue_limit: most that it can hold.
        lag: seconds from accepting to writing, the most of what was written, or the age of what still waits.
        probe: the same of one request at a time, from outside; of one that was lost, its age until it is given up.
        restarts: the first instants without the process that ended, of whose end a counter that fell tells.
    """

    labels: Mapping[str, str]
    accepted: FloatArray
    stored: FloatArray
    failed: FloatArray
    rejected: FloatArray
    in_flight: FloatArray
    queue: FloatArray
    queue_limit: FloatArray
    lag: FloatArray
    probe: FloatArray
    restarts: IntArray
    interval_ms: int
    name: str

    def missing(self, window: Window) -> FloatArray:
        """[instant]: accepted since the first known instant, and neither stored nor known as failed by then."""
        step = window.step_seconds
        failed = np.where(np.isfinite(self.accepted) & np.isnan(self.failed), 0.0, self.failed)
        change = (self.accepted - self.stored - failed) * step
        known = np.isfinite(change)
        return np.where(known, np.cumsum(np.where(known, change, 0.0)), np.nan)

    def backlog(self, window: Window, episode: Episode) -> FloatArray:
        """[instant]: accepted, and neither stored nor failed, since it was least in an episode or just before."""
        missing = self.missing(window)
        return missing + largest(-missing, slice(max(episode.first - 1, 0), episode.end))


def ingest_counters(window: Window) -> Iterator[IngestCounters]:
    for labels, accepted in window[ACCEPTED].by(*_INSTANCE):

        def of(metric: str, labels: Mapping[str, str] = labels, **more: str) -> Table:
            return window[metric].where(**{name: labels.get(name, "") for name in _INSTANCE}, **more)

        yield IngestCounters(
            labels=labels,
            accepted=accepted.rate,
            stored=of(STORED).rate,
            failed=of(FAILED).rate,
            rejected=of(REJECTED).rate,
            in_flight=of(IN_FLIGHT).sum,
            queue=of(QUEUE).sum,
            queue_limit=of(QUEUE_LIMIT).sum,
            lag=np.fmax(of(LAG, stat="max").max, of(OLDEST).max),
            probe=of(PROBE).max,
            restarts=_restarts(window, accepted),
            interval_ms=max(accepted.slowest_ms, of(STORED).slowest_ms),
            name=program_name(window, labels) or "application",
        )


def floor_of(values: FloatArray, instants: int) -> FloatArray:
    """[instant]: the least known value of the last `instants`: a queue that is flushed at intervals falls to it."""
    padded = np.concatenate([np.full(instants - 1, np.inf), np.where(np.isfinite(values), values, np.inf)])
    lowest = np.lib.stride_tricks.sliding_window_view(padded, instants).min(axis=1)
    return np.where(np.isfinite(lowest), lowest, np.nan)


def _restarts(window: Window, counter: Table) -> IntArray:
    found: list[IntArray] = []
    for row in counter.values:
        known = np.flatnonzero(np.isfinite(row[: window.focus.stop]))
        found.append(known[:-1][np.diff(row[known]) < 0] + 1)
    return np.unique(np.concatenate(found))


TABLE_ROWS = "table_rows"
QUIET_SECONDS = 20.0
UNTOLD_QUIET_SECONDS = 45.0
"""As `QUIET_SECONDS`, where the application exports no queue: its writer may flush rarely."""


def tolerance(of: float) -> float:
    """By how much two counts of the same requests may differ: the clock cuts a few off at either end."""
    return max(3.0, 0.001 * of)


def rows_grown(window: Window) -> float | None:
    """Rows that came to the table that grew most; None unless one was counted before the focus and after the load.

    A count that is only the server's estimate looks like any other here.
    """
    if window.counts is not None and window.counts.rows is not None:
        return window.counts.rows
    after, counted = window.focus.stop - 1, len(window[STORED]) > 0
    grown: list[float] = []
    for row in window[TABLE_ROWS].values:
        known = np.flatnonzero(np.isfinite(row))
        before, behind = known[known < window.focus.start], known[known >= after]
        if not len(before) or not len(behind):
            continue
        # Of an application that does not count what it stores, rows may come until two counts agree.
        if counted or (len(behind) > 1 and row[behind[-1]] - row[behind[-2]] <= tolerance(row[behind[-1]])):
            grown.append(float(row[behind[-1]] - row[before[-1]]))
    return max(grown) if grown else None


def answered(window: Window) -> float | None:
    """Requests that the client saw succeed; None where no client counted."""
    if window.counts is not None and window.counts.answered is not None:
        return window.counts.answered
    if window.load is None:
        return None
    ok = window.load.outcomes.get("ok")
    return 0.0 if ok is None else window.total(ok, slice(0, window.grid.count))
