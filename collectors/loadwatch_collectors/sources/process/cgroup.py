"""CPU quota and memory limit of a process's control group, and how often the quota held it back, as cAdvisor names it.

Sources: cgroups(7), the kernel's admin-guide/cgroup-v2 (`cpu.max`, `cpu.stat`, `memory.max`) and scheduler/sched-bwc
(version 1); cAdvisor's docs/storage/prometheus.md. A group without a quota has no samples, as there.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.procfs import read_or_empty

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
        """How many cores that is."""
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
        return Throttling(
            periods=float(values["nr_periods"]),
            throttled_periods=float(values["nr_throttled"]),
            throttled_seconds=throttled,
        )
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
