"""The application itself, beside its pool and its process."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.profiles.known import LockWaits
from loadwatch_backend.evidence.profiles.model import Kind as Profiled
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.costs import whole
from loadwatch_backend.findings.measures.facts import (
    POOL_METRICS,
    focused,
    largest,
    load_effects,
    pools,
    program_name,
    usual,
)
from loadwatch_backend.findings.measures.hosts import HOST_METRICS, cores_of, host_of
from loadwatch_backend.findings.measures.ingest_counters import ACCEPTED
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Outcome, Unjudged, detector, further
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Finding, Severity
from loadwatch_backend.findings.window import BoolArray, Episode, Load, Window, episodes

LEAST_WAITING = 0.5
"""Requests that wait at once on average, from which it is worth a word."""
LEAST_PART = 0.3
"""Of all waiting for locks."""
FUNCTION_MOST = 2


@detector("function-waits")
def function_waits(window: Window) -> Iterator[Outcome]:
    """A function holds a lock that others wait for, by the mutex and block profiles that were kept with the run.

    One finding for each function that held locks; for those that waited where only that is known.
    """
    held = [one for one in window.lock_waits if one.kind is Profiled.MUTEX]
    seen = held or [one for one in window.lock_waits if one.kind is Profiled.BLOCK]
    if not seen:
        return
    found = [(seconds, name, one) for one in seen for name, seconds in one.functions.items()]
    found = [one for one in found if one[0] >= LEAST_WAITING and one[0] >= LEAST_PART * one[2].seconds]
    if not found:
        most = sum(one.seconds for one in seen)
        yield Clear(message("function-waits.clear", most=most))
        return
    found.sort(key=lambda one: (-one[0], one[1]))
    yield from (_function_finding(window, *one) for one in found[:FUNCTION_MOST])


def _function_finding(window: Window, seconds: float, name: str, waits: LockWaits) -> Finding:
    rate = usual(window.load.rate, window.focus) if window.load is not None else float("nan")
    each = seconds / rate if rate > 0 else float("nan")
    # What takes far longer than it makes a request wait has another reason.
    harm = load_effects(window, whole(window), each) if rate > 0 else []
    part = min(seconds / waits.seconds, 1.0)
    request = message("function-waits.request", each=each) if rate > 0 else SILENT
    key = "function-waits.held" if waits.kind is Profiled.MUTEX else "function-waits.waited"
    labels = {"function": name} | ({"job": waits.job} if waits.job else {})
    job = f'{{job="{waits.job}"}}' if waits.job else ""
    draft = Draft(window, None, labels, name=name, request=request, part=part)
    said, severity = message(key, name=name, value=seconds, request=request, part=part), None if harm else Severity.INFO
    shown = [draft.show(key, seconds, limit=LEAST_WAITING, job=job), *harm]
    return draft.finding("function-waits.sentence", shown, severity=severity, said=said, harm=further(harm))


IN_FLIGHT, PROCESS_CPU, RUNNING = (
    "http_requests_in_flight",
    "process_cpu_seconds_total",
    "mysql_global_status_threads_running",
)
SLOW_SECONDS = 0.1
SPREAD = 5.0
"""p99 against the median of quick moments, from which answers are far apart."""
LEAST_PILE = 10.0
STALL_LOW = 0.3
"""Between two piles the number of requests in flight falls to this share of the highest."""
STALLED_SHARE = 0.2
LEAST_STALLS = 3
LEAST_SECONDS = 10
IDLE_CPU = 0.7
HOST_BUSY = 0.95
NO_PROGRESS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stall:
    """Where requests of one instance piled up; [instant] each.

    Attributes:
        used: connections in use, or NaN; cpu: cores that the process used, or NaN.
        stuck: hardly anything was accepted while requests were inside.
    """

    episode: Episode
    piles: int
    in_flight: FloatArray
    used: FloatArray
    cpu: FloatArray
    stuck: BoolArray


@detector(
    "app-lock-stall",
    least_seconds=LEAST_SECONDS,
    needs=(IN_FLIGHT,),
    reads=(*POOL_METRICS, *HOST_METRICS, PROCESS_CPU, RUNNING, ACCEPTED),
)
def lock_stall(window: Window) -> Iterator[Outcome]:
    """Requests pile up inside the application again and again, while pool, CPU and database have little to do.

    A finding for each instance in which requests wait for each other.
    """
    load = window.load
    if load is None or not np.isfinite(window.inside(load.p99)).any():
        return
    for labels, table in window[IN_FLIGHT].by("job", "instance"):
        in_flight = table.sum
        most = largest(in_flight, window.focus)
        if not np.isfinite(most):
            continue
        stall = _stall(window, load, labels, in_flight)
        if isinstance(stall, _Stall):
            yield _stall_finding(window, load, labels, stall)
            continue
        if stall is not None:
            yield Unjudged(stall)
            continue
        name, slowest = program_name(window, labels), largest(load.p99, window.focus)
        yield Clear(message("app-lock-stall.clear", most=most, name=name, slowest=slowest))


def _quick(window: Window, load: Load) -> float:
    """The median of quick moments, seconds."""
    known = window.known(load.p50)
    return float(np.quantile(known, 0.1)) if known.size else float("nan")


def _stall(window: Window, load: Load, labels: Mapping[str, str], in_flight: FloatArray) -> _Stall | Words | None:
    """Where requests wait for each other, or why that cannot be told; None where they do not."""
    quick, most = _quick(window, load), largest(in_flight, window.focus)
    if not np.isfinite(quick) or not most >= LEAST_PILE:
        return None
    slow = focused(window, load.p99 >= max(SLOW_SECONDS, SPREAD * quick))
    seconds = len(window.known(load.p99))
    times = episodes(slow, least=1, gap=0)
    if int(slow.sum()) < LEAST_STALLS:
        return None
    # A pile that never goes away is a queue for something else; one that comes and goes is let through in a body.
    known = window.known(in_flight)
    piled = focused(window, in_flight >= max(0.5 * most, LEAST_PILE))
    piles = len(episodes(piled, least=1, gap=0))
    used, cpu = _used(window, labels), window[PROCESS_CPU].where(**labels).rate
    if not (slow & piled).any() or not _rest_is_idle(window, labels, piled, used, in_flight, cpu):
        return None
    host, name = host_of(window, labels), program_name(window, labels) or "the application"
    if host is not None and _there(host.busy, piled) >= HOST_BUSY * host.cores:
        return message("app-lock-stall.host-busy", name=name)
    if piles < LEAST_STALLS or seconds < LEAST_SECONDS:
        return message(
            "app-lock-stall.too-few", name=name, piles=piles, least_stalls=LEAST_STALLS, least_seconds=LEAST_SECONDS
        )
    few = len(times) < LEAST_STALLS and int(slow.sum()) < STALLED_SHARE * seconds
    if few or float(np.quantile(known, 0.25)) > STALL_LOW * most:
        return None
    accepted = window[ACCEPTED].where(**labels).rate
    even = load.rate >= 0.5 * usual(load.rate, window.focus)
    stuck = focused(window, (accepted < NO_PROGRESS * usual(accepted, window.focus)) & even & (in_flight >= LEAST_PILE))
    return _Stall(episode=window.one_of(times), piles=piles, in_flight=in_flight, used=used, cpu=cpu, stuck=stuck)


def _there(values: FloatArray, where: BoolArray) -> float:
    return float(np.median(part)) if (part := values[where & np.isfinite(values)]).size else float("nan")


def _used(window: Window, labels: Mapping[str, str]) -> FloatArray:
    own = [pool for pool in pools(window) if all(pool.labels.get(name) == labels[name] for name in labels)]
    if not own:
        return np.full(window.grid.count, np.nan)
    return np.sum(np.stack([pool.in_use for pool in own]), axis=0)


def _rest_is_idle(
    window: Window,
    labels: Mapping[str, str],
    piled: BoolArray,
    used: FloatArray,
    in_flight: FloatArray,
    cpu: FloatArray,
) -> bool:
    """Whether pool, database and CPU had room while requests piled up; at least the pool has to be known."""
    there = partial(_there, where=piled)
    if not there(used) <= 0.5 * there(in_flight):
        return False
    for pool in pools(window):
        if all(pool.labels.get(name) == labels[name] for name in labels):
            full = pool.limit > 0
            if there(np.where(full, pool.in_use / np.where(full, pool.limit, 1.0), 0.0)) > 0.8 or (
                usual(pool.waiting, window.focus) >= 0.3
            ):
                return False
    cores = cores_of(window, labels)
    if cores is not None and there(cpu) >= IDLE_CPU * cores:
        return False
    running = there(window[RUNNING].max)
    return not running > 0.5 * there(in_flight)


def _stall_finding(window: Window, load: Load, labels: Mapping[str, str], stall: _Stall) -> Finding:
    span, quick = stall.episode.span, _quick(window, load)
    most, slowest = largest(stall.in_flight, window.focus), largest(load.p99, span)
    used, cpu = usual(stall.used, span), usual(stall.cpu, span)
    name = program_name(window, labels) or "the application"
    cores = message("app-lock-stall.cores", cpu=cpu) if np.isfinite(cpu) else SILENT
    draft = Draft(window, stall.episode, labels, most=most, used=used, slowest=slowest, quick=quick)
    shown = [
        draft.show("app-lock-stall.demand", stall.in_flight, cores=cores),
        draft.show("app-lock-stall.effect", load.p99),
    ]
    if len(stuck := np.flatnonzero(stall.stuck)) >= 2:
        accepted, seconds = window[ACCEPTED].where(**labels).rate, len(stuck) * window.step_seconds
        shown.append(draft.show("app-lock-stall.limit", accepted, at=int(stuck[0]), seconds=seconds))
    return draft.finding("app-lock-stall.sentence", shown, name=name, stall=stall)
