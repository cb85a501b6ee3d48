"""Open files, CPU, memory, threads and limits of processes, from `/proc/<pid>`, named as the Prometheus clients do."""

import os
import platform
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

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
from loadwatch_collectors.sources.process.cgroup import parse_membership, parse_unit, read_quotas
from loadwatch_collectors.sources.process.search import ProcessSettings, find_pids, find_ports, find_roots
from loadwatch_collectors.sources.process.unit import UnitLimits
from loadwatch_collectors.sources.procfs import CLOCK_TICKS, PAGE_SIZE, parse_boot_time, read_bytes, read_text

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


@dataclass(frozen=True, slots=True)
class ProcessStat:
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
        """Read every process that was found once."""
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
        """The search is ambiguous: which processes it finds, and how to name one."""
        roots = sorted(set(self._roots.values()))
        if len(roots) < 2:
            return None
        shown = ", ".join(str(pid) for pid in roots[:_PIDS_SHOWN]) + (", …" if len(roots) > _PIDS_SHOWN else "")
        return CollectFault(
            text=f"{self._settings.describe()} is ambiguous: {len(roots)} independent processes, each measured on its "
            f"own (pid {shown}); port, pid_file or systemd_unit name one"
        )

    def explain(self) -> list[str]:
        """Each program that was found, since when it runs, and how many processes it has."""
        sizes = Counter(self._roots.values())
        lines = [
            f"finds {_title(self._stats[root], root)}, started {self._started(self._stats[root])}"
            + (f", with {size - 1} more" if size > 1 else "")
            for root, size in sorted(sizes.items())[:_PIDS_SHOWN]
        ]
        more = len(sizes) - len(lines)
        return [*lines, f"finds {more} more"] if more else lines

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        """What the last `collect` could not see."""
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
        """The processes that still are the ones that were found: the same number with another start is another."""
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
