"""TCP of the host: totals, counters of what overflowed, connections by state and port, accept queues, kernel limits.

Totals come from `/proc/net` at each tick. Connections by state and port need a walk over all sockets, so they are read
only as often as keeps them within `max_cpu_share` of a core; in between the last values stand and are not sent again.

Names and labels of kernel settings beyond the limits are those of node_exporter, collector/sysctl_linux.go:
`node_sysctl_<name>`, `index` for one of several numbers, and `node_sysctl_info{name,value}` for texts.
"""

import functools
import ipaddress
import struct
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.collector import KEPT, Collector, Labels, Sample, Source
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.procfs import (
    PAGE_SIZE,
    list_pids,
    missing_files,
    program_name,
    read_or_empty,
    read_text,
    socket_inodes,
)
from loadwatch_collectors.sources.sock_diag import (
    ALL_STATES,
    LISTEN,
    LISTEN_ONLY,
    STATES,
    Listener,
    SockDiag,
    TcpTable,
    parse_proc_tcp,
)

_ESTABLISHED = "01"
MOST_PEERS = 50
"""Rows that are told apart, those with the most connections; the others are added up."""
OTHER = "other"
UNKNOWN = "unknown"
"""The process of a socket that this user may not see."""


class Connection(NamedTuple):
    """One end of an established connection."""

    address: str
    port: int
    peer: str
    peer_port: int
    inode: int


def parse_connections(*tables: str) -> Iterator[Connection]:
    """The established ones of `/proc/net/tcp` and `tcp6`, each once."""
    told: set[tuple[str, str]] = set()
    for text in tables:
        for line in text.splitlines()[1:]:
            fields = line.split()
            ends = fields[1], fields[2]
            if len(fields) > 9 and fields[3] == _ESTABLISHED and ends not in told:
                # The kernel tells some twice while others come and go.
                told.add(ends)
                (address, port), (peer, peer_port) = (one.split(":") for one in ends)
                yield Connection(_address(address), int(port, 16), _address(peer), int(peer_port, 16), int(fields[9]))


@functools.lru_cache(maxsize=4096)
def _address(text: str) -> str:
    """Words of 32 bits as the host has them; IPv4 in IPv6 is IPv4."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    found = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def read_peers(
    proc: Path, tables: Collection[str], listening: Collection[int], wanted: Collection[int]
) -> list[Sample]:
    """`tcp_peer_connections`; of `wanted` ports only, where any are named.

    `side` and `port` are as in `tcp_connections`: `local` where this host listens on the port, else `remote`.
    """
    owners = {
        inode: program_name(proc / str(pid))
        for pid in list_pids(proc)
        for inode in socket_inodes(proc / str(pid) / "fd") or ()
    }
    counts: Counter[tuple[str, str, str, str, str]] = Counter()
    for one in parse_connections(*tables):
        side, port = ("local", one.port) if one.port in listening else ("remote", one.peer_port)
        if not wanted or port in wanted:
            counts[owners.get(one.inode, UNKNOWN), one.address, one.peer, str(port), side] += 1
    shown = counts.most_common(MOST_PEERS)
    rest: Counter[str] = Counter()
    for labels, count in counts.items() - dict(shown).items():
        rest[labels[-1]] += count
    rows = [*shown, *(((OTHER, "", OTHER, OTHER, side), count) for side, count in rest.items())]
    names = ("process", "address", "peer", "port", "side")
    return [
        Sample("tcp_peer_connections", float(count), tuple((k, v) for k, v in zip(names, labels, strict=True) if v))
        for labels, count in rows
    ]


SYSCTLS = (
    "kernel.pid_max",
    "kernel.threads-max",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_wmem",
    "net.netfilter.nf_conntrack_max",
    "vm.max_map_count",
    "vm.overcommit_memory",
    "vm.swappiness",
)
"""Settings whose value is a number or a row of numbers; a host has some of them only."""
TEXTS = ("net.core.default_qdisc", "net.ipv4.tcp_congestion_control")
"""Settings whose value is a text."""


def parse_sysctl(setting: str, text: str) -> list[Sample]:
    """The samples of one setting of numbers; none of a text."""
    words = text.split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return []
    name = "node_sysctl_" + setting.replace(".", "_").replace("-", "_")  # as node_exporter does
    if len(numbers) == 1:
        return [Sample(name, numbers[0])]
    return [Sample(name, number, (("index", str(place)),)) for place, number in enumerate(numbers)]


def read_sysctls(proc: Path) -> Iterable[Sample]:
    """All that this host has; containers hide some of them, and some are for root alone."""
    for setting in SYSCTLS:
        yield from parse_sysctl(setting, read_or_empty(_path(proc, setting)))
    for setting in TEXTS:
        value = read_or_empty(_path(proc, setting)).strip()
        if value:
            yield Sample("node_sysctl_info", 1.0, (("name", setting), ("value", value)))


def _path(proc: Path, setting: str) -> Path:
    return proc / "sys" / setting.replace(".", "/")


_COUNTERS = {
    "Tcp": frozenset(
        "ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts".split()
    ),
    "TcpExt": frozenset(
        "ListenOverflows ListenDrops SyncookiesSent SyncookiesRecv SyncookiesFailed TW TCPSynRetrans TCPTimeouts "
        "TCPTimeWaitOverflow TCPBacklogDrop TCPOFOQueue TCPRcvQDrop TCPReqQFullDrop TCPReqQFullDoCookies "
        "TCPAbortOnMemory TCPAbortOnTimeout TCPAbortOnData TCPAbortFailed".split()
    ),
    "Udp": frozenset("InDatagrams OutDatagrams NoPorts InErrors RcvbufErrors SndbufErrors".split()),
}
_KERNEL_LIMITS = {
    "kernel_tcp_max_tw_buckets": "net/ipv4/tcp_max_tw_buckets",
    "kernel_tcp_tw_reuse": "net/ipv4/tcp_tw_reuse",
    "kernel_tcp_fin_timeout_seconds": "net/ipv4/tcp_fin_timeout",
    "kernel_tcp_max_orphans": "net/ipv4/tcp_max_orphans",
    "kernel_tcp_max_syn_backlog": "net/ipv4/tcp_max_syn_backlog",
    "kernel_somaxconn": "net/core/somaxconn",
    "kernel_file_max": "fs/file-max",
    "kernel_nr_open": "fs/nr_open",
}
_PORT_RANGE = "net/ipv4/ip_local_port_range"
_SHOWN_STATES = ("established", "time_wait", "close_wait")


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketsSettings:
    """Which ports are shown, and what that may cost."""

    ports: tuple[int, ...] = option(
        help="Ports to show connections of, at this end and at the other. Without it: all that something listens on.",
        default=(),
    )
    max_discovered_ports: int = option(help="At most so many listening ports are shown, the lowest first.", default=50)
    max_cpu_share: float = option(help="Share of a core that connections by state and port may cost.", default=0.02)
    peers: bool = option(
        help="Tell connections by process and peer, which sends the addresses of whom this host is connected with.",
        default=True,
    )
    peers_every: Seconds = option(
        help="How often connections by process and peer are read, which costs `max_cpu_share` at most.", default=10.0
    )
    limits_every: Seconds = option(help="How often the kernel's limits are read.", default=10.0)
    proc: str = option(help="Where the host's /proc is mounted.", default="/proc")

    def __post_init__(self) -> None:
        for port in self.ports:
            if not 0 < port < 65_536:
                raise ValueError(f"ports: {port} is not between 1 and 65535")
        if not 0 < self.max_cpu_share <= 1:
            raise ValueError("max_cpu_share must be more than 0 and at most 1")


def parse_sockstat(text: str) -> list[Sample]:
    """`node_sockstat_<protocol>_<what>` from `/proc/net/sockstat` or `sockstat6`."""
    samples: list[Sample] = []
    for line in text.splitlines():
        protocol, _, rest = line.partition(":")
        words = rest.split()
        for what, value in zip(words[::2], words[1::2], strict=True):
            samples.append(Sample(f"node_sockstat_{protocol}_{what}", float(value)))
            if what == "mem":
                samples.append(Sample(f"node_sockstat_{protocol}_mem_bytes", float(value) * PAGE_SIZE))
    return samples


def parse_netstat(text: str) -> list[Sample]:
    """The counters that tell of load and overflow, from `/proc/net/netstat` or `snmp`: pairs of lines."""
    samples: list[Sample] = []
    lines = text.splitlines()
    for header, values in zip(lines[::2], lines[1::2], strict=True):
        protocol, _, names = header.partition(":")
        wanted = _COUNTERS.get(protocol)
        if wanted is None:
            continue
        for name, value in zip(names.split(), values.partition(":")[2].split(), strict=True):
            if name in wanted:
                samples.append(Sample(f"node_netstat_{protocol}_{name}", float(value)))
    return samples


def choose_ports(configured: Sequence[int], listeners: Iterable[Listener], most: int) -> tuple[int, ...]:
    """The configured ports, or the lowest of those that something listens on."""
    if configured:
        return tuple(configured)
    return tuple(sorted({listener.port for listener in listeners})[:most])


def fullest_listeners(listeners: Iterable[Listener]) -> dict[int, Listener]:
    """By port, the listener whose queue is the fullest; several sockets may share a port, each with its own queue."""
    rising = sorted(listeners, key=lambda one: (one.queue / (one.limit or 1), -(one.limit or 0)))
    return {listener.port: listener for listener in rising}


def make_state_samples(table: TcpTable) -> list[Sample]:
    """`node_tcp_connection_states` for every state, as node_exporter's tcpstat has it."""
    found = {name: table.states[number] for number, name in STATES.items()}
    found |= {"rx_queued_bytes": table.receive_queue_bytes, "tx_queued_bytes": table.send_queue_bytes}
    return [Sample("node_tcp_connection_states", float(count), (("state", name),)) for name, count in found.items()]


class SocketsCollector(Collector):
    """Reads one host's sockets."""

    def __init__(self, settings: SocketsSettings, cpu_clock: Callable[[], float] = time.thread_time) -> None:
        self._settings = settings
        self._proc = Path(settings.proc)
        self._cpu_clock = cpu_clock
        self._diag: SockDiag | None = None
        self._use_diag = settings.proc == "/proc"
        self._limits: list[Sample] = []
        self._limits_at = float("-inf")
        self._details: list[Sample] = []
        self._next_details = float("-inf")
        self._seen: set[tuple[int, str, int]] = set()
        self._ports: tuple[int, ...] = ()
        self._peers: list[Sample] = []
        self._next_peers = float("-inf")

    def collect(self) -> list[Sample]:
        """Read the totals, and what else is due."""
        samples = [
            *parse_sockstat(self._read_optional("net/sockstat")),
            *parse_sockstat(self._read_optional("net/sockstat6")),
            *parse_netstat(self._read_optional("net/netstat")),
            *parse_netstat(self._read_optional("net/snmp")),
            *self._read_limits(),
        ]
        now = time.monotonic()
        if now < self._next_details:
            queues = self._make_queue_samples(self._read_table(LISTEN_ONLY).listeners)
            return samples + queues + _keep(self._details) + _keep(self._peers)
        started = self._cpu_clock()
        table = self._read_table(ALL_STATES)
        self._ports = choose_ports(self._settings.ports, table.listeners, self._settings.max_discovered_ports)
        self._details = make_state_samples(table) + self._make_port_samples(table)
        # A little early, so that a cost right at the budget does not skip every other tick.
        self._next_details = now + 0.9 * (self._cpu_clock() - started) / self._settings.max_cpu_share
        return samples + self._make_queue_samples(table.listeners) + self._details + self._read_peers(table)

    def explain(self) -> list[str]:
        """What this host does not show."""
        return missing_files(self._proc, ("net/sockstat", "net/netstat", "net/snmp"))

    def close(self) -> None:
        """Close the netlink socket."""
        if self._diag is not None:
            self._diag.close()

    def _read_peers(self, table: TcpTable) -> list[Sample]:
        now = time.monotonic()
        if not self._settings.peers or now < self._next_peers:
            return _keep(self._peers)
        started = time.thread_time()
        listening = {listener.port for listener in table.listeners}
        tables = [self._read("net/tcp"), self._read_optional("net/tcp6")]
        self._peers = read_peers(self._proc, tables, listening, self._settings.ports)
        share = (time.thread_time() - started) / self._settings.max_cpu_share
        self._next_peers = now + max(share, 0.9 * self._settings.peers_every)
        return self._peers

    def _read(self, name: str) -> str:
        return read_text(self._proc / name)

    def _read_optional(self, name: str) -> str:
        path = self._proc / name
        return read_text(path) if path.exists() else ""

    def _read_table(self, states: int) -> TcpTable:
        if self._use_diag:
            try:
                if self._diag is None:
                    self._diag = SockDiag()
                return self._diag.read(states)
            except CollectorError:
                # Kernels without the inet_diag module, and sandboxes; /proc has the same at three times the cost.
                self._use_diag = False
        return parse_proc_tcp(self._read("net/tcp"), self._read_optional("net/tcp6"))

    def _read_limits(self) -> list[Sample]:
        now = time.monotonic()
        if now - self._limits_at < self._settings.limits_every:
            return _keep(self._limits)
        self._limits_at = now
        limits: list[Sample] = []
        for name, file in _KERNEL_LIMITS.items():
            text = self._read_optional(f"sys/{file}")
            if text:  # Containers hide some of them.
                limits.append(Sample(name, float(text)))
        ports = self._read_optional(f"sys/{_PORT_RANGE}")
        if ports:
            first, last = map(int, ports.split())
            limits.append(Sample("kernel_ephemeral_ports", float(last - first + 1)))
        limits += read_sysctls(self._proc)
        self._limits = limits
        return limits

    def _make_queue_samples(self, listeners: Iterable[Listener]) -> list[Sample]:
        samples: list[Sample] = []
        fullest = fullest_listeners(listeners)
        for port in self._ports:
            listener = fullest.get(port)
            if listener is None:
                continue
            labels: Labels = (("port", str(port)),)
            samples.append(Sample("tcp_accept_queue", float(listener.queue), labels))
            if listener.limit is not None:
                samples.append(Sample("tcp_accept_queue_limit", float(listener.limit), labels))
        return samples

    def _make_port_samples(self, table: TcpTable) -> list[Sample]:
        """Once a state was seen at a port it stays in view with 0, so a chart falls to 0 and does not break off."""
        shown = set(self._ports)
        for side, counts in (("local", table.local), ("remote", table.remote)):
            self._seen.update((port, side, state) for state, port in counts if port in shown)
        self._seen.update((port, "local", state) for port in shown for state in _ALWAYS_SHOWN)
        self._seen = {entry for entry in self._seen if entry[0] in shown}
        return [
            Sample(
                "tcp_connections",
                float((table.local if side == "local" else table.remote)[state, port]),
                (("port", str(port)), ("side", side), ("state", STATES.get(state, str(state)))),
            )
            for port, side, state in sorted(self._seen)
            if state != LISTEN
        ]


_ALWAYS_SHOWN = tuple(number for number, name in STATES.items() if name in _SHOWN_STATES)


def _keep(samples: Iterable[Sample]) -> list[Sample]:
    return [sample._replace(timestamp_ms=KEPT) for sample in samples]


SOCKETS = Source(
    name="sockets",
    help="TCP connections by state and port, accept queues, overflow counters and the kernel's limits.",
    settings=SocketsSettings,
    build=SocketsCollector,
    packs=("sockets",),
)
