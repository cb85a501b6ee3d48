"""Rows that are accepted, wait, and are stored; and those that nobody will write."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray, IntArray
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
    floor_of,
    ingest_counters,
    rows_grown,
    tolerance,
)
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, Unjudged, detector
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Finding, Severity
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants

PAUSE_SECONDS = 10.0
"""A shorter pause of the load does not end it."""
BLIND_SECONDS = 5.0
"""Shortest interval over which backlogs are compared where nothing tells the lag."""
STALLED_SECONDS = 45.0
BEHIND_SECONDS = 3.0
"""So many seconds of writing have to wait before they are worth a word by themselves."""
LEAST_SHARE = 0.05
"""Of what was accepted, not written in the meantime."""
LAG_GROWN = 1.5
LAG_LATER, LATER_SECONDS = 1.25, 0.4
"""Factor and seconds by which the lag has to rise."""
LAG_DIP, LAG_EACH = 0.05, 0.15
MEASURED_SHARE = 0.5
EXPLAINED = 0.4
WRITE_SHARE = 0.02
"""Of the load's rate: slower writes are those of a probe."""
SPEED_SECONDS = 4.0
GRAVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Growth:
    """What waits, over an episode of load: `end` of `taken` requests at last; `accepted` and `stored` per second of it.

    Attributes:
        speed: rows per second while there was something to write; NaN where that is not known.
        until: what ended it, as a person says it; None while the load goes on.
    """

    episode: Episode
    backlog: FloatArray
    end: float
    taken: float
    accepted: float
    stored: float
    speed: float
    until: Words | None

    @property
    def rate(self) -> float:
        return self.stored if math.isnan(self.speed) else self.speed

    @property
    def per_second(self) -> float:
        return self.end / self.taken * self.accepted


@detector("ingest-lag-growing", needs=(ACCEPTED, STORED), reads=FLOW_METRICS)
def lag_growing(window: Window) -> Iterator[Outcome]:
    """More is accepted than is stored, and what waits grows for as long as the load lasts.

    A finding for each instance that falls behind.
    """
    for flow in ingest_counters(window):
        seen = [one for loaded in _loads(window, flow) if (one := _judge(window, flow, loaded)) is not None]
        # Of a run the first load in which an instance fell behind, of the present the last one; else the last load.
        found = [one for one in seen if isinstance(one, Finding)] or seen[-1:]
        if found:
            yield found[0 if window.of_run else -1]


def _loads(window: Window, flow: IngestCounters) -> list[Episode]:
    """Where requests were accepted, each by one process."""
    least = least_instants(window.grid, flow.interval_ms)
    gap = least_instants(window.grid, flow.interval_ms, seconds=PAUSE_SECONDS)
    found = episodes(focused(window, flow.accepted >= _least_rate(window, flow)), least=least, gap=gap)
    parts = ((one.first, *(at for at in flow.restarts.tolist() if one.first < at < one.end), one.end) for one in found)
    return [Episode(first, end) for part in parts for first, end in pairwise(part) if end - first >= least]


def _least_rate(window: Window, flow: IngestCounters) -> float:
    """Requests per second that are load, and not those of a probe."""
    return max(1.0, 0.1 * float(np.nan_to_num(largest(flow.accepted, window.focus))))


def _judge(window: Window, flow: IngestCounters, loaded: Episode) -> Outcome | None:
    backlog = flow.backlog(window, loaded)
    known = loaded.first + np.flatnonzero(np.isfinite(backlog[loaded.span]))
    if not len(known):
        return None
    last, seconds = int(known[-1]), len(loaded) * window.step_seconds
    taken = window.total(flow.accepted, loaded.span)
    accepted = taken / seconds
    # A request without an answer is late for its client, not behind its answer.
    behind = float((backlog - np.nan_to_num(flow.in_flight))[last])
    writes = _writes(window, flow, loaded)
    falls, needed = False, 0.0
    if behind >= min(max(LEAST_SHARE * taken, LATER_SECONDS * accepted), BEHIND_SECONDS * accepted):
        falls, needed = _falls_behind(window, flow, loaded, writes, behind)
    if falls is None:
        return Unjudged(
            message(
                "ingest-lag-growing.unjudged",
                needed=needed,
                name=flow.name,
                seconds=seconds,
                behind=behind,
                taken=taken,
            )
        )
    if not falls:
        most, late = largest(backlog, loaded.span), largest(flow.lag, loaded.span)
        told = SILENT if math.isnan(late) else message("ingest-lag-growing.late", late=late)
        return Clear(message("ingest-lag-growing.clear", name=flow.name, most=most, told=told))
    small = np.flatnonzero(~(backlog[loaded.span] > accepted))
    first = loaded.first + (int(small[-1]) + 1 if len(small) else 0)
    growth = _Growth(
        episode=Episode(min(first, loaded.end - 1), loaded.end),
        backlog=backlog,
        end=float(backlog[last]),
        taken=taken,
        accepted=accepted,
        stored=window.total(flow.stored, loaded.span) / seconds,
        speed=_speed(window, flow, writes),
        until=_until(window, flow, loaded),
    )
    return _lag_finding(window, flow, growth)


def _until(window: Window, flow: IngestCounters, loaded: Episode) -> Words | None:
    if loaded.end in flow.restarts:
        return message("ingest-lag-growing.until-restart")
    is_over = (flow.accepted[loaded.end : loaded.end + 2] < _least_rate(window, flow)).any()
    return message("ingest-lag-growing.until-load-ended") if is_over else None


def _writes(window: Window, flow: IngestCounters, loaded: Episode) -> IntArray:
    """Instants at which rows were stored, up to the next load."""
    busy = np.flatnonzero(flow.accepted[loaded.end :] >= _least_rate(window, flow))
    end = loaded.end + int(busy[0]) if len(busy) else window.grid.count
    least = WRITE_SHARE * largest(flow.accepted, loaded.span)
    return loaded.first + np.flatnonzero(flow.stored[loaded.first : end] > least)


def _speed(window: Window, flow: IngestCounters, writes: IntArray) -> float:
    """Rows per second from the first write to the last one; NaN where these are too near to tell."""
    if not len(writes):
        return 0.0
    between = slice(int(writes[0]) + 1, int(writes[-1]) + 1)
    seconds = (between.stop - between.start) * window.step_seconds
    return window.total(flow.stored, between) / seconds if seconds >= SPEED_SECONDS else math.nan


def _falls_behind(
    window: Window, flow: IngestCounters, loaded: Episode, writes: IntArray, behind: float
) -> tuple[bool | None, float]:
    """Whether it does, None where that cannot be told; and how many seconds of load it takes to tell."""
    step, tail = window.step_seconds, max([loaded.end, *(writes[-1:] + 1).tolist()])
    # The first write may come early or late in an interval: where there are several, it tells nothing of the pauses.
    known = np.array([*writes, *([] if tail > loaded.end else [loaded.end])])
    pauses = np.diff(known if len(writes) > 2 else [loaded.first - 1, *known])
    pause = int(max(*pauses, flow.interval_ms // window.grid.step_ms, 1))
    saw = max(math.ceil(1.5 * pause), 2)
    backlog = flow.backlog(window, loaded)
    lag = flow.lag if _is_measured(flow.lag[writes]) else flow.probe
    needed = math.inf
    if _is_measured(lag[writes]):
        # What is left when the load has ended is written in less time.
        first = int(known[1 + int(np.argmax(np.diff(known) > 2))]) if len(known) > 1 else tail
        worst = -floor_of(-lag, saw)[first:tail]
        needed = first - loaded.first + 2 * saw
        late = window.total(flow.accepted, loaded.span) / (len(loaded) * step) * largest(worst, slice(None))
        # Of a probe's row that was lost the age grows, too, and faster than what waits.
        is_late = lag is flow.lag or EXPLAINED * late <= behind <= late / EXPLAINED
        if len(worst) >= 2 * saw and np.isfinite(late) and is_late:
            last = int(np.nanargmax(worst)) + 1
            if first + last <= loaded.end - saw:
                return False, 0.0
            return _rises(worst[:last], LAG_LATER, LATER_SECONDS, BEHIND_SECONDS), 2 * len(loaded) * step
    blind = saw = round(STALLED_SECONDS / step)
    levels = backlog[loaded.span]
    if len(writes):
        first = int(writes[0]) - loaded.first
        saw = max(math.ceil(1.5 * max(pause, first)), round(BLIND_SECONDS / step), 2)
        blind = first + 2 * saw
        levels = floor_of(backlog, saw)[loaded.first + first + saw : loaded.end]
    if len(loaded) >= blind:
        rises = _rises(levels, LAG_GROWN, least=1.0, enough=math.inf)
        if not rises or _stays(backlog, behind, tail, saw):
            return False if rises else rises, 2 * len(loaded) * step
        waits = float(levels[-1]) / max(window.total(flow.stored, loaded.span), 1.0)
        enough = BEHIND_SECONDS / waits
        return (True if enough <= len(loaded) * step else None), enough
    caught_up = backlog[loaded.end : loaded.end + pause] <= tolerance(behind)
    return (False if caught_up.any() else None), min(needed, blind) * step


def _stays(backlog: FloatArray, behind: float, tail: int, saw: int) -> bool:
    """Whether most of what was behind is still missing when nothing has been written for long: it is lost, not late."""
    later = backlog[tail + saw :]
    return bool((later > behind / 2).any())


def _is_measured(lag: FloatArray) -> bool:
    return len(lag) > 0 and bool(np.isfinite(lag).mean() >= MEASURED_SHARE)


def _rises(values: FloatArray, factor: float, least: float, enough: float) -> bool | None:
    """Whether it rises from the first to the last of four places, by a factor and at least so much, or by `enough`.

    What begins at zero and comes to rest does not: it has to rise at last, too. None where it is higher at last, and
    did not rise all the time.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return False
    levels: FloatArray = known[np.linspace(0, len(known) - 1, 4).astype(np.int64)]
    grown = levels[-1] - levels[0]
    steps = np.diff(levels)
    if grown < least or (levels[-1] < factor * levels[0] and grown < enough):
        return False
    least_step = -LAG_DIP * levels[-1] if grown >= enough else LAG_EACH * grown
    return True if steps.min() >= least_step and steps[2] >= LAG_EACH * grown else None


def _lag_finding(window: Window, flow: IngestCounters, growth: _Growth) -> Finding:
    episode = growth.episode
    lag = largest(flow.lag, episode.span)
    limit = largest(flow.queue_limit, episode.span)
    left = (limit - growth.end) / growth.per_second if limit > growth.end and growth.until is None else math.nan
    waits = message("ingest-lag-growing.waits", end=growth.end)
    if growth.until is not None:
        waits = message("ingest-lag-growing.left", growth=growth)
    writing = message("ingest-lag-growing.writing", time=growth.end / growth.speed) if growth.speed > 0 else SILENT
    full = message("ingest-lag-growing.full", limit=limit, left=left) if math.isfinite(left) else SILENT
    grave = math.isfinite(lag) and lag >= GRAVE_SECONDS
    factor = f" ({growth.accepted / growth.speed:.1f} ×)" if growth.speed > 0 else ""
    steps, bound = ["ingest-lag-growing.step", "ingest-lag-growing.step-2"], 1
    if growth.speed > 0 and not limit > 0:
        steps, bound = [*steps, "ingest-lag-growing.step-3"], max(round(growth.speed * 10), 1)
    at, seen = episode.end - 1, largest(flow.probe, episode.span)
    draft = Draft(window, episode, flow.labels, growth=growth, factor=factor, bound=bound)
    shown = [
        draft.show("ingest-lag-growing.limit", flow.stored, value=growth.rate, at=at, limit=growth.accepted),
        draft.show("ingest-lag-growing.demand", growth.backlog, value=growth.end, at=at),
    ]
    if lag >= BEHIND_SECONDS:
        shown.append(draft.show("ingest-lag-growing.effect", flow.lag, lag=lag, opened=selector(flow.labels)[:-1]))
    if seen >= BEHIND_SECONDS:
        shown.append(draft.show("ingest-lag-growing.effect-probe", flow.probe, seen=seen))
    severity, key = Severity.CRITICAL if grave else None, "ingest-lag-growing.sentence"
    return draft.finding(key, shown, steps, severity=severity, name=flow.name, waits=waits, writing=writing, full=full)


REST_SHARE = 0.05
"""Of the load's rate: requests of a probe that go on after it."""
STILL_SHARE = 0.01
LEAST_LOST_SHARE = 0.01
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
    silent = silent if silent > (tolerance(taken) if quiet else max(LEAST_LOST_SHARE * taken, 10.0)) else 0.0
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
    end, all_of_it = window.focus.stop - 1, slice(0, window.grid.count)
    stored, told = window.total(flow.stored, all_of_it), answered(window)
    lost = loss.so_far + np.nancumsum(np.nan_to_num(flow.failed)) * window.step_seconds
    draft = Draft(window, Episode(loss.first, window.focus.stop), flow.labels, taken=taken, loss=loss)
    shown = [
        draft.show("rows-lost.demand", flow.accepted),
        draft.show("rows-lost.effect", lost, value=loss.total, at=end, stored=stored),
    ]
    if loss.failed:
        shown.append(draft.show("rows-lost.limit", flow.failed))
    if loss.quiet:
        shown.append(draft.show("rows-lost.limit-2", flow.stored, value=0.0, at=end, quiet_seconds=QUIET_SECONDS))
    if told is not None and told > stored + tolerance(taken):
        shown.append(draft.show("rows-lost.effect-2", flow.accepted, value=told, at=end))
    steps = ["rows-lost.step"]
    steps += ["rows-lost.step-2"] if loss.failed else []
    steps += ["rows-lost.step-3"] if loss.silent else []
    part = loss.total / taken
    return draft.finding("rows-lost.sentence", shown, steps, name=flow.name, least=least, part=part, why=why)


STARTED = "process_start_time_seconds"
STARTED_LATER_SECONDS = 1.5
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
            again = steps < 0 if metric == ACCEPTED else steps > STARTED_LATER_SECONDS
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
    end, table, queue = window.focus.stop - 1, window[TABLE_ROWS].max, window[QUEUE].where(**labels).sum
    draft = Draft(window, Episode(death.at, window.focus.stop), labels, told=told, rows=rows, metric=death.metric)
    shown = [
        draft.show("rows-lost-at-kill.limit", death.values, at=death.at),
        draft.show("rows-lost-at-kill.effect", table, value=lost, at=end),
    ]
    if waiting >= 1:
        shown.append(draft.show("rows-lost-at-kill.demand", queue, value=waiting, at=death.at))
    return draft.finding("rows-lost-at-kill.sentence", shown, name=name, lost=lost, part=lost / told)
