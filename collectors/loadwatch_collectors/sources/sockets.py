"""TCP of the host: totals, counters of what overflowed, connections by state and port, accept queues, kernel limits.

Totals come from `/proc/net` at each tick. Connections by state and port need a walk over all sockets, so they are read
only as often as keeps them within `max_cpu_share` of a core; in between the last values stand and are not sent again.

Names and labels of kernel settings beyond the limits are those of node_exporter, collector/sysctl_linux.go:
`node_sysctl_<name>`, `index` for one of several numbers, and `node_sysctl_info{name,value}` for texts.
"""

import functools
import ipaddress
import os
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from loadwatch_collectors.collector import Collector, Labels, Periodic, Sample, Source, kept
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.procfs import (
    LISTEN,
    PAGE_SIZE,
    list_pids,
    missing_files,
    parse_tcp,
    program_name,
    read_or_empty,
    read_text,
    socket_inodes,
)

# Counts the kernel's TCP sockets by state and port through inet_diag (sock_diag(7)), and from `/proc/net/tcp`.
#
# `ss` prints a line for each socket and node_exporter makes an object of each. Here a buffer of equally long messages
# is sliced by its stride, so counting is done by the interpreter's C code: 11,000 sockets cost 11 ms in the kernel and
# 3 ms here, against 90 ms of CPU for `ss` and 30 ms for `/proc/net/tcp` on the same machine.

ESTABLISHED = 1
TIME_WAIT = 6
STATES = {
    ESTABLISHED: "established",
    2: "syn_sent",
    3: "syn_recv",
    4: "fin_wait1",
    5: "fin_wait2",
    TIME_WAIT: "time_wait",
    7: "close",
    8: "close_wait",
    9: "last_ack",
    LISTEN: "listen",
    11: "closing",
}
"""Numbers of include/net/tcp_states.h. A TIME-WAIT bucket that is an orphaned FIN-WAIT-2 is told by its substate."""

ALL_STATES = sum(1 << state for state in STATES)
LISTEN_ONLY = 1 << LISTEN

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLMSG_ERROR = 2
_NLMSG_DONE = 3
_DUMP_REQUEST = 0x301
_REQUEST = Struct("=IHHIIBBBBI48x")
_INT = Struct("=i")
_QUEUES = Struct("=II")
_RECEIVE_BYTES = 65_536
_TIMEOUT_SECONDS = 3.0

# Offsets in a message: 16 bytes of nlmsghdr, then struct inet_diag_msg.
_TYPE = 4
_STATE = 17
_SOURCE_PORT = 20
_TARGET_PORT = 22
_RECEIVE_QUEUE = 72
_SEND_QUEUE = 76


class Listener(NamedTuple):
    """A listening socket: connections that wait to be accepted, and how many may (None where it is not told)."""

    port: int
    queue: int
    limit: int | None


@dataclass(slots=True)
class TcpTable:
    """Numbers of sockets. `local` and `remote` have (state, port) of either end, without listeners."""

    states: Counter[int] = field(default_factory=lambda: Counter[int]())
    local: Counter[tuple[int, int]] = field(default_factory=lambda: Counter[tuple[int, int]]())
    remote: Counter[tuple[int, int]] = field(default_factory=lambda: Counter[tuple[int, int]]())
    listeners: list[Listener] = field(default_factory=lambda: [])
    receive_queue_bytes: int = 0
    send_queue_bytes: int = 0


class SockDiag:
    def __init__(self) -> None:
        try:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG)
        except OSError as error:
            raise CollectorError(f"the kernel's socket diagnosis cannot be opened: {error.strerror}") from error
        self._socket.settimeout(_TIMEOUT_SECONDS)
        self._sequence = 0

    def read(self, states: int) -> TcpTable:
        """Count IPv4 and IPv6 sockets in the given states.

        Raises:
            CollectorError: the kernel refuses.
        """
        raw = _RawCounts()
        try:
            for family in (socket.AF_INET, socket.AF_INET6):
                self._sequence += 1
                head = (_REQUEST.size, _SOCK_DIAG_BY_FAMILY, _DUMP_REQUEST, self._sequence, 0)
                self._socket.send(_REQUEST.pack(*head, family, socket.IPPROTO_TCP, 0, 0, states))
                while not raw.add(self._socket.recv(_RECEIVE_BYTES)):
                    pass
        except OSError as error:
            raise CollectorError(f"the kernel's socket diagnosis failed: {error}") from error
        return raw.table()

    def close(self) -> None:
        self._socket.close()


class _RawCounts:
    """Adds up messages with the port still in its two bytes, which is what slicing gives."""

    def __init__(self) -> None:
        self._local: Counter[tuple[int, int, int]] = Counter()
        self._remote: Counter[tuple[int, int, int]] = Counter()
        self._listeners: list[Listener] = []
        self._receive = 0
        self._send = 0

    def add(self, buffer: bytes) -> bool:
        """Count one buffer of messages; True when it ends the dump."""
        position = 0
        while position + 16 <= len(buffer):
            size = int.from_bytes(buffer[position : position + 4], "little" if _LITTLE else "big")
            kind = int.from_bytes(buffer[position + _TYPE : position + _TYPE + 2], "little" if _LITTLE else "big")
            if kind == _NLMSG_DONE:
                return True
            if kind == _NLMSG_ERROR:
                number = -_INT.unpack_from(buffer, position + 16)[0]
                raise OSError(number, os.strerror(number))
            if size < 88:
                raise CollectorError(f"the kernel sent a socket message of {size} bytes")
            end = position + size * _run_length(buffer, position, size)
            self._add_run(buffer, position, end, size)
            position = end
        return False

    def _add_run(self, buffer: bytes, start: int, end: int, size: int) -> None:
        states = buffer[start + _STATE : end : size]
        if LISTEN in states:
            # Listeners come first in a dump; one by one up to the last of them.
            for state in states[: states.rindex(LISTEN) + 1]:
                if state == LISTEN:
                    port = int.from_bytes(buffer[start + _SOURCE_PORT : start + _SOURCE_PORT + 2], "big")
                    queue, limit = _QUEUES.unpack_from(buffer, start + _RECEIVE_QUEUE)
                    self._listeners.append(Listener(port, queue, limit))
                else:
                    self._add_run(buffer, start, start + size, size)
                start += size
            states = buffer[start + _STATE : end : size]
        for counts, offset in ((self._local, _SOURCE_PORT), (self._remote, _TARGET_PORT)):
            counts.update(
                zip(states, buffer[start + offset : end : size], buffer[start + offset + 1 : end : size], strict=True)
            )
        self._receive += _sum_u32(buffer, start + _RECEIVE_QUEUE, end, size)
        self._send += _sum_u32(buffer, start + _SEND_QUEUE, end, size)

    def table(self) -> TcpTable:
        table = TcpTable(listeners=self._listeners, receive_queue_bytes=self._receive, send_queue_bytes=self._send)
        for (state, high, low), count in self._local.items():
            table.states[state] += count
            table.local[state, high << 8 | low] = count
        for (state, high, low), count in self._remote.items():
            table.remote[state, high << 8 | low] = count
        table.states[LISTEN] = len(self._listeners)
        return table


def parse_messages(buffers: Iterable[bytes]) -> TcpTable:
    """The table in buffers of inet_diag messages as the kernel sends them."""
    raw = _RawCounts()
    for buffer in buffers:
        if raw.add(buffer):
            break
    return raw.table()


def parse_proc_tcp(*tables: str) -> TcpTable:
    """The same from `/proc/net/tcp` and `tcp6`; the limit of an accept queue is not in them."""
    table = TcpTable()
    for row in parse_tcp(*tables):
        table.states[row.state] += 1
        if row.state == LISTEN:
            table.listeners.append(Listener(row.port, row.receive_queue, None))
            continue
        table.local[row.state, row.port] += 1
        table.remote[row.state, row.peer_port] += 1
        table.send_queue_bytes += row.send_queue
        table.receive_queue_bytes += row.receive_queue
    return table


_LITTLE = _INT.pack(1)[0] == 1


def _run_length(buffer: bytes, start: int, size: int) -> int:
    first = 0 if _LITTLE else 3
    run = (len(buffer) - start) // size
    # Both bytes that can differ in a length below 64 KB, and the kind, each compared over the whole stride at once.
    for offset in (first, 1 if _LITTLE else 2, _TYPE if _LITTLE else _TYPE + 1):
        column = buffer[start + offset : start + run * size : size]
        run = len(column) - len(column.lstrip(column[:1]))
    return max(run, 1)


def _sum_u32(buffer: bytes, start: int, end: int, size: int) -> int:
    """Sum of a native u32 at the same place of each message."""
    shifts = (0, 8, 16, 24) if _LITTLE else (24, 16, 8, 0)
    return sum(sum(buffer[start + index : end : size]) << shift for index, shift in enumerate(shifts))


MOST_PEERS = 50
"""Rows that are told apart, those with the most connections; the others are added up."""
OTHER = "other"
UNKNOWN = "unknown"
"""The process of a socket that this user may not see."""


@functools.lru_cache(maxsize=4096)
def read_address(text: str) -> str:
    """An address as the kernel prints it: words of 32 bits as the host has them; IPv4 in IPv6 is IPv4.

    Raises:
        ValueError: it is none.
    """
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
    for one in parse_tcp(*tables, only=ESTABLISHED):
        side, port = ("local", one.port) if one.port in listening else ("remote", one.peer_port)
        if not wanted or port in wanted:
            ends = read_address(one.address), read_address(one.peer)
            counts[owners.get(one.inode, UNKNOWN), *ends, str(port), side] += 1
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


SYSCTLS = tuple(
    "kernel.pid_max kernel.threads-max net.core.netdev_max_backlog net.core.rmem_max net.core.wmem_max"
    " net.ipv4.ip_local_port_range net.ipv4.tcp_keepalive_time net.ipv4.tcp_rmem net.ipv4.tcp_slow_start_after_idle"
    " net.ipv4.tcp_syn_retries net.ipv4.tcp_syncookies net.ipv4.tcp_wmem net.netfilter.nf_conntrack_max"
    " vm.max_map_count vm.overcommit_memory vm.swappiness".split()
)
"""Settings whose value is a number or a row of numbers; a host has some of them only."""
TEXTS = ("net.core.default_qdisc", "net.ipv4.tcp_congestion_control")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketsSettings:
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


class SocketsCollector(Collector):
    def __init__(self, settings: SocketsSettings, cpu_clock: Callable[[], float] = time.thread_time) -> None:
        self._settings = settings
        self._proc = Path(settings.proc)
        self._cpu_clock = cpu_clock
        self._diag: SockDiag | None = None
        self._use_diag = settings.proc == "/proc"
        self._limits = Periodic(self._read_limits, settings.limits_every)
        self._details: list[Sample] = []
        self._next_details = float("-inf")
        self._seen: set[tuple[int, str, int]] = set()
        self._ports: tuple[int, ...] = ()
        self._peers: list[Sample] = []
        self._next_peers = float("-inf")

    def collect(self) -> list[Sample]:
        now = time.monotonic()
        samples = [
            *parse_sockstat(self._read_optional("net/sockstat")),
            *parse_sockstat(self._read_optional("net/sockstat6")),
            *parse_netstat(self._read_optional("net/netstat")),
            *parse_netstat(self._read_optional("net/snmp")),
            *self._limits.read(now),
        ]
        if now < self._next_details:
            queues = self._make_queue_samples(self._read_table(LISTEN_ONLY).listeners)
            return samples + queues + kept(self._details) + kept(self._peers)
        started = self._cpu_clock()
        table = self._read_table(ALL_STATES)
        self._ports = choose_ports(self._settings.ports, table.listeners, self._settings.max_discovered_ports)
        found = {name: table.states[number] for number, name in STATES.items()}
        found |= {"rx_queued_bytes": table.receive_queue_bytes, "tx_queued_bytes": table.send_queue_bytes}
        # For every state, as node_exporter's tcpstat has it.
        self._details = [
            Sample("node_tcp_connection_states", float(count), (("state", name),)) for name, count in found.items()
        ] + self._make_port_samples(table)
        # A little early, so that a cost right at the budget does not skip every other tick.
        self._next_details = now + 0.9 * (self._cpu_clock() - started) / self._settings.max_cpu_share
        return samples + self._make_queue_samples(table.listeners) + self._details + self._read_peers(table)

    def explain(self) -> list[str]:
        return missing_files(self._proc, ("net/sockstat", "net/netstat", "net/snmp"))

    def close(self) -> None:
        if self._diag is not None:
            self._diag.close()

    def _read_peers(self, table: TcpTable) -> list[Sample]:
        now = time.monotonic()
        if not self._settings.peers or now < self._next_peers:
            return kept(self._peers)
        started = time.thread_time()
        listening = {listener.port for listener in table.listeners}
        tables = [read_text(self._proc / "net/tcp"), self._read_optional("net/tcp6")]
        self._peers = read_peers(self._proc, tables, listening, self._settings.ports)
        share = (time.thread_time() - started) / self._settings.max_cpu_share
        self._next_peers = now + max(share, 0.9 * self._settings.peers_every)
        return self._peers

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
        return parse_proc_tcp(read_text(self._proc / "net/tcp"), self._read_optional("net/tcp6"))

    def _read_limits(self) -> list[Sample]:
        limits: list[Sample] = []
        for name, file in _KERNEL_LIMITS.items():
            text = self._read_optional(f"sys/{file}")
            if text:  # Containers hide some of them.
                limits.append(Sample(name, float(text)))
        ports = self._read_optional("sys/net/ipv4/ip_local_port_range")
        if ports:
            first, last = map(int, ports.split())
            limits.append(Sample("kernel_ephemeral_ports", float(last - first + 1)))
        return [*limits, *read_sysctls(self._proc)]

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


_ALWAYS_SHOWN = [number for number, name in STATES.items() if name in ("established", "time_wait", "close_wait")]


SOCKETS = Source(
    name="sockets",
    help="TCP connections by state and port, accept queues, overflow counters and the kernel's limits.",
    settings=SocketsSettings,
    build=SocketsCollector,
    packs=("sockets",),
)
