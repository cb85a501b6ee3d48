"""The host's CPU, memory, swap, disks, file systems, network, load and file handles, by node_exporter's names.

Names are node_exporter's. Sources: proc_pid_mounts(5), statvfs(3), /sys/class/net/<interface>/speed (sysfs-class-net).
"""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.collector import Collector, Labels, Sample, Source
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import check_pattern, option
from loadwatch_collectors.sources.procfs import CLOCK_TICKS, missing_files, read_or_empty, read_text

LOCAL = frozenset("bcachefs btrfs exfat ext2 ext3 ext4 f2fs jfs ntfs3 reiserfs ufs vfat xfs zfs".split())
"""Kinds that lie on disks of this host: one of the network may hang, and is another host's business."""
MOST_MOUNTS = 64
EVERY_SECONDS = 15.0
OLD_SECONDS = 60.0
"""What could not be read for so long is not known any more."""
FIRST_SECONDS = 1.0
"""How long the first look is waited for."""
_ESCAPE = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """One line of /proc/<pid>/mounts."""

    device: str
    mountpoint: str
    fstype: str


def parse_mounts(text: str, exclude: re.Pattern[str]) -> list[Mount]:
    """Local file systems, each device once by its shortest mount point; at most `MOST_MOUNTS`."""
    found: dict[str, Mount] = {}
    for line in text.splitlines():
        fields = [_ESCAPE.sub(lambda match: chr(int(match[1], 8)), field) for field in line.split(" ")]
        if len(fields) < 3 or fields[2] not in LOCAL or exclude.fullmatch(fields[1]):
            continue
        mount = Mount(device=fields[0], mountpoint=fields[1], fstype=fields[2])
        before = found.get(mount.device)
        if before is None or len(mount.mountpoint) < len(before.mountpoint):
            found[mount.device] = mount
    return list(found.values())[:MOST_MOUNTS]


def parse_speed(text: str) -> float | None:
    """Bytes a second of an interface, from megabits; None where it has no speed, or none now."""
    try:
        megabits = int(text)
    except ValueError:
        return None
    return megabits * 1e6 / 8 if megabits > 0 else None


class Filesystems:
    """Asks the kernel in a thread of its own, every 15 s, one look at a time; gives what it last said."""

    def __init__(self, *, proc: Path, sys: Path, root: Path, exclude: re.Pattern[str], links: re.Pattern[str]) -> None:
        """`root` is where the host's file systems are seen from here; `links` are interfaces to leave out."""
        self._proc, self._sys, self._root = proc, sys, root
        self._exclude, self._links = exclude, links
        self._lock = threading.Lock()
        self._samples: Sequence[Sample] = ()
        self._read_at = float("-inf")
        self._thread: threading.Thread | None = None
        self._next = float("-inf")

    def samples(self) -> Sequence[Sample]:
        """The newest that is known; nothing when that is a minute old."""
        now = time.monotonic()
        if now >= self._next and (self._thread is None or not self._thread.is_alive()):
            first = self._thread is None
            self._next = now + EVERY_SECONDS
            self._thread = threading.Thread(target=self._look, name="filesystems", daemon=True)
            self._thread.start()
            if first:
                self._thread.join(FIRST_SECONDS)
        with self._lock:
            return self._samples if time.monotonic() - self._read_at <= OLD_SECONDS else ()

    def _look(self) -> None:
        found = [*self._filesystems(), *self._speeds()]
        with self._lock:
            self._samples, self._read_at = found, time.monotonic()

    def _filesystems(self) -> list[Sample]:
        samples: list[Sample] = []
        # Those of the host's first process; without the right to see them, our own.
        mounts = read_or_empty(self._proc / "1/mounts") or read_or_empty(self._proc / "self/mounts")
        for mount in parse_mounts(mounts, self._exclude):
            try:
                found = os.statvfs(self._root / mount.mountpoint.lstrip("/"))
            except OSError:
                continue
            labels: Labels = (("device", mount.device), ("fstype", mount.fstype), ("mountpoint", mount.mountpoint))
            samples += [
                Sample("node_filesystem_size_bytes", float(found.f_blocks * found.f_frsize), labels),
                Sample("node_filesystem_avail_bytes", float(found.f_bavail * found.f_frsize), labels),
                Sample("node_filesystem_files", float(found.f_files), labels),
                Sample("node_filesystem_files_free", float(found.f_ffree), labels),
            ]
        return samples

    def _speeds(self) -> list[Sample]:
        samples: list[Sample] = []
        try:
            interfaces = sorted(path.name for path in (self._sys / "class" / "net").iterdir())
        except OSError:
            return samples
        for name in interfaces:
            # Links that are made of software (tun: 10 Mbit/s) tell a speed that nothing keeps to.
            if self._links.fullmatch(name) or not (self._sys / "class" / "net" / name / "device").exists():
                continue
            # An interface that is down answers EINVAL.
            speed = parse_speed(read_or_empty(self._sys / "class" / "net" / name / "speed"))
            if speed is not None:
                samples.append(Sample("node_network_speed_bytes", speed, (("device", name),)))
        return samples


_CPU_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_STAT_NAMES = {
    "ctxt": "node_context_switches_total",
    "btime": "node_boot_time_seconds",
    "processes": "node_forks_total",
    "procs_running": "node_procs_running",
    "procs_blocked": "node_procs_blocked",
}
_VMSTAT_NAMES = frozenset({"pgpgin", "pgpgout", "pswpin", "pswpout", "pgfault", "pgmajfault", "oom_kill"})
_SECTOR_BYTES = 512.0
_DISK_FIELDS: tuple[tuple[str, float, float], ...] = (
    ("node_disk_reads_completed_total", 1, 1),
    ("node_disk_reads_merged_total", 1, 1),
    ("node_disk_read_bytes_total", _SECTOR_BYTES, 1),
    ("node_disk_read_time_seconds_total", 1, 1000),
    ("node_disk_writes_completed_total", 1, 1),
    ("node_disk_writes_merged_total", 1, 1),
    ("node_disk_written_bytes_total", _SECTOR_BYTES, 1),
    ("node_disk_write_time_seconds_total", 1, 1000),
    ("node_disk_io_now", 1, 1),
    ("node_disk_io_time_seconds_total", 1, 1000),
    ("node_disk_io_time_weighted_seconds_total", 1, 1000),
)
_NETWORK_COLUMNS = [
    f"{direction}_{what}" for direction in ("receive", "transmit") for what in ("bytes", "packets", "errs", "drop")
]
"""The first four of eight in each direction."""
_PRESSURE_NAMES = {
    ("cpu", "some"): "node_pressure_cpu_waiting_seconds_total",
    ("io", "some"): "node_pressure_io_waiting_seconds_total",
    ("io", "full"): "node_pressure_io_stalled_seconds_total",
    ("memory", "some"): "node_pressure_memory_waiting_seconds_total",
    ("memory", "full"): "node_pressure_memory_stalled_seconds_total",
}
_PRESSURE = re.compile(r"^(some|full) .*total=(\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    exclude_disks: str = option(
        help="Regular expression of block devices to leave out.",
        default=r"(z?ram|loop|fd|(h|s|v|xv)d[a-z]+|nvme\d+n\d+p)\d+",
    )
    exclude_interfaces: str = option(help="Regular expression of network interfaces to leave out.", default="veth.*")
    exclude_mounts: str = option(
        help="Regular expression of mount points to leave out; of local file systems each device is shown once.",
        default=r"/(dev|proc|run/credentials|sys|var/lib/docker|var/lib/containers/storage)(/.*)?",
    )
    proc: str = option(help="Where the host's /proc is mounted.", default="/proc")
    sys: str = option(help="Where the host's /sys is mounted.", default="/sys")
    root: str = option(help="Where the host's file systems are mounted, for an agent in a container.", default="/")

    def __post_init__(self) -> None:
        for name in ("exclude_disks", "exclude_interfaces", "exclude_mounts"):
            check_pattern(name, getattr(self, name))


def parse_stat(text: str) -> list[Sample]:
    """CPU seconds per mode, switches, forks and boot time from `/proc/stat`.

    Guest time is part of user time in the kernel's figures, and is not counted again.
    """
    samples: list[Sample] = []
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        if key.startswith("cpu") and key != "cpu":
            cpu = ("cpu", key[3:])
            for mode, ticks in zip(_CPU_MODES, rest.split(), strict=False):
                samples.append(Sample("node_cpu_seconds_total", int(ticks) / CLOCK_TICKS, (cpu, ("mode", mode))))
        elif key in _STAT_NAMES:
            samples.append(Sample(_STAT_NAMES[key], float(rest)))
    return samples


def parse_meminfo(text: str) -> list[Sample]:
    """`node_memory_<field>_bytes` from `/proc/meminfo`; fields without a unit are numbers of pages."""
    samples: list[Sample] = []
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        fields = rest.split()
        if not fields:
            continue
        field = name.replace("(", "_").replace(")", "")
        unit, factor = ("_bytes", 1024) if len(fields) == 2 else ("", 1)
        samples.append(Sample(f"node_memory_{field}{unit}", float(fields[0]) * factor))
    return samples


def parse_vmstat(text: str) -> list[Sample]:
    """Paging, swapping, faults and OOM kills from `/proc/vmstat`."""
    rows = (line.partition(" ") for line in text.splitlines())
    return [Sample(f"node_vmstat_{name}", float(value)) for name, _, value in rows if name in _VMSTAT_NAMES]


def parse_diskstats(text: str, exclude: re.Pattern[str]) -> list[Sample]:
    """Operations, bytes and times per device from `/proc/diskstats`."""
    samples: list[Sample] = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 14 or exclude.fullmatch(fields[2]):
            continue
        labels: Labels = (("device", fields[2]),)
        values = zip(_DISK_FIELDS, fields[3:], strict=False)
        samples += [Sample(name, float(value) * factor / divisor, labels) for (name, factor, divisor), value in values]
    return samples


def parse_network(text: str, exclude: re.Pattern[str]) -> list[Sample]:
    """Bytes, packets, errors and drops per interface from `/proc/net/dev`."""
    samples: list[Sample] = []
    for line in text.splitlines()[2:]:
        device, _, rest = line.rpartition(":")
        device = device.strip()
        if exclude.fullmatch(device):
            continue
        labels: Labels = (("device", device),)
        values = rest.split()
        for column, value in zip(_NETWORK_COLUMNS, values[:4] + values[8:12], strict=False):
            samples.append(Sample(f"node_network_{column}_total", float(value), labels))
    return samples


def parse_loadavg(text: str) -> list[Sample]:
    """The three load averages from `/proc/loadavg`."""
    fields = text.split()
    return [Sample(f"node_load{span}", float(value)) for span, value in zip((1, 5, 15), fields, strict=False)]


def parse_file_nr(text: str) -> list[Sample]:
    """File handles of the whole host from `/proc/sys/fs/file-nr`."""
    allocated, _, maximum = text.split()
    return [Sample("node_filefd_allocated", float(allocated)), Sample("node_filefd_maximum", float(maximum))]


def parse_pressure(resource: str, text: str) -> list[Sample]:
    """Seconds in which tasks waited for a resource, from `/proc/pressure/<resource>`."""
    return [
        Sample(_PRESSURE_NAMES[resource, kind], int(microseconds) / 1e6)
        for kind, microseconds in _PRESSURE.findall(text)
        if (resource, kind) in _PRESSURE_NAMES
    ]


_MAY_BE_MISSING = ("meminfo", "vmstat", "diskstats", "net/dev", "loadavg", "sys/fs/file-nr")


class HostCollector(Collector):
    def __init__(self, settings: HostSettings) -> None:
        self._proc = Path(settings.proc)
        self._disks = re.compile(settings.exclude_disks)
        self._interfaces = re.compile(settings.exclude_interfaces)
        self._filesystems = Filesystems(
            proc=self._proc,
            sys=Path(settings.sys),
            root=Path(settings.root),
            exclude=re.compile(settings.exclude_mounts),
            links=self._interfaces,
        )
        self._pressure = [name for name in ("cpu", "io", "memory") if (self._proc / "pressure" / name).exists()]

    def collect(self) -> Iterator[Sample]:
        yield Sample("node_time_seconds", time.time())
        yield from self._read("stat", parse_stat)
        yield from self._read("meminfo", parse_meminfo)
        yield from self._read("vmstat", parse_vmstat)
        yield from self._read("diskstats", lambda text: parse_diskstats(text, self._disks))
        yield from self._read("net/dev", lambda text: parse_network(text, self._interfaces))
        yield from self._read("loadavg", parse_loadavg)
        yield from self._read("sys/fs/file-nr", parse_file_nr)
        yield from self._filesystems.samples()
        for resource in list(self._pressure):
            try:
                text = read_text(self._proc / "pressure" / resource)
            except CollectorError:
                self._pressure.remove(resource)  # Kernels booted with psi=0 show the file and refuse to open it.
                continue
            yield from parse_pressure(resource, text)

    def _read(self, name: str, parse: Callable[[str], list[Sample]]) -> list[Sample]:
        path = self._proc / name
        if name in _MAY_BE_MISSING and not path.exists():
            return []
        try:
            return parse(read_text(path))
        except (ValueError, IndexError) as error:
            raise CollectorError(f"{path} has a shape that is not known: {error}") from error

    def explain(self) -> list[str]:
        return missing_files(self._proc, _MAY_BE_MISSING)


HOST = Source(
    name="host",
    help="CPU, memory, swap, disks, file systems, network, load and file handles of this host.",
    settings=HostSettings,
    build=HostCollector,
    packs=("host",),
)
