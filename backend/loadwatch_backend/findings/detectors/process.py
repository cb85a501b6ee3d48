"""Watched processes: their CPU and its quota, their files, and how they end."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.costs import whole
from loadwatch_backend.findings.measures.demand import IN_FLIGHT, broken, queued, unmet
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import (
    LEAST_FAILED,
    Limit,
    largest,
    load_effects,
    longest_episode,
    program_name,
    since_start,
    usual,
)
from loadwatch_backend.findings.measures.hosts import (
    AGENT,
    CPU,
    FOREIGN,
    PERIOD,
    PROGRAM_CPU,
    PROGRAM_METRICS,
    QUOTA,
    STOLEN,
    Program,
    instance_of_host,
    programs,
    smooth,
)
from loadwatch_backend.findings.measures.ingest_counters import answered, rows_grown, tolerance
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, Unjudged, detector
from loadwatch_backend.findings.measures.process_ends import (
    LIFE_METRICS,
    START,
    Death,
    deaths,
    gone,
    lost_requests,
    process_starts,
    torn,
)
from loadwatch_backend.findings.messages import message, step
from loadwatch_backend.findings.model import Evidence, Finding, Link, Severity, Step
from loadwatch_backend.findings.window import BoolArray, Episode, Table, Window

CPU_FULL = 0.88
"""Share of the cores that it may use: scheduling and garbage collection leave holes, 9 % in Go on one core."""
MOST = 0.5
"""Share of a full host from which one program is the one that fills it."""
BY_FAR = 0.6
OTHERS = 0.6
"""What others may take of a full host, as a share of what the program takes."""
LEAST_WAITING = 0.5
LEAST_CPU_SECONDS = 5.0

LEAST_CORE, MOST_CORE = 0.95, 1.05
"""Cores: one that is full, and no second one. Mean of five seconds."""
LEAST_CORE_SECONDS = 10.0
ROOM = 0.9
"""Cores of the host that are idle meanwhile."""

PERIODS = "container_cpu_cfs_periods_total"
THROTTLED = "container_cpu_cfs_throttled_periods_total"
SECONDS = "container_cpu_cfs_throttled_seconds_total"
HELD_BACK = 0.25
"""Share of the periods in which the group was held back; a burst of garbage collection holds back a few."""

MAX_FILES, MAX_FILES_HARD = "process_max_fds", "process_max_fds_hard"
KERNEL_FILES = "kernel_nr_open"
UNIT_FILES = "process_unit_max_fds"
USUAL_NR_OPEN = 1_048_576.0
"""fs.nr_open where nobody changed it: Linux, fs/file.c, sysctl_nr_open."""
IN_FORCE = {"soft": MAX_FILES, "hard": MAX_FILES_HARD}

KILLS = "node_vmstat_oom_kill"


@detector("container-throttled", needs=(THROTTLED,), reads=(PERIODS, SECONDS, QUOTA, PERIOD))
def container_throttled(window: Window) -> Iterator[Outcome]:
    """One finding for each control group that was held back by its CPU quota while somebody waited."""
    for labels, table in window[THROTTLED].by("job", "instance", "id"):
        held_back = _held_back(window, labels, table)
        at = Limit(
            window=window,
            used=held_back,
            full=held_back >= HELD_BACK,
            settings=(window[QUOTA].where(**labels).max,),
            interval_ms=table.slowest_ms,
            seconds=5,
        )
        if not np.isfinite(at.most):
            continue
        name = program_name(window, labels) or labels.get("id", "")
        text = message("container-throttled.clear", name=name, most=at.most)
        if at.episode is None:
            yield Clear(text)
        else:
            yield _throttled(window.during(at.episode), labels, name, held_back) or Observation(text)


def _held_back(window: Window, labels: Mapping[str, str], table: Table) -> FloatArray:
    """[instant], share of the periods; NaN where no period passed: the group was idle."""
    periods = smooth(window, window[PERIODS].where(**labels).rate, table.slowest_ms)
    held = smooth(window, table.rate, table.slowest_ms)
    return np.where(periods > 0, held / np.where(periods > 0, periods, 1.0), np.nan)


def _throttled(window: Window, labels: Mapping[str, str], name: str, held_back: FloatArray) -> Finding | None:
    effects = load_effects(window)
    # Without a load that is known, the pauses are harm enough; with one, somebody has to feel them.
    if window.load is not None and not effects:
        return None
    paused = window[SECONDS].where(**labels).rate
    quota, period = (largest(window[metric].where(**labels).max, window.focus) for metric in (QUOTA, PERIOD))
    cores = quota / period if period > 0 else float("nan")
    allowed, steps = SILENT, list[Step]()
    if np.isfinite(cores):
        more = int(np.ceil(cores * 2))
        allowed = message("container-throttled.allowed", cores=cores)
        steps = [
            step("container-throttled.raise", more=more, cores=cores, percent=more * 100),
            step("container-throttled.threads", threads=max(int(cores), 1)),
        ]
    draft = Draft(window, window.episode, labels, name=name, lost=window.total(paused))
    shown = [
        draft.show("container-throttled.periods", held_back),
        draft.show("container-throttled.paused", paused),
        *effects,
    ]
    most, effect = largest(held_back, window.focus), effects[0].text if effects else SILENT
    return draft.finding("container-throttled.sentence", shown, steps, allowed=allowed, most=most, effect=effect)


@detector("app-cpu-full", needs=(PROGRAM_CPU,), reads=(*PROGRAM_METRICS, IN_FLIGHT), least_seconds=LEAST_CPU_SECONDS)
def app_cpu_full(window: Window) -> Iterator[Outcome]:
    """One finding for each application that had no core left while the load was held up."""
    for program in programs(window):
        at = Limit(
            window=window,
            used=program.cpu,
            full=_cpu_is_full(program),
            settings=(process_starts(window, program.labels),),
            interval_ms=program.interval_ms,
            seconds=LEAST_CPU_SECONDS,
        )
        if program.database or not np.isfinite(at.most + program.allowed):
            continue
        text = message("app-cpu-full.clear", name=program.name, most=at.most, allowed=program.allowed)
        if at.episode is None:
            yield Clear(text)
        else:
            yield _cpu_full(window, program, at.episode) or Observation(text)


def _cpu_is_full(program: Program) -> BoolArray:
    """Where it uses all that it may, which others then did not take from it, or most of a host that is theirs alone."""
    own = program.cpu >= CPU_FULL * program.allowed
    host = program.host
    if host is None:
        return own
    stolen = host.stolen >= STOLEN * host.cores
    alone = host.foreign < FOREIGN * host.cores
    # Others may take something as long as it is the program that fills the host, by far.
    by_far = (program.cpu >= BY_FAR * host.cores) & (host.foreign <= OTHERS * program.cpu)
    return own | (host.full & ~stolen & ((alone & (program.cpu >= MOST * host.cores)) | by_far))


def _cpu_full(window: Window, program: Program, episode: Episode) -> Finding | None:
    """None where nothing shows that more was wanted."""
    harm = unmet(window, episode)
    effects = load_effects(window, episode) or queued(window, program, episode) or broken(window, episode)
    if not harm and not effects:
        return None
    host = program.host
    if host is not None and (waiting := usual(host.waiting, episode.span)) >= LEAST_WAITING:
        key, labels, share = "app-cpu-full.waiting", host.labels, min(waiting, 1.0)
        harm.append(evidence(window, key, host.waiting, labels=labels, value=waiting, at=episode.first, share=share))
    harm += effects
    window = window.during(episode)
    used = usual(program.cpu, window.focus)
    draft = Draft(window, episode, program.labels, program=program, used=used)
    shown, why = draft.show("app-cpu-full.cores", program.cpu, limit=program.allowed), message(_WHY[program.why])
    return draft.finding("app-cpu-full.sentence", [shown, *harm], _cpu_steps(window, program, used), why=why)


_WHY = {
    "host": "app-cpu-full.host",
    "GOMAXPROCS": "app-cpu-full.gomaxprocs",
    "quota": "app-cpu-full.quota",
    "declared": "app-cpu-full.declared",
}


def _cpu_steps(window: Window, program: Program, used: float) -> list[Step]:
    steps: list[Step] = []
    host, load = program.host, window.load
    if program.why in ("GOMAXPROCS", "quota") and host is not None and host.cores > program.allowed:
        code = f"GOMAXPROCS={host.cores}" if program.why == "GOMAXPROCS" else f"CPUQuota={host.cores * 100}%"
        steps.append(step("app-cpu-full.use_more", cores=host.cores, code=code))
    rate = float("nan") if load is None else usual(load.outcomes.get("ok", load.rate), window.focus)
    if rate > 0:
        steps.append(step("app-cpu-full.profile", each=used / rate * 1_000, used=used, rate=rate))
    return [*steps, step("app-cpu-full.instances")]


@detector("one-core-busy", needs=(PROGRAM_CPU,), reads=(*PROGRAM_METRICS, IN_FLIGHT), least_seconds=LEAST_CORE_SECONDS)
def one_core_busy(window: Window) -> Iterator[Outcome]:
    """One finding for each program that computes on one core, which was full while the load was held up."""
    for program in programs(window):
        host = program.host
        most = largest(program.cpu, window.focus)
        if host is None or host.cores < 2 or program.database or not np.isfinite(most):
            continue
        if program.allowed <= 1 and program.why in ("quota", "GOMAXPROCS"):
            continue  # what holds it at one core is known, and told elsewhere
        text = message("one-core-busy.clear", name=program.name, most=most, cores=host.cores)
        episode = None
        # One thread never uses more.
        if most <= MOST_CORE:
            episode = longest_episode(
                window,
                (program.cpu >= LEAST_CORE) & (host.busy <= host.cores - ROOM),
                program.interval_ms,
                process_starts(window, program.labels),
                seconds=LEAST_CORE_SECONDS,
                gap=3,
            )
        if episode is None:
            yield Clear(text)
        else:
            yield _one_core(window, program, host.cores, episode) or Observation(text)


def _one_core(window: Window, program: Program, cores: int, episode: Episode) -> Finding | None:
    alone = replace(program, allowed=1.0)
    effects = load_effects(window, episode) or queued(window, alone, episode) or broken(window, episode)
    harm = [*unmet(window, episode), *effects]
    if not harm:
        return None
    window = window.during(episode)
    used = usual(program.cpu, window.focus)
    draft = Draft(window, episode, program.labels, name=program.name, used=used, cores=cores)
    return draft.finding("one-core-busy.sentence", [draft.show("one-core-busy.core", program.cpu, limit=1.0), *harm])


@detector("limit-not-in-force", needs=(UNIT_FILES, MAX_FILES), reads=(MAX_FILES_HARD, KERNEL_FILES))
def limit_not_in_force(window: Window) -> Iterator[Outcome]:
    """One finding for each service that runs with fewer open files than its unit allows by the newest readings."""
    for labels, units in window[UNIT_FILES].by("job", "instance"):
        name = program_name(window, labels)
        if len({one.get("unit") for one in units.labels}) != 1:
            yield Unjudged(message("limit-not-in-force.unjudged", name=name))
            continue
        lower = [one for bound in IN_FORCE if (one := _lower(window, labels, units, bound)) is not None]
        if not lower:
            yield Clear(message("limit-not-in-force.clear", name=name))
            continue
        unit, shown = units.labels[0]["unit"], lower[0]
        draft = Draft(window, whole(window), labels, unit=unit, allowed=shown.limit, name=name, in_force=shown.value)
        yield draft.finding("limit-not-in-force.sentence", [shown])


def _lower(window: Window, labels: Mapping[str, str], units: Table, bound: str) -> Evidence | None:
    """The limit in force, where the unit's is higher; the program's main process has the highest."""
    table = window[IN_FORCE[bound]].where(**labels)
    in_force, allowed = _newest(window, table), _newest(window, units.where(bound=bound))
    # systemd gives no service more than the kernel allows, whatever the unit says.
    allowed = min(allowed, float(np.min(window.known(window[KERNEL_FILES].values), initial=USUAL_NR_OPEN)))
    if not np.isfinite(in_force + allowed) or in_force >= allowed:
        return None
    key, metric = "limit-not-in-force.limit", IN_FORCE[bound]
    return evidence(window, key, table.max, labels=labels, value=in_force, limit=allowed, metric=metric, bound=bound)


def _newest(window: Window, table: Table) -> float:
    """The newest value in the window; NaN where none is known, or it is no number (infinity)."""
    known = window.known(table.max)
    return float(known[-1]) if known.size else float("nan")


@detector("process-died", needs=(START,), reads=(*LIFE_METRICS, KILLS, AGENT, CPU))
def process_died(window: Window) -> Iterator[Outcome]:
    """One finding for each process that ended while requests failed; a planned restart accuses nobody."""
    ended = deaths(window)
    for death in ended:
        effects = load_effects(window, gone(window, death))
        failed = lost_requests(window, death)
        if failed >= LEAST_FAILED and effects:
            yield _died(window, death, failed, effects)
        else:
            yield Observation(_ended(window, death))
    names = {one.get("instance", one.get("job", "")) for one in window[START].labels}
    if names and not ended:
        yield Clear(message("process-died.clear", number=len(names)))


def _ended(window: Window, death: Death) -> Words:
    when = since_start(window, window.grid.time_ms(death.at), "at ")
    again = message("process-died.started_anew") if death.back else SILENT
    return message("process-died.ended", name=death.name, when=when, again=again)


def _died(window: Window, death: Death, failed: float, effects: list[Evidence]) -> Finding:
    killed = _killed(window, death)
    told, rows = answered(window), rows_grown(window)
    lost_rows = told is not None and rows is not None and told - rows > tolerance(told)
    planned = death.back is not None and not torn(window, death) and not killed and not lost_rows
    away = message("process-died.away")
    if death.back == death.at:
        away = message("process-died.replaced")
    elif death.back is not None:
        away = message("process-died.back", seconds=(death.back - death.at) * window.step_seconds)
    draft, up = Draft(window, gone(window, death), death.labels), {**death.labels, "collector": "process"}
    ended = _ended(window, death)
    shown = [
        draft.show("process-died.up", death.running, labels=up, value=0.0, at=death.at, ended=ended),
        *killed,
        *(replace(one, link=Link.DEMAND) if 'outcome="refused"' in one.expression else one for one in effects),
    ]
    severity, by = Severity.INFO if planned else None, message("process-died.killed") if killed else SILENT
    return draft.finding(
        "process-died.sentence", shown, severity=severity, name=death.name, killed=by, away=away, failed=failed
    )


def _killed(window: Window, death: Death) -> list[Evidence]:
    place = instance_of_host(window, death.labels)
    if place is None:
        return []
    kills = window[KILLS].where(instance=place).rate
    around = slice(max(death.at - 5, 0), min(death.at + 5, window.grid.count))
    if window.total(kills, around) < 0.5:
        return []
    return [evidence(window, "process-died.kills", kills, labels={"instance": place})]
