"""Open files, CPU, memory, threads and limits of processes, from `/proc/<pid>`, named as the Prometheus clients do."""

import os
import platform
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.collector import (
    CollectFault,
    Collector,
    Labels,
    MissingPrivilege,
    Sample,
    Source,
    address_of,
    target_info,
)
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.process.search import ProcessSettings, find_pids, find_ports, find_roots
from loadwatch_collectors.sources.procfs import (
    CLOCK_TICKS,
    PAGE_SIZE,
    parse_boot_time,
    read_bytes,
    read_or_empty,
    read_text,
)

# CPU quota and memory limit of a process's control group, and how often the quota held it back, as cAdvisor names it.
#
# Sources: cgroups(7), the kernel's admin-guide/cgroup-v2 (`cpu.max`, `cpu.stat`, `memory.max`) and scheduler/sched-bwc
# (version 1); cAdvisor's docs/storage/prometheus.md. A group without a quota has no samples, as there.

_DEEPEST = 16
_MICROSECONDS = 1e6
_NANOSECONDS = 1e9
_UNIT = re.compile(r"/([^/]+\.service)(?:/|$)")


class Membership(NamedTuple):
    """Where a process stands: the path of its group, and the folder below `/sys/fs/cgroup` of the CPU controller.

    `controller` is empty for version 2 mounted alone.
    """

    controller: str
    path: str


class Quota(NamedTuple):
    """CPU time that a group may use in each period, both in microseconds, as the kernel and cAdvisor have them."""

    quota: float
    period: float

    @property
    def cores(self) -> float:
        return self.quota / self.period


class Throttling(NamedTuple):
    """Counters since the group was made: periods that passed, periods and seconds in which it was held back."""

    periods: float
    throttled_periods: float
    throttled_seconds: float


def parse_membership(text: str) -> Membership | None:
    """The group that decides on CPU time, from `/proc/<pid>/cgroup`; None when no line names one.

    A line of version 1 with the controller `cpu` goes first: the controller is in one of both versions only.
    """
    unified: Membership | None = None
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "cpu" in controllers.split(","):
            return Membership(controller=controllers, path=path)
        if not controllers and path:
            unified = Membership(controller="", path=path)
    return unified


def parse_unit(text: str) -> str:
    """The systemd service in `/proc/<pid>/cgroup`, such as `app.service`; empty when the process is in none."""
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        match = _UNIT.search(path) if controllers in ("", "name=systemd") else None
        if match is not None:
            return match[1]
    return ""


def parse_cpu_max(text: str) -> Quota | None:
    """`cpu.max` of version 2, "200000 100000"; None for `max`, no quota, and for what has another shape."""
    return _quota(*text.split()) if len(text.split()) == 2 else None


def _quota(quota: str, period: str) -> Quota | None:
    if not (quota.strip().isdecimal() and period.strip().isdecimal()):
        return None  # "max" in version 2, -1 in version 1
    limit = Quota(quota=float(quota), period=float(period))
    return limit if limit.quota > 0 and limit.period > 0 else None


def parse_cpu_stat(text: str) -> Throttling | None:
    """The counters in `cpu.stat` of either version; None when it has none of a quota."""
    values = {name: value for name, _, value in (line.partition(" ") for line in text.splitlines())}
    try:
        throttled = (
            float(values["throttled_usec"]) / _MICROSECONDS
            if "throttled_usec" in values
            else float(values["throttled_time"]) / _NANOSECONDS
        )
        return Throttling(float(values["nr_periods"]), float(values["nr_throttled"]), throttled)
    except (KeyError, ValueError):
        return None


def read_quotas(sys: Path, memberships: Iterable[Membership]) -> Iterator[Sample]:
    """The samples of every group that limits one of the processes, each group once.

    Of a process's own limits and those above it that is the tightest: it is what holds the process back. Limits of
    memory are read of version 2 only.
    """
    told: set[tuple[str, str]] = set()
    memberships = list(memberships)
    for path, limit in sorted({one for one in (_memory(sys, each) for each in memberships) if one is not None}):
        yield Sample("container_spec_memory_limit_bytes", limit, (("id", path),))
    for membership in memberships:
        found = _tightest(sys, membership)
        if found is None or (membership.controller, found[0]) in told:
            continue
        told.add((membership.controller, found[0]))
        yield from _samples(sys, membership.controller, *found)


def _samples(sys: Path, controller: str, path: str, quota: Quota) -> Iterator[Sample]:
    labels = (("id", path),)
    yield Sample("container_spec_cpu_quota", quota.quota, labels)
    yield Sample("container_spec_cpu_period", quota.period, labels)
    counters = parse_cpu_stat(read_or_empty(_folder(sys, controller, path) / "cpu.stat"))
    if counters is not None:
        yield Sample("container_cpu_cfs_periods_total", counters.periods, labels)
        yield Sample("container_cpu_cfs_throttled_periods_total", counters.throttled_periods, labels)
        yield Sample("container_cpu_cfs_throttled_seconds_total", counters.throttled_seconds, labels)


def _tightest(sys: Path, membership: Membership) -> tuple[str, Quota] | None:
    folders = ((path, _folder(sys, membership.controller, path)) for path in _groups(membership))
    found = ((path, _read_quota(folder, membership.controller)) for path, folder in folders)
    known = [(path, quota) for path, quota in found if quota is not None]
    return min(known, key=lambda one: one[1].cores, default=None)


def _memory(sys: Path, membership: Membership) -> tuple[str, float] | None:
    """The group with the lowest `memory.max`, bytes."""
    if membership.controller:
        return None
    found = ((path, read_or_empty(_folder(sys, "", path) / "memory.max").strip()) for path in _groups(membership))
    return min(((path, float(text)) for path, text in found if text.isdecimal()), key=lambda one: one[1], default=None)


def _groups(membership: Membership) -> Iterator[str]:
    """A group and those above it; none of one outside of this namespace, which is not mounted here."""
    if "/../" in membership.path + "/":
        return
    path = membership.path.rstrip("/")
    for _ in range(_DEEPEST):
        yield path or "/"
        if not path:
            break
        path = path.rpartition("/")[0]


def _folder(sys: Path, controller: str, path: str) -> Path:
    return sys / "fs" / "cgroup" / controller / path.strip("/")


def _read_quota(folder: Path, controller: str) -> Quota | None:
    if controller:
        return _quota(read_or_empty(folder / "cpu.cfs_quota_us"), read_or_empty(folder / "cpu.cfs_period_us"))
    return parse_cpu_max(read_or_empty(folder / "cpu.max"))


# What systemd's unit of a process allows it in open files: whether `LimitNOFILE` of today is in force.
#
# Source: systemctl(1), `show`; systemd.exec(5), LimitNOFILE: one number for the hard and the soft limit, or soft:hard.

_PROPERTIES = {"LimitNOFILESoft": "soft", "LimitNOFILE": "hard"}
_EVERY_SECONDS = 60.0
_DEADLINE_SECONDS = 2.0
_MOST_UNITS = 8
_LONGEST_ANSWER = 4096
_BOOTED = Path("/run/systemd/system")
"""There is this folder where systemd runs: sd_booted(3)."""


def parse_unit_limits(text: str) -> dict[str, float]:
    """`soft` and `hard`, from what `systemctl show` says; infinity is no limit."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name in _PROPERTIES and (value == "infinity" or value.isdecimal()):
            found[_PROPERTIES[name]] = float(value)
    return found


def ask_systemd(unit: str) -> str:
    """What systemd says of the unit's limits; empty when there is no systemd, or it does not answer in time."""
    if not _BOOTED.is_dir():
        return ""
    properties = [f"--property={name}" for name in _PROPERTIES]
    try:
        done = subprocess.run(
            ["systemctl", "show", *properties, "--", unit],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_DEADLINE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout[:_LONGEST_ANSWER].decode("utf-8", "replace")


class UnitLimits:
    def __init__(self, ask: Callable[[str], str] = ask_systemd, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._known: dict[str, tuple[float, dict[str, float]]] = {}

    def read(self, units: Iterable[str]) -> Iterator[Sample]:
        """The limits of the units, each once; none of one that systemd does not know."""
        now = self._clock()
        wanted = sorted(set(units) - {""})[:_MOST_UNITS]
        self._known = {unit: known for unit, known in self._known.items() if unit in wanted}
        for unit in wanted:
            asked_at, _ = self._known.get(unit, (float("-inf"), {}))
            if now - asked_at >= _EVERY_SECONDS:
                self._known[unit] = (now, parse_unit_limits(self._ask(unit)))
            for bound, value in self._known[unit][1].items():
                yield Sample("process_unit_max_fds", value, (("unit", unit), ("bound", bound)))


_LIMITS = {
    "Max open files": "process_max_fds",
    "Max processes": "process_max_processes",
    "Max address space": "process_virtual_memory_max_bytes",
}
_HARD_LIMITS = {"Max open files": "process_max_fds_hard"}
_PIDS_SHOWN = 8
_LISTING = MissingPrivilege(
    permission="the same user as the process, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
    lost="process_open_fds, how many files the process has open",
    remedy="run the agent as the user of the process, give its service these capabilities, or use Linux 6.2 or newer, "
    "where the number can be read by every user",
)


class ProcessStat(NamedTuple):
    """What `/proc/<pid>/stat` says; times in seconds, sizes in bytes, `start_ticks` after boot.

    `program` is the name that the kernel shows, 15 bytes at most; `parent` the number of the process that made it.
    """

    program: str
    state: str
    parent: int
    major_faults: int
    cpu_seconds: float
    threads: int
    start_ticks: int
    virtual_bytes: int
    resident_bytes: int


def parse_process_stat(stat: bytes) -> ProcessStat:
    """Fields of `/proc/<pid>/stat`, by proc(5); the name may hold blanks and brackets, so count from the last `)`.

    Raises:
        ValueError: it has another shape.
    """
    end = stat.rindex(b")")
    fields = stat[end + 2 :].split()
    return ProcessStat(
        program=stat[stat.index(b"(") + 1 : end].decode("utf-8", "backslashreplace"),
        state=fields[0].decode(),
        parent=int(fields[1]),
        major_faults=int(fields[9]),
        cpu_seconds=(int(fields[11]) + int(fields[12])) / CLOCK_TICKS,
        threads=int(fields[17]),
        start_ticks=int(fields[19]),
        virtual_bytes=int(fields[20]),
        resident_bytes=int(fields[21]) * PAGE_SIZE,
    )


def parse_limits(text: str) -> dict[str, float]:
    """Limits in force, as metric name → value; unlimited is infinity. From `/proc/<pid>/limits`."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        # The kernel writes columns of fixed widths, the first of 25 and a space.
        name, values = line[:26].rstrip(), line[26:].split(maxsplit=2)
        for names, limit in zip((_LIMITS, _HARD_LIMITS), values[:2], strict=False):
            if name in names:
                found[names[name]] = float("inf") if limit == "unlimited" else float(limit)
    return found


def has_open_file_count(release: str) -> bool:
    """Whether this kernel tells the number of open files as the size of `/proc/<pid>/fd` (since Linux 6.2)."""
    match = re.match(r"(\d+)\.(\d+)", release)
    return match is not None and (int(match[1]), int(match[2])) >= (6, 2)


class ProcessCollector(Collector):
    """Watches the processes of one search; finds them again when they restart.

    A process and what it has forked are one program: told apart by the label `pid`, and added up by signals. Several
    that do not descend from each other may be anything; each then is a program of its own, by the label `name`.
    """

    def __init__(self, settings: ProcessSettings) -> None:
        self._settings = settings
        self._proc = Path(settings.proc)
        # A folder that is not a real /proc has sizes of its own.
        self._counted = settings.proc == "/proc" and has_open_file_count(platform.release())
        self._pids: list[int] = []
        self._starts: dict[int, int] = {}
        self._scanned_at = float("-inf")
        self._boot_time: float | None = None
        self._unreadable = False
        self._stats: dict[int, ProcessStat] = {}
        self._roots: dict[int, int] = {}
        self._units = UnitLimits()
        self._ports: tuple[int, set[int]] = (0, set())

    def collect(self) -> list[Sample]:
        if self._boot_time is None:
            self._boot_time = parse_boot_time(read_text(self._proc / "stat"))
        if time.monotonic() - self._scanned_at >= self._settings.rescan:
            self._scan()
        stats = self._read_stats()
        if len(stats) < len(self._pids):
            self._scan()
            stats = self._read_stats()
        if not stats:
            self._scanned_at = float("-inf")
            raise CollectorError(f"no process is found by {self._settings.describe()}; is it running?")
        self._unreadable = False
        self._stats = stats
        self._roots = find_roots(self._settings, {pid: stat.parent for pid, stat in stats.items()})
        samples: list[Sample] = []
        for pid, stat in stats.items():
            samples += self._read_process(pid, stat, self._labels(pid))
        return [*samples, *self._read_groups(), *self._read_addresses()]

    def fault(self) -> CollectFault | None:
        roots = sorted(set(self._roots.values()))
        if len(roots) < 2:
            return None
        shown = ", ".join(str(pid) for pid in roots[:_PIDS_SHOWN]) + (", …" if len(roots) > _PIDS_SHOWN else "")
        return CollectFault(
            text=f"{self._settings.describe()} is ambiguous: {len(roots)} independent processes, each measured on its "
            f"own (pid {shown}); port, pid_file or systemd_unit name one"
        )

    def explain(self) -> list[str]:
        sizes = Counter(self._roots.values())
        lines = [
            f"finds {_title(self._stats[root], root)}, started {self._started(self._stats[root])}"
            + (f", with {size - 1} more" if size > 1 else "")
            for root, size in sorted(sizes.items())[:_PIDS_SHOWN]
        ]
        more = len(sizes) - len(lines)
        return [*lines, f"finds {more} more"] if more else lines

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        return (_LISTING,) if self._unreadable else ()

    def _labels(self, pid: int) -> Labels:
        if len(self._stats) < 2:
            return ()
        root = self._roots[pid]
        own = (("pid", str(pid)),)
        return own if len(set(self._roots.values())) < 2 else (("name", _title(self._stats[root], root)), *own)

    def _started(self, stat: ProcessStat) -> str:
        start = datetime.fromtimestamp((self._boot_time or 0.0) + stat.start_ticks / CLOCK_TICKS, UTC)
        return f"{start:%Y-%m-%d %H:%M:%S} UTC"

    def _scan(self) -> None:
        self._pids = find_pids(self._settings)
        self._starts = {}
        self._scanned_at = time.monotonic()
        if not self._ports[1]:
            self._ports = (0, set())  # it may listen by now

    def _read_stats(self) -> dict[int, ProcessStat]:
        """Return the found processes that still run; a pid with another start time is another process."""
        found: dict[int, ProcessStat] = {}
        for pid in self._pids:
            try:
                stat = parse_process_stat(read_bytes(f"{self._proc}/{pid}/stat"))
            except CollectorError:
                continue
            except (ValueError, IndexError) as error:
                raise CollectorError(f"{self._proc}/{pid}/stat has a shape that is not known: {error}") from error
            if stat.state in ("Z", "X") or self._starts.setdefault(pid, stat.start_ticks) != stat.start_ticks:
                continue
            found[pid] = stat
        return found

    def _read_process(self, pid: int, stat: ProcessStat, labels: Labels) -> list[Sample]:
        assert self._boot_time is not None
        samples = [
            Sample("process_cpu_seconds_total", stat.cpu_seconds, labels),
            Sample("process_resident_memory_bytes", float(stat.resident_bytes), labels),
            Sample("process_virtual_memory_bytes", float(stat.virtual_bytes), labels),
            Sample("process_threads", float(stat.threads), labels),
            Sample("process_major_page_faults_total", float(stat.major_faults), labels),
            Sample("process_start_time_seconds", self._boot_time + stat.start_ticks / CLOCK_TICKS, labels),
        ]
        open_files = self._count_open_files(pid)
        if open_files is not None:
            samples.append(Sample("process_open_fds", float(open_files), labels))
        try:
            limits = parse_limits(read_text(f"{self._proc}/{pid}/limits"))
        except CollectorError:
            return samples
        samples += [Sample(name, value, labels) for name, value in limits.items()]
        return samples

    def _read_addresses(self) -> list[Sample]:
        """Where the program listens, beside the port by which it was found; nothing of several programs."""
        roots = set(self._roots.values())
        root = min(roots)
        if len(roots) > 1:
            return []
        if self._ports[0] != root:
            self._ports = root, find_ports(self._proc, root)
        return [
            target_info("process", address_of("localhost", port))
            for port in sorted(self._ports[1] - {self._settings.port})
        ]

    def _read_groups(self) -> list[Sample]:
        """What limits the processes from outside: the quota of their control groups, and their units of systemd."""
        texts: list[str] = []
        for pid in self._stats:
            try:
                texts.append(read_text(f"{self._proc}/{pid}/cgroup"))
            except CollectorError:
                continue
        memberships = [found for text in texts if (found := parse_membership(text)) is not None]
        samples = list(read_quotas(Path(self._settings.sys), memberships))
        if self._settings.proc == "/proc":  # systemd answers for its own host only
            samples += self._units.read(parse_unit(text) for text in texts)
        return samples

    def _count_open_files(self, pid: int) -> int | None:
        folder = f"{self._proc}/{pid}/fd"
        try:
            return os.stat(folder).st_size if self._counted else len(os.listdir(folder))
        except PermissionError:
            self._unreadable = True
            return None
        except OSError:
            return None


def _title(stat: ProcessStat, pid: int) -> str:
    return f"{stat.program} (pid {pid})"


PROCESS = Source(
    name="process",
    help="Open files, CPU, memory, threads and limits of a process.",
    settings=ProcessSettings,
    build=ProcessCollector,
    packs=("process",),
    privileges=(_LISTING,),
)
