"""Kernel settings beyond the limits that `sockets` names itself, as node_exporter's sysctl collector shows them.

Source of names and labels: node_exporter, collector/sysctl_linux.go: `node_sysctl_<name>`, `index` for one of several
numbers, and `node_sysctl_info{name,value}` for texts.
"""

from collections.abc import Iterable
from pathlib import Path

from loadwatch_collectors.collector import Labels, MetricInfo, Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.procfs import read_text

NUMBERS: tuple[tuple[str, str], ...] = (
    ("kernel.pid_max", "Process ids that the kernel gives out."),
    ("kernel.threads-max", "Threads that the host allows."),
    ("net.core.netdev_max_backlog", "Packets that wait for the CPU per device queue."),
    ("net.core.rmem_max", "Largest receive buffer that a program can ask for, in bytes."),
    ("net.core.wmem_max", "Largest send buffer that a program can ask for, in bytes."),
    ("net.ipv4.ip_local_port_range", "First and last local port for outgoing connections."),
    ("net.ipv4.tcp_keepalive_time", "Seconds before the first keep-alive probe."),
    ("net.ipv4.tcp_rmem", "Least, default and largest TCP receive buffer, in bytes."),
    ("net.ipv4.tcp_slow_start_after_idle", "Whether an idle connection starts slowly again."),
    ("net.ipv4.tcp_syn_retries", "How often a connection request is sent again."),
    ("net.ipv4.tcp_syncookies", "Whether SYN cookies answer when the backlog is full."),
    ("net.ipv4.tcp_wmem", "Least, default and largest TCP send buffer, in bytes."),
    ("net.netfilter.nf_conntrack_max", "Connections that the firewall tracks."),
    ("vm.max_map_count", "Memory areas of one process."),
    ("vm.overcommit_memory", "How memory is promised beyond what there is (0, 1, 2)."),
    ("vm.swappiness", "How readily memory is swapped out."),
)
"""Settings whose value is a number or a row of numbers; a host has some of them only."""

TEXTS = ("net.core.default_qdisc", "net.ipv4.tcp_congestion_control")
"""Settings whose value is a text."""


def metric_name(setting: str) -> str:
    """`node_sysctl_net_ipv4_tcp_rmem`."""
    return "node_sysctl_" + setting.replace(".", "_").replace("-", "_")


def parse_sysctl(setting: str, text: str) -> list[Sample]:
    """The samples of one setting of numbers; none of a text."""
    words = text.split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return []
    name = metric_name(setting)
    if len(numbers) == 1:
        return [Sample(name, numbers[0])]
    return [Sample(name, number, _index(place)) for place, number in enumerate(numbers)]


def read_sysctls(proc: Path) -> Iterable[Sample]:
    """All that this host has; containers hide some of them."""
    for setting, _ in NUMBERS:
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


METRICS = (
    *(MetricInfo(name=metric_name(setting), type="gauge", help=text) for setting, text in NUMBERS),
    MetricInfo(name="node_sysctl_info", type="gauge", help="Value of a kernel setting that is a text, as a label."),
)
