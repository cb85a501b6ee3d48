"""A host: its memory, its network, and who else uses its CPU."""

from collections.abc import Iterator, Mapping

import numpy as np

from loadwatch_backend.core.texts.words import SILENT
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.costs import largest_sender
from loadwatch_backend.findings.measures.demand import unmet
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import (
    Limit,
    clock_of,
    focused,
    largest,
    load_effects,
    longest_episode,
    selector,
    usual,
)
from loadwatch_backend.findings.measures.hosts import (
    AGENT,
    CPU,
    NOISE_METRICS,
    OWN_JOBS,
    STOLEN,
    HostCpu,
    host_cpus,
    instance_of_host,
)
from loadwatch_backend.findings.measures.network import DECLARED, FULL, RECEIVED, SENT, SPEED, Way, ways
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, detector
from loadwatch_backend.findings.messages import message, step
from loadwatch_backend.findings.model import Evidence, Finding, Step
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants

LEAST_WAITING = 0.3
"""Share of the time in which some task waited for a core, from which others were felt."""

SWAP_IN, SWAP_OUT = "node_vmstat_pswpin", "node_vmstat_pswpout"
FAULTS = "node_vmstat_pgmajfault"
PRESSURE = "node_pressure_memory_waiting_seconds_total"
SWAPPING = 50.0
"""Pages a second: what lies in swap may lie there since yesterday, pages that move hurt now."""
LEAST_FAULTS = 20.0
LEAST_MEMORY_WAITING = 0.1
PAGE_BYTES = 4_096

RESIDENT = "process_resident_memory_bytes"
AVAILABLE, TOTAL = "node_memory_MemAvailable_bytes", "node_memory_MemTotal_bytes"
PARTS = 6
"""Of the window: memory that grows does so from each part to the next, a cache that fills stops."""
LEAST_GROWTH = 0.1
"""Of the host's memory, over the window."""
LITTLE = 0.1
"""Share of the host's memory that is left, from which the kernel takes pages away."""

QUEUED = "node_tcp_connection_states"
FLAT = 0.02
"""How far a flat top's seconds lie from each other, as a share of the rate."""
FLAT_SECONDS, FULL_SECONDS = 10.0, 5.0
LEAST_BYTES = 1_000_000.0
STANDING_SECONDS = 0.05
"""Worth of sending that stands in the sockets' queues, from which the network is what they wait for."""


@detector("host-noise", needs=(CPU,), reads=NOISE_METRICS)
def host_noise(window: Window) -> Iterator[Outcome]:
    """One finding for each host whose CPU others took: programs that are not watched, or the hypervisor."""
    for host in host_cpus(window):
        least = least_instants(window.grid, host.interval_ms, seconds=5)
        found = episodes(focused(window, host.noisy), least=least, gap=5)
        if found:
            yield _noise(window, host, found)
            continue
        busy = largest(host.busy, window.focus) / host.cores
        if not np.isfinite(busy):
            continue
        if np.isfinite(host.foreign[window.focus]).any():
            others = largest(host.foreign, window.focus)
            yield Clear(message("host-noise.clear", name=host.name, busy=busy, others=others, cores=host.cores))
        elif episodes(focused(window, host.full), least=least, gap=5):
            yield Observation(message("host-noise.nobody_watched", name=host.name, busy=min(busy, 1.0)))


def _noise(window: Window, host: HostCpu, found: list[Episode]) -> Finding:
    episode = window.one_of(found)
    holds = np.zeros(window.grid.count, dtype=np.bool_)
    for one in found:
        holds[one.span] = True
    stolen, foreign = (usual(np.where(holds, taken, np.nan), episode.span) for taken in (host.stolen, host.foreign))
    amount, taken, key, who = foreign, host.foreign, "host-noise.foreign", message("host-noise.programs")
    if stolen >= STOLEN * host.cores:
        amount, taken, key, who = stolen, host.stolen, "host-noise.stolen", message("host-noise.hypervisor")
    most, waiting = largest(host.busy, episode.span), usual(host.waiting, episode.span)
    chosen, at = selector(host.labels)[1:-1], episode.first
    draft = Draft(window, episode, host.labels, host=host, who=who, amount=amount, chosen=chosen)
    shown = [
        draft.show("host-noise.busy", host.busy, limit=host.cores, most=most),
        draft.show(key, taken, value=amount, at=at, limit=host.cores),
    ]
    if waiting >= LEAST_WAITING:
        shown.append(draft.show("host-noise.waiting", host.waiting, value=waiting, at=at, share=min(waiting, 1.0)))
    seconds = sum(len(one) for one in found) * window.step_seconds
    return draft.finding("host-noise.sentence", [*shown, *load_effects(window, episode)], seconds=seconds)


@detector("host-memory-growing", needs=(RESIDENT,), reads=(AVAILABLE, TOTAL, SWAP_OUT, AGENT, CPU))
def host_memory_growing(window: Window) -> Iterator[Outcome]:
    """One finding for each program whose memory grows all the time on a host whose memory ends."""
    for labels, table in window[RESIDENT].by("job", "instance", "name"):
        place = instance_of_host(window, labels)
        if labels.get("job") in OWN_JOBS or place is None:
            continue
        total = largest(window[TOTAL].where(instance=place).max, window.focus)
        taken = table.sum
        first, last = _ends(window, taken)
        if not np.isfinite(first + last + total) or total <= 0:
            continue
        name = labels.get("name") or labels.get("instance", "the process")
        text = message("host-memory-growing.clear", name=name, last=last, first=first, total=total)
        if not _grows(window, taken, LEAST_GROWTH * total):
            yield Clear(text)
            continue
        available = window[AVAILABLE].where(instance=place)
        swapped = window[SWAP_OUT].where(instance=place).rate
        short = (available.max < LITTLE * total) | (swapped > SWAPPING)
        episode = longest_episode(window, short, available.slowest_ms)
        if episode is None:
            yield Observation(text)
        else:
            yield _memory_growing(window, labels, name, place, taken, available.max, total, episode)


def _ends(window: Window, taken: FloatArray) -> tuple[float, float]:
    known = window.known(taken)
    return (float(known[0]), float(known[-1])) if known.size else (float("nan"), float("nan"))


def _grows(window: Window, taken: FloatArray, least: float) -> bool:
    """Whether each part of the window has more than the one before, and all together at least so many bytes."""
    medians = np.array([usual(part, slice(None)) for part in np.array_split(taken[window.focus], PARTS)])
    return bool((np.diff(medians) > 0).all() and medians[-1] - medians[0] >= least)


def _memory_growing(
    window: Window,
    labels: Mapping[str, str],
    name: str,
    place: str,
    taken: FloatArray,
    available: FloatArray,
    total: float,
    episode: Episode,
) -> Finding:
    first, last = _ends(window, taken)
    least = -largest(-available, episode.span)
    seconds = (window.to_ms - window.from_ms) / 1_000
    pace = (last - first) / seconds
    now = SILENT if window.of_run else message("host-memory-growing.now", clock=clock_of(window.to_ms))
    left = least / pace if pace > 0 else float("nan")
    draft, key, at = Draft(window, episode, labels, total=total), "host-memory-growing.available", window.focus.stop - 1
    share, host = least / total, {"instance": place}
    shown = [
        draft.show(key, available, labels=host, value=least, at=at, limit=total, share=share),
        draft.show("host-memory-growing.resident", taken, grown=last - first),
        *load_effects(window, episode),
    ]
    bound = step("host-memory-growing.bound", bound=0.6 * total, mebibytes=int(0.6 * total / 2**20))
    return draft.finding(
        "host-memory-growing.sentence",
        shown,
        ["host-memory-growing.find", bound],
        name=name,
        first=first,
        last=last,
        seconds=seconds,
        place=place,
        least=least,
        left=left,
        now=now,
    )


@detector("host-swapping", needs=(SWAP_IN,), reads=(SWAP_OUT, FAULTS, PRESSURE))
def host_swapping(window: Window) -> Iterator[Outcome]:
    """One finding for each host that moved memory to and from disk while somebody waited for it."""
    for labels, table in window[SWAP_IN].by("job", "instance"):
        moved = table.rate + np.nan_to_num(window[SWAP_OUT].where(**labels).rate)
        at = Limit(window=window, used=moved, full=moved > SWAPPING, interval_ms=table.slowest_ms)
        if not np.isfinite(at.most):
            continue
        name = labels.get("instance", "the host")
        text = message("host-swapping.clear", name=name, most=at.most)
        if at.episode is None:
            yield Clear(text)
        else:
            yield _swapping(window, labels, name, moved, at.episode) or Observation(text)


def _swapping(
    window: Window, labels: Mapping[str, str], name: str, moved: FloatArray, episode: Episode
) -> Finding | None:
    """None where nobody waited: no faults that read from disk, and no time that tasks stood still for memory."""
    waits, effects = list[Evidence](), load_effects(window, episode)
    for metric, key, least in (
        (FAULTS, "host-swapping.faults", LEAST_FAULTS),
        (PRESSURE, "host-swapping.pressure", LEAST_MEMORY_WAITING),
    ):
        values = window[metric].where(**labels).rate
        value = usual(values, episode.span)
        if value >= least:
            share = min(value, 1.0)
            waits.append(evidence(window, key, values, labels=labels, value=value, at=episode.first, share=share))
    if not waits or (window.load is not None and not effects):
        return None
    window = window.during(episode)
    pages, most = window.total(moved), largest(moved, window.focus)
    draft = Draft(window, episode, labels, name=name, pages=pages, bytes=pages * PAGE_BYTES, most=most)
    return draft.finding("host-swapping.sentence", [draft.show("host-swapping.moved", moved), *waits, *effects])


@detector("network-capped", needs=(SENT,), reads=(RECEIVED, SPEED, DECLARED, QUEUED))
def network_capped(window: Window) -> Iterator[Outcome]:
    """One finding for each interface that was full, or flat, while more was wanted."""
    for way in ways(window):
        full = way.rate >= FULL * way.cap
        at = Limit(window=window, used=way.rate, full=full, interval_ms=way.interval_ms, seconds=FULL_SECONDS, gap=3)
        if not np.isfinite(at.most):
            continue
        of = message("network-capped.of", cap=way.cap) if np.isfinite(way.cap) else SILENT
        text = message("network-capped.clear", name=way.name, verb=way.verb, most=at.most, of=of)
        episode = at.episode or _flat_top(window, way)
        if episode is None:
            if np.isfinite(way.cap):
                yield Clear(text)
        elif found := _capped(window, way, episode, flat=at.episode is None):
            yield found
        elif at.episode is not None:
            yield Observation(text)


def _flat_top(window: Window, way: Way) -> Episode | None:
    # The highest second may be a burst that the cap lets through; the tenth of the highest ones is the top.
    top = float(np.quantile(window.known(way.rate), 0.9))
    if top < LEAST_BYTES:
        return None
    least = least_instants(window.grid, way.interval_ms, seconds=FLAT_SECONDS)
    found = episodes(focused(window, np.abs(way.rate - top) <= FLAT * top), least=least, gap=1)
    return max(found, key=len, default=None)


def _queued(window: Window, way: Way, episode: Episode) -> Evidence | None:
    chosen = {"instance": way.labels.get("instance", ""), "state": "tx_queued_bytes"}
    waiting = window[QUEUED].where(**chosen).max
    stands, rate = usual(waiting, episode.span), usual(way.rate, episode.span)
    if not way.sends or not stands >= STANDING_SECONDS * rate:
        return None
    return evidence(window, "network-capped.queued", waiting, labels=chosen, value=stands, at=episode.first)


def _capped(window: Window, way: Way, episode: Episode, *, flat: bool) -> Finding | None:
    queued = _queued(window, way, episode)
    harm = [*unmet(window, episode), *load_effects(window, episode)]
    # A flat top alone may be any limit; sockets that cannot get rid of what they send make it the network's.
    if not harm or (flat and queued is None):
        return None
    harm = [*([] if queued is None else [queued]), *harm]
    used, of = usual(way.rate, episode.span), message("network-capped.flat")
    if not flat:
        why = message("network-capped.declared" if way.declared else "network-capped.of_the_link")
        of = message("network-capped.of_bits", cap=way.cap * 8 / 1e6, why=why)
    limit = None if flat else way.cap
    device, megabits = way.labels.get("device", "eth0"), used * 8 / 1e6
    draft = Draft(window, episode, way.labels, way=way, of=of, megabits=megabits)
    measure = step("network-capped.measure", device=device, megabits=max(round(megabits), 1))
    steps = [*(_sender(window) if way.sends else []), "network-capped.send_less", measure]
    shown = draft.show("network-capped.rate", way.rate, limit=limit, used=used)
    return draft.finding("network-capped.sentence", [shown, *harm], steps)


def _sender(window: Window) -> list[Step]:
    found = largest_sender(window)
    if found is None:
        return []
    totals = found[0].totals
    return [step("network-capped.sender", name=totals.key.name, sent=totals.sent_bytes or 0.0, share=found[1])]
