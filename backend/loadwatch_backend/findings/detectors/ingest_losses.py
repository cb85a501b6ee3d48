"""Rows that were accepted and that nobody will write."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.core.texts.words import SILENT
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import focused, largest, program_name, selector
from loadwatch_backend.findings.measures.ingest_counters import (
    ACCEPTED,
    FLOW_METRICS,
    QUEUE,
    QUIET_SECONDS,
    STORED,
    TABLE_ROWS,
    UNTOLD_QUIET_SECONDS,
    IngestCounters,
    answered,
    ingest_counters,
    rows_grown,
    tolerance,
)
from loadwatch_backend.findings.measures.outcomes import Clear, Observation, Outcome, Unjudged, detector, finding
from loadwatch_backend.findings.messages.read import message, step
from loadwatch_backend.findings.model import Evidence, Finding
from loadwatch_backend.findings.window import Episode, Window

REST_SHARE = 0.05
"""Of the load's rate: requests of a probe that go on after it."""
STILL_SHARE = 0.01
LEAST_SHARE = 0.01
"""While requests come: what is being written at the moment looks like a loss."""
LOSS_TOLD = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss:
    """Requests that were lost, [instant] so far and in all; `quiet` where nothing moves any more."""

    so_far: FloatArray
    silent: float
    failed: float
    first: int
    quiet: bool

    @property
    def total(self) -> float:
        return self.silent + self.failed


@detector("rows-lost", needs=(ACCEPTED, STORED), reads=(*FLOW_METRICS, TABLE_ROWS))
def rows_lost(window: Window) -> Iterator[Outcome]:
    """Rows that were accepted are neither stored nor waiting: nobody will write them.

    A finding for each instance that has lost rows while it lived.
    """
    for flow in ingest_counters(window):
        taken = window.total(flow.accepted, slice(0, window.grid.count))
        if len(flow.restarts) or not taken or not np.isfinite(flow.stored).any():
            continue
        loss = _loss(window, flow, taken)
        stored = window.total(flow.stored, slice(0, window.grid.count))
        failed = window.total(flow.failed, slice(0, window.grid.count))
        words = message("rows-lost.figures", name=flow.name, taken=taken, stored=stored, failed=failed)
        left = taken - stored - failed
        if loss is not None:
            yield _loss_finding(window, flow, taken, loss)
        elif window.counts is not None and window.counts.is_open and left > tolerance(taken):
            yield Unjudged(message("rows-lost.unjudged", left=left, taken=taken, name=flow.name))
        elif failed > tolerance(taken):
            yield Observation(message("rows-lost.observations", words=words))
        else:
            yield Clear(words)


def _loss(window: Window, flow: IngestCounters, taken: float) -> _Loss | None:
    known = np.flatnonzero(np.isfinite(flow.accepted) & np.isfinite(flow.stored))
    if len(known) < 3:
        return None
    last = int(known[-1])
    is_told = bool(np.isfinite(flow.queue[last]))
    # In flight and in the queue at once is counted twice, which hides a loss rather than invents one.
    so_far = flow.missing(window) - np.nan_to_num(flow.queue) - np.nan_to_num(flow.in_flight)
    instants = max(round((QUIET_SECONDS if is_told else UNTOLD_QUIET_SECONDS) / window.step_seconds), 3)
    tail = so_far[max(last + 1 - instants, 0) : last + 1]
    load = np.flatnonzero(flow.accepted > REST_SHARE * largest(flow.accepted, window.focus))
    moved = largest(tail, slice(None)) + largest(-tail, slice(None))
    quiet = last - int(load[-1]) >= instants and moved <= max(2.0, STILL_SHARE * so_far[last])
    silent = 0.0
    if last + 1 >= instants and (quiet or (is_told and np.isfinite(flow.in_flight[last]))):
        silent = -largest(-tail, slice(None)) - (0.0 if quiet else _being_written(window, flow))
    counts = window.counts
    if counts is not None and counts.accepted is not None and counts.stored is not None and silent > 0:
        silent = min(silent, counts.accepted - counts.stored)
    rows = rows_grown(window)
    if rows is not None and rows >= taken - tolerance(taken):
        silent = 0.0
    silent = silent if silent > (tolerance(taken) if quiet else max(LEAST_SHARE * taken, 10.0)) else 0.0
    failed = window.total(flow.failed, slice(0, window.grid.count))
    told = 0.0 if window.load is None else window.total(window.load.failed(), slice(0, window.grid.count))
    failed = failed if failed > tolerance(taken) and told < LOSS_TOLD * failed else 0.0
    if silent + failed <= 0:
        return None
    return _Loss(so_far=so_far, silent=silent, failed=failed, first=_first(window, flow, so_far, silent), quiet=quiet)


def _being_written(window: Window, flow: IngestCounters) -> float:
    """Rows of statements under way, at most: they may be in no queue. Without a queue, their requests are in flight."""
    if not largest(flow.queue, window.focus) > 0:
        return 0.0
    return 2 * largest(flow.accepted, window.focus) * float(np.nan_to_num(largest(flow.lag, window.focus), nan=np.inf))


def _first(window: Window, flow: IngestCounters, so_far: FloatArray, silent: float) -> int:
    """Where the first of them was lost."""
    firsts: list[int] = []
    failing = np.flatnonzero(focused(window, flow.failed > 0))
    if len(failing):
        firsts.append(int(failing[0]))
    if silent:
        small = np.flatnonzero(so_far <= max(0.01 * silent, 1.0))
        firsts.append(min(int(small[-1]) + 1 if len(small) else 0, window.grid.count - 1))
    return max(min(firsts, default=window.focus.start), window.focus.start)


def _loss_finding(window: Window, flow: IngestCounters, taken: float, loss: _Loss) -> Finding:
    least = SILENT if loss.quiet or not loss.silent else message("rows-lost.least")
    why = message("rows-lost.why-silent")
    if loss.failed:
        why = message(
            "rows-lost.why-both" if loss.silent else "rows-lost.why-failed", failed=loss.failed, silent=loss.silent
        )
    return finding(
        window,
        Episode(loss.first, window.focus.stop),
        "rows-lost.sentence",
        labels=flow.labels,
        evidence=_loss_evidence(window, flow, taken, loss),
        steps=[
            step("rows-lost.step"),
            *([step("rows-lost.step-2")] if loss.failed else []),
            *([step("rows-lost.step-3")] if loss.silent else []),
        ],
        name=flow.name,
        least=least,
        lost=loss.total,
        taken=taken,
        part=loss.total / taken,
        why=why,
    )


def _loss_evidence(window: Window, flow: IngestCounters, taken: float, loss: _Loss) -> list[Evidence]:
    stored = window.total(flow.stored, slice(0, window.grid.count))
    found = [
        evidence(window, "rows-lost.demand", flow.accepted, taken=taken, chosen=flow.chosen),
        evidence(
            window,
            "rows-lost.effect",
            loss.so_far + np.nancumsum(np.nan_to_num(flow.failed)) * window.step_seconds,
            value=loss.total,
            at=window.focus.stop - 1,
            stored=stored,
            chosen=flow.chosen,
        ),
    ]
    if loss.failed:
        found.append(evidence(window, "rows-lost.limit", flow.failed, failed=loss.failed, chosen=flow.chosen))
    if loss.quiet:
        found.append(
            evidence(
                window,
                "rows-lost.limit-2",
                flow.stored,
                value=0.0,
                at=window.focus.stop - 1,
                quiet_seconds=QUIET_SECONDS,
                chosen=flow.chosen,
            )
        )
    told = answered(window)
    if told is not None and told > stored + tolerance(taken):
        found.append(evidence(window, "rows-lost.effect-2", flow.accepted, value=told, at=window.focus.stop - 1))
    return found


STARTED = "process_start_time_seconds"
LATER_SECONDS = 1.5
"""A start time that moves by less is the same process, read with another clock."""
GONE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Death:
    """An instance that ended: `at` is the last instant at which it was seen before."""

    labels: Mapping[str, str]
    at: int
    metric: str
    values: FloatArray


@detector("rows-lost-at-kill", needs=(STARTED, ACCEPTED), reads=(QUEUE, TABLE_ROWS))
def rows_lost_at_kill(window: Window) -> Iterator[Outcome]:
    """A process ended and took accepted rows with it: its own counters cannot say so, the client's count can.

    One finding where a process ended and the table lacks rows that a client was promised.
    """
    deaths = _deaths(window)
    if not deaths:
        seen = len(window[STARTED]) or len(window[ACCEPTED])
        yield Clear(message("rows-lost-at-kill.clear", seen=seen))
        return
    first = min(deaths, key=lambda one: one.at)
    name = program_name(window, first.labels) or "the process"
    told, rows = answered(window), rows_grown(window)
    waiting = _waiting(window, first)
    if told is None or rows is None:
        if waiting >= 1:
            yield Observation(message("rows-lost-at-kill.not-counted", name=name, waiting=waiting))
    elif told - rows <= tolerance(told):
        yield Clear(message("rows-lost-at-kill.all-stored", name=name, told=told, rows=rows))
    else:
        yield _kill_finding(window, first, told, rows, waiting)


def _deaths(window: Window) -> list[_Death]:
    found: list[_Death] = []
    for metric in (ACCEPTED, STARTED):
        table = window[metric]
        for labels, row in zip(table.labels, table.values, strict=True):
            known = np.flatnonzero(np.isfinite(row))
            if len(known) < 2:
                continue
            steps = np.diff(row[known])
            again = steps < 0 if metric == ACCEPTED else steps > LATER_SECONDS
            places = known[:-1][again]
            places = places[(places >= window.focus.start - 1) & (places < window.focus.stop)]
            ended = _ended(window, int(known[-1]))
            at = int(places[0]) if len(places) else ended
            if at is not None:
                found.append(_Death(labels=labels, at=at, metric=metric, values=row))
    return found


def _ended(window: Window, last: int) -> int | None:
    """The last sight of what is never seen again while load goes on: refused and reset requests say that it died."""
    load = window.load
    if load is None or not window.focus.start <= last < window.focus.stop - GONE_SECONDS / window.step_seconds:
        return None
    after = slice(last, window.focus.stop)
    sent, failed = window.total(load.rate, after), window.total(load.failed("refused", "reset"), after)
    return last if sent > 0 and failed > 0.5 * sent else None


def _waiting(window: Window, death: _Death) -> float:
    """What was accepted and not yet written when it was last read, by the queue or the counters; 0 where unknown."""
    labels = {name: death.labels[name] for name in ("job", "instance") if name in death.labels}
    own = [flow.missing(window) for flow in ingest_counters(window) if flow.labels == labels]
    seen = [values[: death.at + 1] for values in (window[QUEUE].where(**labels).sum, *own)]
    return max((float(one[np.isfinite(one)][-1]) for one in seen if np.isfinite(one).any()), default=0.0)


def _kill_finding(window: Window, death: _Death, told: float, rows: float, waiting: float) -> Finding:
    name, lost = program_name(window, death.labels) or "The process", told - rows
    labels = {key: death.labels[key] for key in ("job", "instance") if key in death.labels}
    chosen, end, table = selector(labels), window.focus.stop - 1, window[TABLE_ROWS].max
    found = [
        evidence(window, "rows-lost-at-kill.limit", death.values, at=death.at, metric=death.metric, chosen=chosen),
        evidence(window, "rows-lost-at-kill.effect", table, value=lost, at=end, told=told, rows=rows),
    ]
    if waiting >= 1:
        queue = window[QUEUE].where(**labels).sum
        found.append(evidence(window, "rows-lost-at-kill.demand", queue, value=waiting, at=death.at, chosen=chosen))
    return finding(
        window,
        Episode(death.at, window.focus.stop),
        "rows-lost-at-kill.sentence",
        labels=labels,
        evidence=found,
        steps=[step("rows-lost-at-kill.step"), step("rows-lost-at-kill.step-2")],
        name=name,
        lost=lost,
        told=told,
        rows=rows,
        part=lost / told,
    )
