"""Who uses the CPU of a host: the watched programs, others, or other machines on the same hardware. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.facts import program_name
from loadwatch_backend.findings.measures.hosts import AGENT, CPU, DECLARED, PERIOD, QUOTA, instance_of_host
from loadwatch_backend.findings.window import BoolArray, Table, Window

PRESSURE = "node_pressure_cpu_waiting_seconds_total"
PROGRAM_CPU = "process_cpu_seconds_total"
DATABASE = "mysql_global_status_threads_connected"
GOMAXPROCS = "go_sched_gomaxprocs_threads"
NOISE_METRICS = (CPU, PRESSURE, PROGRAM_CPU, AGENT)
"""What `host_cpus` reads."""
PROGRAM_METRICS = (*NOISE_METRICS, DATABASE, GOMAXPROCS, QUOTA, PERIOD, DECLARED)
"""What `programs` reads."""

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
        """As a person calls it."""
        return self.labels.get("instance") or self.labels.get("job", "the host")

    @property
    def foreign(self) -> FloatArray:
        """Cores that programs use which are not watched."""
        return np.maximum(self.busy - self.watched, 0.0)

    @property
    def full(self) -> BoolArray:
        """Where no core is left."""
        return self.busy + np.nan_to_num(self.stolen) >= BUSY * self.cores

    @property
    def noisy(self) -> BoolArray:
        """Where others took so much that what is measured here says little."""
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
    """All hosts whose CPU is seen in the window."""
    return [_host(window, labels, table) for labels, table in window[CPU].by("job", "instance")]


def programs(window: Window) -> list[Program]:
    """The watched programs without Loadwatch's own, each with the cores that it may use."""
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
    """Some names, and how many more there are."""
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
        values = table.held[:, window.focus]
        known = values[np.isfinite(values)]
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
