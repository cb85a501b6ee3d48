"""Kernel settings beyond the limits that `sockets` names itself, as node_exporter's sysctl collector shows them.

Source of names and labels: node_exporter, collector/sysctl_linux.go: `node_sysctl_<name>`, `index` for one of several
numbers, and `node_sysctl_info{name,value}` for texts.
"""

from collections.abc import Iterable
from pathlib import Path

from loadwatch_formats.metrics.sockets import SYSCTLS, sysctl_metric

from loadwatch_collectors.collector import Labels, Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.procfs import read_text

TEXTS = ("net.core.default_qdisc", "net.ipv4.tcp_congestion_control")
"""Settings whose value is a text."""


def parse_sysctl(setting: str, text: str) -> list[Sample]:
    """The samples of one setting of numbers; none of a text."""
    words = text.split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return []
    name = sysctl_metric(setting)
    if len(numbers) == 1:
        return [Sample(name, numbers[0])]
    return [Sample(name, number, _index(place)) for place, number in enumerate(numbers)]


def read_sysctls(proc: Path) -> Iterable[Sample]:
    """All that this host has; containers hide some of them."""
    for setting, _ in SYSCTLS:
        yield from parse_sysctl(setting, _read(proc, setting))
    for setting in TEXTS:
        value = _read(proc, setting).strip()
        if value:
            yield Sample("node_sysctl_info", 1.0, (("name", setting), ("value", value)))


def _read(proc: Path, setting: str) -> str:
    path = proc / "sys" / setting.replace(".", "/")
    if not path.exists():
        return ""
    try:
        return read_text(path)
    except CollectorError:
        return ""  # Some are for root alone.


def _index(place: int) -> Labels:
    return (("index", str(place)),)
