"""Sent, answered, accepted, stored: four counts of the same requests, by four witnesses.

Requests that the application accepted and answers that the client saw differ when clients time out, and rows differ
from both when a buffer is lost; so every step names its witness, and the place of the largest difference is told with
the reason. Counters that began again at zero lose what they had counted since their last reading.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from loadwatch_formats.metrics.loadtest import REQUESTS
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import Figures, FloatArray, IntArray
from loadwatch_backend.evidence.series import LARGEST_VALUE
from loadwatch_backend.findings.measures.ingest_counters import QUIET_SECONDS, UNTOLD_QUIET_SECONDS, tolerance
from loadwatch_backend.runs.analysis.counters import (
    COUNTED_MS,
    Growth,
    Neighbours,
    read_growth,
    read_growth_by_instance,
    read_own_rows,
)
from loadwatch_backend.runs.analysis.load import Load, Origin, Span
from loadwatch_backend.runs.analysis.schemas import NOT_KNOWN_YET, InstanceCounts, ReconciliationOut, ReconciliationStep
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader

LONGEST_DRAIN_MS = 600_000
QUIET_MS = 10_000
TOLERANCE = 0.01
ANSWERED_MS = 3_000
"""Without anything accepted for so long, what was in flight at the end has arrived."""
AGAIN_MS = 60_000
STOPPED_MS = 15_000
"""Counters that were not read for so long are those of an application that has ended, or is watched no more."""
DELAY_MS = 2_000
"""Time after which an agent's samples are stored."""
STOPPED_WRITING = "stopped-writing"
HALF = 0.5
PROBES = "probe_requests_total"
REJECTED = (Outcome.HTTP_4XX, Outcome.HTTP_5XX)


ALONE = Neighbours()


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnesses:
    """Counts of the same requests; None where nobody counted.

    Attributes:
        sent: by the load generator.
        ok: answered well, by the load generator.
        rejected: answered with 4xx or 5xx.
        resets: how often counters of the application began again.
        queued: what was still in the application's queue at the end of the count.
        has_stopped: the application's counters end while it was still writing.
        source: where `sent` and `ok` come from.
    """

    sent: int | None
    ok: int | None
    rejected: int
    accepted: float | None
    stored: float | None
    failed: float | None
    rows: float | None
    resets: int
    queued: float | None
    source: str
    has_stopped: bool = False


def reconcile(
    store: Reader, load: Load, span: Span, now_ms: int, neighbours: Neighbours = ALONE
) -> ReconciliationOut | None:
    """The counts over a run, waited for until the queue was empty; None when only the generator counted.

    Args:
        store: with the counters.
        load: the generator's side.
        span: the run.
        now_ms: the application's counters are read up to here at most, ten minutes after the end, to the beginning of
            the next run, or until the application is started again: what comes after is not this run's.
        neighbours: the runs before and after.
    """
    limits = [span.to_ms + LONGEST_DRAIN_MS, now_ms, *((neighbours.next_ms,) if neighbours.next_ms else ())]
    last_ms = max(min(limits), span.to_ms)
    accepted, stored, failed, rejected, probes = _counters(store, span, last_ms)
    restarted_ms = _first_restart(accepted, stored, span.to_ms)
    if restarted_ms is not None:
        last_ms = max(restarted_ms - 1, span.to_ms)
        accepted, stored, failed, rejected, probes = _counters(store, span, last_ms)
    own = read_own_rows(store, span, last_ms, neighbours)
    rows = own.growth
    if accepted is None and stored is None and rows is None and not (own.with_previous or own.with_next):
        return None
    drained_ms = find_drained(accepted, stored, failed, span.to_ms, last_ms)
    # Where rows may have come after the table's last count, it tells nothing of what is missing yet.
    early = rows is not None and not _counts_all(rows, stored, span.to_ms, drained_ms)
    if early:
        rows = None
    figures = load.whole
    rows_ms = min(drained_ms + COUNTED_MS, last_ms)
    queued = _queue(store, span.from_ms, drained_ms)
    # Rows count from the last count of the table before the run.
    probed = read_growth(store, PROBES, max(span.from_ms - COUNTED_MS, 0), rows_ms)
    quiet_ms = round(1_000 * (UNTOLD_QUIET_SECONDS if queued is None else QUIET_SECONDS))
    left = _Left.read(accepted, stored, failed, span.to_ms, last_ms)
    found = explain(
        Witnesses(
            sent=None if figures is None else figures.requests,
            ok=None if figures is None else figures.outcomes.get(Outcome.OK, 0),
            rejected=max(_rejected(figures), round(_at(rejected, drained_ms) or 0.0)),
            accepted=_at(accepted, drained_ms),
            stored=_at(stored, drained_ms),
            failed=_at(failed, drained_ms),
            rows=_without_probes(_at(rows, rows_ms), _at(stored, drained_ms), _at(probed, rows_ms)),
            resets=sum(one.resets for one in (accepted, stored) if one is not None),
            queued=queued,
            source=_SOURCES[load.origin],
            has_stopped=left is not None and left.read_ms < min(last_ms - STOPPED_MS, left.moved_ms + quiet_ms),
        )
    )
    if left is not None and found.place != "counter-reset" and last_ms == now_ms:
        again_ms = max(left.moved_ms, span.to_ms) + quiet_ms + DELAY_MS
        if now_ms < again_ms and left.read_ms >= last_ms - STOPPED_MS:
            detail = f"Not known yet: {left.rows:.0f} rows are neither stored nor known to be lost."
            found = found.model_copy(update={"place": NOT_KNOWN_YET, "detail": detail, "again_ms": again_ms})
    if early and stored is None and last_ms == now_ms:
        detail = "Not known yet: the rows of the table have not been counted twice since the load ended."
        found = found.model_copy(update={"place": NOT_KNOWN_YET, "detail": detail, "again_ms": now_ms + AGAIN_MS})
    with_previous = own.with_previous or _still_moved(store, span, neighbours)
    with_next = own.with_next or (neighbours.next_ms == last_ms and _waits(accepted, stored, failed, last_ms))
    mixed = [name for name, is_mixed in (("previous", with_previous), ("next", with_next)) if is_mixed]
    instances = _instances(store, Span(span.from_ms, last_ms), drained_ms)
    counted = {"mixed_with": mixed, "probes": round(_at(probes, drained_ms) or 0.0), "instances": instances}
    return found.model_copy(update=counted)


def _instances(store: Reader, span: Span, at_ms: int) -> list[InstanceCounts]:
    """The application's counts of each instance up to a time; none where it has one only."""
    accepted, stored, failed = (
        read_growth_by_instance(store, f"ingest_{name}_total", span.from_ms, span.to_ms)
        for name in ("accepted", "stored", "failed")
    )
    found: list[InstanceCounts] = []
    for key in sorted(accepted.keys() | stored.keys()):
        taken, written, lost = accepted.get(key), stored.get(key), failed.get(key)
        missing = None
        if taken is not None and written is not None and not taken.resets and not written.resets:
            missing = taken.at(at_ms) - written.at(at_ms) - (_at(lost, at_ms) or 0.0)
        counts = {"accepted": _at(taken, at_ms), "stored": _at(written, at_ms), "failed": _at(lost, at_ms)}
        found.append(InstanceCounts(job=key[0], instance=key[1], missing=missing, **counts))
    return found if len(found) > 1 else []


@dataclass(frozen=True, slots=True)
class _Left:
    """What was accepted and neither stored nor given up: how many rows, when that last moved and was last read."""

    rows: float
    moved_ms: int
    read_ms: int

    @classmethod
    def read(
        cls, accepted: Growth | None, stored: Growth | None, failed: Growth | None, end_ms: int, last_ms: int
    ) -> "_Left | None":
        """At `last_ms`; None where all was written, or nobody counted it."""
        if accepted is None or stored is None or not len(stored.times_ms):
            return None
        times = np.unique(np.concatenate([accepted.times_ms, stored.times_ms]))
        times = times[times <= last_ms]
        left = _totals(accepted, times) - _totals(stored, times)
        left = left if failed is None else left - _totals(failed, times)
        if not len(times) or left[-1] <= tolerance(accepted.at(last_ms)):
            return None
        moved = np.flatnonzero(np.abs(left - left[-1]) > max(2.0, TOLERANCE * left[-1]))
        moved_ms = int(times[min(int(moved[-1]) + 1, len(times) - 1)]) if len(moved) else end_ms
        return cls(rows=float(left[-1]), moved_ms=moved_ms, read_ms=int(times[-1]))


def _counts_all(rows: Growth, stored: Growth | None, end_ms: int, drained_ms: int) -> bool:
    """Whether no row came after the table's last count: by the application, else by two counts that agree."""
    if stored is not None:
        return bool((rows.times_ms >= _last_move(stored, drained_ms)).any())
    after = rows.totals[rows.times_ms >= end_ms]
    return len(after) > 1 and abs(after[-1] - after[-2]) <= tolerance(float(after[-1]))


def _without_probes(rows: float | None, stored: float | None, probes: float | None) -> float | None:
    """Rows less the probes', which may have been deleted: at most the surplus over `stored` is taken out."""
    if rows is None or not probes:
        return rows
    return rows - min(probes, max(rows - stored, 0.0) if stored is not None else probes)


def _still_moved(store: Reader, span: Span, neighbours: Neighbours) -> bool:
    """Whether requests of a run just before were still being taken or written when this one began."""
    previous_ms = neighbours.before(span)
    if previous_ms is None:
        return False
    since_ms = max(previous_ms, span.from_ms - ANSWERED_MS)
    if since_ms >= span.from_ms:
        return False
    moved = _counters(store, Span(since_ms, span.from_ms), span.from_ms)[:2]
    # Of a probe's request that was accepted before, the row comes now.
    return any((_at(one, span.from_ms) or 0.0) > 1 for one in moved)


def _waits(accepted: Growth | None, stored: Growth | None, failed: Growth | None, at_ms: int) -> bool:
    if accepted is None or stored is None:
        return False
    return stored.at(at_ms) + (_at(failed, at_ms) or 0.0) < accepted.at(at_ms)


def _counters(store: Reader, span: Span, last_ms: int) -> tuple[Growth | None, ...]:
    """Growth of accepted and stored (both without Loadwatch's probes), failed, rejected, and the probes."""
    names = ("accepted", "stored", "failed", "rejected")
    found = [read_growth(store, f"ingest_{name}_total", span.from_ms, last_ms) for name in names]
    probes = read_growth(store, PROBES, span.from_ms, last_ms)
    if probes is not None:
        for place, one in enumerate(found[:2]):
            if one is not None:
                found[place] = replace(one, totals=one.totals - _totals(probes, one.times_ms))
    return *found, probes


def _first_restart(accepted: Growth | None, stored: Growth | None, after_ms: int) -> int | None:
    times = [int(time) for one in (accepted, stored) if one is not None for time in one.resets_ms if time > after_ms]
    return min(times, default=None)


def again_ms(found: ReconciliationOut | None, span: Span, now_ms: int) -> int | None:
    """When the counts are worth reading again: within ten minutes after the run, while they do not agree."""
    last_ms = span.to_ms + LONGEST_DRAIN_MS
    if found is None or found.place == "none" or now_ms >= last_ms:
        return None
    return min(found.again_ms or now_ms + AGAIN_MS, last_ms)


def find_drained(
    accepted: Growth | None, stored: Growth | None, failed: Growth | None, end_ms: int, last_ms: int
) -> int:
    """When all that was accepted had been written or given up.

    Where that was not seen, the time after which nothing moved for ten seconds, or `last_ms`.
    """
    stamps = [one.times_ms for one in (accepted, stored, failed) if one is not None and len(one.times_ms)]
    if not stamps:
        return last_ms
    times = np.unique(np.concatenate(stamps))
    times = times[(times >= end_ms) & (times <= last_ms)]
    if accepted is not None and stored is not None:
        done = _totals(stored, times) + (0.0 if failed is None else _totals(failed, times))
        taken = _totals(accepted, times)
        written = done >= taken
        quiet = np.abs(taken - _totals(accepted, np.minimum(times + ANSWERED_MS, last_ms))) <= 1
        for wanted in (written & quiet, written):
            if wanted.any():
                return int(times[int(np.argmax(wanted))])
    moved = max((_last_move(one, last_ms) for one in (accepted, stored, failed) if one is not None), default=end_ms)
    settled = max(moved, end_ms) + QUIET_MS
    return min(settled, last_ms)


def explain(witnesses: Witnesses) -> ReconciliationOut:
    place, detail = _place(witnesses)
    return ReconciliationOut(steps=_steps(witnesses), place=place, detail=detail)


def _steps(witnesses: Witnesses) -> list[ReconciliationStep]:
    stored_source = "ingest_stored_total"
    stored = witnesses.stored
    if witnesses.rows is not None and (stored is None or _tells_more(witnesses)):
        stored, stored_source = witnesses.rows, "table_rows"
    counts: list[tuple[str, float | None, str]] = [
        ("sent", witnesses.sent, witnesses.source),
        ("answered_ok", witnesses.ok, witnesses.source),
        ("accepted", witnesses.accepted, "ingest_accepted_total"),
        ("stored", stored, stored_source),
    ]
    if stored_source != "table_rows" and witnesses.rows is not None:
        counts.append(("rows", witnesses.rows, "table_rows"))
    steps: list[ReconciliationStep] = []
    before: float | None = None
    for id, count, source in counts:
        missing = None if count is None or before is None else before - count
        steps.append(ReconciliationStep(id=id, count=count, source=source, missing=missing))
        before = before if count is None else count
    steps.append(ReconciliationStep(id="failed", count=witnesses.failed, source="ingest_failed_total", missing=None))
    return steps


def _tells_more(witnesses: Witnesses) -> bool:
    return witnesses.has_stopped and (witnesses.rows or 0.0) > (witnesses.stored or 0.0)


def _place(witnesses: Witnesses) -> tuple[str, str]:
    differences = _differences(witnesses)
    if not differences:
        return "unknown", "There are no two counts to compare."
    largest = max(differences, key=lambda one: abs(one.missing))
    if abs(largest.missing) <= tolerance(largest.of):
        return "none", "All counts agree."
    if witnesses.resets:
        return "counter-reset", (
            f"Counters of the application began again at zero {witnesses.resets} times: what they had counted since "
            "their last reading is missing from its counts. Trust the generator's count and the table's rows."
        )
    return largest.place, largest.detail


class _Difference(NamedTuple):
    missing: float
    of: float
    place: str
    detail: str


def _differences(witnesses: Witnesses) -> list[_Difference]:
    found: list[_Difference] = []
    if witnesses.sent is not None and witnesses.accepted is not None:
        found.append(_on_the_way(witnesses, float(witnesses.sent), witnesses.accepted))
    if witnesses.accepted is not None and witnesses.stored is not None:
        found.append(_in_the_application(witnesses, witnesses.accepted, witnesses.stored))
    if witnesses.stored is not None and witnesses.rows is not None and not _tells_more(witnesses):
        missing = witnesses.stored - witnesses.rows
        detail = (
            f"The application says it stored {witnesses.stored:.0f}, and the table grew by {witnesses.rows:.0f}; a "
            "table whose rows are only estimated is no proof."
        )
        found.append(_Difference(missing=missing, of=witnesses.stored, place="database", detail=detail))
    ends = (witnesses.sent if witnesses.accepted is None else witnesses.accepted, witnesses.rows)
    if witnesses.stored is None and ends[0] is not None and ends[1] is not None:
        before, rows = float(ends[0]), ends[1]
        place = "unknown" if witnesses.accepted is None else "application-buffer"
        detail = f"The table grew by {rows:.0f} rows for {before:.0f} requests."
        found.append(_Difference(missing=before - rows, of=before, place=place, detail=detail))
    if witnesses.accepted is None and witnesses.stored is not None and witnesses.sent is not None:
        detail = f"{witnesses.stored:.0f} were stored of {witnesses.sent} sent; nobody counted what was accepted."
        missing = witnesses.sent - witnesses.stored
        found.append(_Difference(missing=missing, of=float(witnesses.sent), place="unknown", detail=detail))
    return found


def _on_the_way(witnesses: Witnesses, sent: float, accepted: float) -> _Difference:
    missing = sent - accepted
    if missing < 0:
        detail = f"The application accepted {-missing:.0f} more than this run sent: others send to it, too."
        return _Difference(missing=missing, of=sent, place="unknown", detail=detail)
    if witnesses.ok is not None and witnesses.ok > accepted:
        detail = (
            f"{witnesses.ok - accepted:.0f} more were answered well than the application counted while it was read: "
            "it was read for the first time after the start, or stopped or not read before the end."
        )
        return _Difference(missing=missing, of=sent, place="unknown", detail=detail)
    if witnesses.rejected >= HALF * missing:
        detail = f"The application answered {witnesses.rejected} requests with 4xx or 5xx instead of accepting them."
        return _Difference(missing=missing, of=sent, place="application", detail=detail)
    detail = f"{missing:.0f} requests never reached the application: refused, reset, or given up on the way."
    return _Difference(missing=missing, of=sent, place="network-or-client", detail=detail)


def _in_the_application(witnesses: Witnesses, accepted: float, stored: float) -> _Difference:
    stopped = " It was still writing when it stopped." if witnesses.has_stopped else ""
    if _tells_more(witnesses):
        stored = witnesses.rows or stored
        stopped = f" It was still writing when it stopped; the table holds {stored:.0f}."
    missing = accepted - stored
    if missing < 0:
        detail = f"{-missing:.0f} more were stored than accepted since the start: left over from before it."
        return _Difference(missing=missing, of=accepted, place="unknown", detail=detail)
    if witnesses.failed is not None and witnesses.failed >= HALF * missing:
        detail = f"The application failed to write {witnesses.failed:.0f} of what it had accepted."
        return _Difference(missing=missing, of=accepted, place="database", detail=detail)
    queued = f", {witnesses.queued:.0f} of them still in its queue" if witnesses.queued else ""
    place = STOPPED_WRITING if witnesses.has_stopped else "application-buffer"
    detail = f"{missing:.0f} were accepted and not stored{queued}.{stopped}"
    return _Difference(missing=missing, of=accepted, place=place, detail=detail)


_SOURCES: Mapping[Origin, str] = {
    Origin.RESULT: "result",
    Origin.STREAM: REQUESTS,
    Origin.K6: "k6_http_reqs_total",
    Origin.NONE: "",
}


def _rejected(figures: Figures | None) -> int:
    return 0 if figures is None else sum(figures.outcomes.get(outcome, 0) for outcome in REJECTED)


def _at(growth: Growth | None, time_ms: int) -> float | None:
    return None if growth is None else growth.at(time_ms)


def _totals(growth: Growth, times: IntArray) -> FloatArray:
    places = np.searchsorted(growth.times_ms, times, side="right")
    return np.concatenate([[0.0], growth.totals])[places]


def _last_move(growth: Growth, last_ms: int) -> int:
    moved = np.flatnonzero((np.diff(growth.totals, prepend=0.0) != 0) & (growth.times_ms <= last_ms))
    return int(growth.times_ms[moved[-1]]) if len(moved) else 0


def _queue(store: Reader, from_ms: int, at_ms: int) -> float | None:
    selection = store.select([Matcher("__name__", MatchOperator.EQUAL, "ingest_queue_length")], from_ms, at_ms)
    newest = [values[-1] for _, _, values in selection.each() if len(values)]
    known = [float(value) for value in newest if abs(value) <= LARGEST_VALUE]
    return sum(known) if known else None
