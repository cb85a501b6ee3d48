"""Which host a process runs on, how many cores it may use, and who uses them: watched programs or others. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.facts import largest, program_name
from loadwatch_backend.findings.window import BoolArray, Table, Window

CPU, AGENT = "node_cpu_seconds_total", "collector_agent_info"
QUOTA, PERIOD, DECLARED = "container_spec_cpu_quota", "container_spec_cpu_period", "declared_limit"
HOST_METRICS = (CPU, AGENT, QUOTA, PERIOD, DECLARED)
_IDLE = ("idle", "iowait")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host that an agent watches.

    Attributes:
        labels: job and instance of its figures.
        busy: [instant] cores that work on something, of `cores`; NaN where unknown.
    """

    labels: Mapping[str, str]
    cores: int
    busy: FloatArray


def host_of(window: Window, labels: Mapping[str, str]) -> Host | None:
    """The host that a target's process runs on: of the same instance, or read by an agent on the same machine."""
    place = instance_of_host(window, labels)
    return None if place is None else host(window, place)


def host(window: Window, instance: str) -> Host | None:
    table = window[CPU]
    rows = [row for row, one in enumerate(table.labels) if one.get("instance") == instance]
    cores = len({table.labels[row].get("cpu") for row in rows})
    if not cores:
        return None
    working = [row for row in rows if table.labels[row].get("mode") not in _IDLE]
    rates = table.rates[working]
    known = np.isfinite(rates).any(axis=0)
    job = table.labels[rows[0]].get("job")
    return Host(
        labels={"instance": instance} if job is None else {"job": job, "instance": instance},
        cores=cores,
        busy=np.where(known, np.nansum(np.where(known, rates, 0.0), axis=0), np.nan),
    )


def cores_of(window: Window, labels: Mapping[str, str]) -> float | None:
    """Cores that a target's process may use: declared, its control group's quota, or those of its host."""
    own = {name: labels[name] for name in ("job", "instance") if name in labels}
    declared = window[DECLARED].where(**own, unit="cores")
    bounds = [largest(declared.held, slice(None))]
    for group, quota in window[QUOTA].where(**own).by("id"):
        period = largest(window[PERIOD].where(**own, **group).held, slice(None))
        bounds.append(largest(quota.held, slice(None)) / period if period > 0 else np.nan)
    found = host_of(window, labels)
    bounds.append(np.nan if found is None else found.cores)
    known = [bound for bound in bounds if np.isfinite(bound) and bound > 0]
    return min(known) if known else None


def instance_of_host(window: Window, labels: Mapping[str, str]) -> str | None:
    instance = labels.get("instance", "")
    hosts = {one.get("instance", "") for one in window[CPU].labels}
    if instance in hosts:
        return instance
    agents = window[AGENT].labels
    own = {
        one.get("agent_host")
        for one in agents
        if one.get("instance") == instance
        and one.get("job") == labels.get("job", one.get("job"))
        and one.get("collector") == "process"
    } - {None}
    same = {
        one.get("instance", "") for one in agents if one.get("collector") == "host" and one.get("agent_host") in own
    }
    found = sorted(same & hosts)
    return found[0] if len(found) == 1 else None


PRESSURE = "node_pressure_cpu_waiting_seconds_total"
PROGRAM_CPU = "process_cpu_seconds_total"
DATABASE = "mysql_global_status_threads_connected"
GOMAXPROCS = "go_sched_gomaxprocs_threads"
NOISE_METRICS = (CPU, PRESSURE, PROGRAM_CPU, AGENT)
PROGRAM_METRICS = (*NOISE_METRICS, DATABASE, GOMAXPROCS, QUOTA, PERIOD, DECLARED)

OWN_JOBS = frozenset({"loadwatch-agent", "loadwatch-server"})
"""Loadwatch itself: its CPU is known, but nothing is said of it here."""
BUSY = 0.95
"""Share of all cores from which whoever comes next has to wait."""
STOLEN = 0.1
FOREIGN = 0.25
"""Share of all cores that programs take which are not watched; below it they take nothing that matters."""
SMOOTH_SECONDS = 5.0
"""CPU is counted in hundredths of a second, and each collector reads at its own instant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCpu:
    """A host, on the grid; cores in use at each instant, NaN where unknown.

    Attributes:
        cores: how many there are.
        busy: cores at work, without those that wait for a disk or were taken by the hypervisor.
        stolen: cores that the hypervisor gave to others.
        watched: cores that the watched programs use; NaN where none is watched but Loadwatch itself.
        waiting: share of the time in which some task waited for a core.
    """

    labels: Mapping[str, str]
    cores: int
    busy: FloatArray
    stolen: FloatArray
    watched: FloatArray
    waiting: FloatArray
    interval_ms: int

    @property
    def name(self) -> str:
        return self.labels.get("instance") or self.labels.get("job", "the host")

    @property
    def foreign(self) -> FloatArray:
        return np.maximum(self.busy - self.watched, 0.0)

    @property
    def full(self) -> BoolArray:
        return self.busy + np.nan_to_num(self.stolen) >= BUSY * self.cores

    @property
    def noisy(self) -> BoolArray:
        """Instants at which unwatched programs or the hypervisor took so much CPU that figures say little."""
        return (self.stolen >= STOLEN * self.cores) | (self.full & (self.foreign >= FOREIGN * self.cores))


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A watched program, its processes added up.

    Attributes:
        cpu: [instant], cores that it uses.
        allowed: cores that it may use at once; NaN where nothing tells.
        why: what allows so many: `GOMAXPROCS`, `quota`, `declared` or `host`.
    """

    labels: Mapping[str, str]
    cpu: FloatArray
    allowed: float
    why: str
    database: bool
    host: HostCpu | None
    interval_ms: int
    name: str


def host_cpus(window: Window) -> list[HostCpu]:
    return [_host(window, labels, table) for labels, table in window[CPU].by("job", "instance")]


def programs(window: Window) -> list[Program]:
    seen = {one.labels.get("instance"): one for one in host_cpus(window)}
    found: list[Program] = []
    for labels, table in window[PROGRAM_CPU].by("job", "instance", "name"):
        if labels.get("job") in OWN_JOBS:
            continue
        place = instance_of_host(window, labels)
        host = None if place is None else seen.get(place)
        allowed, why = _allowed(window, labels, host)
        target = {name: labels.get(name, "") for name in ("job", "instance")}
        found.append(
            Program(
                labels=labels,
                cpu=smooth(window, table.rate, table.slowest_ms),
                allowed=allowed,
                why=why,
                database=len(window[DATABASE].where(**target)) > 0,
                host=host,
                interval_ms=table.slowest_ms,
                name=program_name(window, labels),
            )
        )
    return found


def smooth(window: Window, values: FloatArray, interval_ms: int = 0) -> FloatArray:
    """Mean of the known values around each instant, over `SMOOTH_SECONDS` or two samples."""
    width = max(round(max(SMOOTH_SECONDS * 1_000, 2 * interval_ms) / window.grid.step_ms), 1)
    width = min(width, len(values))
    known = np.isfinite(values)
    weights = np.ones(width)
    number = np.convolve(known.astype(np.float64), weights, "same")
    total = np.convolve(np.where(known, values, 0.0), weights, "same")
    return np.where(known, total / np.maximum(number, 1.0), np.nan)


def names(items: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} (+{len(items) - most})"


def _host(window: Window, labels: Mapping[str, str], table: Table) -> HostCpu:
    modes = {own.get("mode", ""): one.rate for own, one in table.by("mode")}
    nothing = np.full(window.grid.count, np.nan)
    interval = table.slowest_ms
    busy = [modes[mode] for mode in modes if mode not in ("idle", "iowait", "steal")]
    return HostCpu(
        labels=labels,
        cores=max(len(table.where(mode="idle")), 1),
        busy=smooth(window, np.sum(busy, axis=0), interval) if busy else nothing,
        stolen=smooth(window, modes["steal"], interval) if "steal" in modes else nothing,
        watched=_watched(window, labels),
        waiting=smooth(window, window[PRESSURE].where(**labels).rate, interval),
        interval_ms=interval,
    )


def _watched(window: Window, host: Mapping[str, str]) -> FloatArray:
    total = np.zeros(window.grid.count)
    known = np.zeros(window.grid.count, dtype=np.bool_)
    for labels, table in window[PROGRAM_CPU].by("job", "instance"):
        if instance_of_host(window, labels) != host.get("instance"):
            continue
        used = smooth(window, table.rate, table.slowest_ms)
        total += np.nan_to_num(used)
        if labels.get("job") not in OWN_JOBS:
            known |= np.isfinite(used)
    return np.where(known, total, np.nan)


def _allowed(window: Window, labels: Mapping[str, str], host: HostCpu | None) -> tuple[float, str]:
    target = {name: labels.get(name, "") for name in ("job", "instance")}

    def lowest(table: Table) -> float:
        known = window.known(table.held)
        return float(known.min()) if known.size else float("nan")

    quota, period = lowest(window[QUOTA].where(**target)), lowest(window[PERIOD].where(**target))
    bounds = {
        "quota": quota / period if period > 0 else float("nan"),
        "declared": lowest(window[DECLARED].where(**target, unit="cores")),
        "GOMAXPROCS": lowest(window[GOMAXPROCS].where(**target)),
        "host": float(host.cores) if host is not None else float("nan"),
    }
    known = [(bound, why) for why, bound in bounds.items() if np.isfinite(bound) and bound > 0]
    # Where the host has as many cores as a program allows itself, it is the host that bounds it.
    return min(known, key=lambda one: (one[0], one[1] != "host")) if known else (float("nan"), "")
