"""Which program of this host is connected with whom: established TCP connections by process, peer and port.

From `/proc/net/tcp` and the sockets that processes hold (`/proc/<pid>/fd`), which takes a walk over all of them.
"""

import functools
import ipaddress
import struct
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.procfs import list_pids, program_name, socket_inodes

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
    owners = {inode: program_name(proc / str(pid)) for pid in list_pids(proc) for inode in _inodes(proc, pid)}
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


def _inodes(proc: Path, pid: int) -> Collection[int]:
    return socket_inodes(proc / str(pid) / "fd") or ()
