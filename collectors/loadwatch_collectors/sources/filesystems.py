"""How full the host's disks are, and how fast its links: read apart, since a dying disk lets nobody go who asks.

Names are node_exporter's. Sources: proc_pid_mounts(5), statvfs(3), /sys/class/net/<interface>/speed (sysfs-class-net).
"""

import os
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.collector import Labels, Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.procfs import read_text

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
        for mount in parse_mounts(self._mounts(), self._exclude):
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

    def _mounts(self) -> str:
        """Those of the host's first process; without the right to see them, our own."""
        for name in ("1/mounts", "self/mounts"):
            try:
                return read_text(self._proc / name)
            except CollectorError:
                continue
        return ""

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
            try:
                speed = parse_speed(read_text(self._sys / "class" / "net" / name / "speed"))
            except CollectorError:
                continue  # An interface that is down answers EINVAL.
            if speed is not None:
                samples.append(Sample("node_network_speed_bytes", speed, (("device", name),)))
        return samples
