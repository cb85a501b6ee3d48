"""What the load generator's host sees of itself while a run is under way: a check that it could send what was asked.

Sources: /proc/stat (proc_stat(5)), /proc/net/snmp, /proc/<pid>/task/<tid>/children and stat, /proc/<pid>/status.
"""

import os
import resource
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_PROC = Path("/proc")


class CpuTimes(NamedTuple):
    """Clock ticks of all cores together."""

    busy: int
    total: int


def parse_cpu(stat: str) -> CpuTimes:
    """The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests are in user."""
    ticks = [int(word) for word in stat.splitlines()[0].split()[1:9]]
    idle = ticks[3] + (ticks[4] if len(ticks) > 4 else 0)
    return CpuTimes(sum(ticks) - idle, sum(ticks))


def parse_retransmits(snmp: str) -> int | None:
    """`RetransSegs` of the Tcp lines of /proc/net/snmp."""
    lines = [line.split() for line in snmp.splitlines() if line.startswith("Tcp:")]
    if len(lines) != 2 or "RetransSegs" not in lines[0]:
        return None
    return int(lines[1][lines[0].index("RetransSegs")])


def parse_resident(status: str) -> int:
    """`VmRSS` of /proc/<pid>/status in bytes; 0 for a process without memory."""
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def parse_ticks(stat: str) -> int:
    """`utime` and `stime` of /proc/<pid>/task/<tid>/stat; 0 for a thread that is gone. Names may hold anything."""
    return sum(int(word) for word in stat.rpartition(")")[2].split()[11:13])


class Machine:
    """Reads the host once a second between `start` and `describe`."""

    def __init__(self, proc: Path = _PROC) -> None:
        self._proc = proc
        self._first = self._last = self._cpu()
        self._cpu_max: float | None = None
        self._memory_max = 0
        self._thread_ticks: dict[Path, int] = {}
        self._busiest: list[float] = []
        self._retransmits = self._read_retransmits()
        self._child_seconds = _children_seconds()

    def sample(self, process: int | None) -> float | None:
        """Look at the host, and at a process with all its descendants; the share of CPU in use since the last look."""
        share = None
        now = self._cpu()
        passed = 0 if now is None or self._last is None else now.total - self._last.total
        if now is not None and self._last is not None and passed > 0:
            share = (now.busy - self._last.busy) / passed
            self._cpu_max = max(self._cpu_max or 0.0, share)
        self._last = now
        if process is not None:
            threads = list(self._threads(process))
            resident = sum(parse_resident(_read(pid / "status")) for pid in {one.parent.parent for one in threads})
            self._memory_max = max(self._memory_max, resident)
            ticks = {thread: parse_ticks(_read(thread / "stat")) for thread in threads}
            used = [count - self._thread_ticks.get(thread, 0) for thread, count in ticks.items()]
            if used and passed > 0:
                self._busiest.append(max(used) * (os.cpu_count() or 1) / passed)
            self._thread_ticks = ticks
        return share

    def describe(self) -> dict[str, Any]:
        """The document `Generator` of the API; call it once the command's processes have been waited for."""
        now = self._cpu()
        mean = None
        if now is not None and self._first is not None and now.total > self._first.total:
            mean = (now.busy - self._first.busy) / (now.total - self._first.total)
        retransmits = self._read_retransmits()
        return {
            "cpu_cores": os.cpu_count(),
            "cpu_mean": mean,
            "cpu_max": self._cpu_max if self._cpu_max is not None else mean,
            "process_cpu_seconds": max(_children_seconds() - self._child_seconds, 0.0),
            "thread_cpu": statistics.fmean(self._busiest) if self._busiest else None,
            "memory_max_bytes": self._memory_max or None,
            "retransmits": None
            if retransmits is None or self._retransmits is None
            else max(retransmits - self._retransmits, 0),
        }

    def _threads(self, process: int) -> Iterator[Path]:
        """Folders of the threads of a process and of all its descendants."""
        waiting = [process]
        while waiting:
            for thread in (self._proc / str(waiting.pop()) / "task").glob("*"):
                yield thread
                waiting += [int(word) for word in _read(thread / "children").split()]

    def _cpu(self) -> CpuTimes | None:
        text = _read(self._proc / "stat")
        return parse_cpu(text) if text else None

    def _read_retransmits(self) -> int | None:
        return parse_retransmits(_read(self._proc / "net" / "snmp"))


def _read(path: Path) -> str:
    """Empty for what is gone or not there."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _children_seconds() -> float:
    """CPU time of all children that ended and were waited for, with their own."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
