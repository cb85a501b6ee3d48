"""All that listens on this host, a row for each program and port.

A port of the loopback interface is asked what it is by requests that only read, with bounds for time and bytes. No
credentials are ever sent, and nothing is sent to a program that speaks first. HTTP/1.0 without a Host line: Redis takes
one for an attack, and what is not HTTP at all sees one short line that it does not know.
"""

import socket
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.connect.listening import ListeningSocket, loopback_addresses, parse_listening
from loadwatch_collectors.connect.owners import Owners, Program, find_owners
from loadwatch_collectors.connect.seems import PATHS, Seeming, by_answer, by_greeting, by_program, needs_asking
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.procfs import read_text

_CONNECT_SECONDS = 0.5
_GREETING_SECONDS = 0.2
_ANSWER_SECONDS = 1.5
_MOST_BYTES = 1_000_000
_CHUNK = 65_536


def ask(addresses: Sequence[str], port: int, program: str = "") -> list[Seeming]:
    """What answers at the port, at the first of the addresses that takes the connection; empty when nothing is known.

    A page for each source comes alone; `http` only where there is none. Pages of metrics that nginx passes on are those
    of the application behind it.
    """
    found: list[Seeming] = []
    for path, kind in PATHS.items():
        if program == "nginx" and kind != "nginx":
            continue
        if kind == "nginx" and any(seen.kind != "http" for seen in found):
            break
        seen = _ask_once(addresses, port, path)
        if seen is None:
            break
        found.append(seen)
        if seen.kind in ("mysql", "redis", "memcached", "ssh", "tls"):
            return [seen]
    pages = [seen for seen in found if seen.kind != "http"]
    return pages or found[:1]


def _ask_once(addresses: Sequence[str], port: int, path: str) -> Seeming | None:
    for address in addresses:
        try:
            connection = socket.create_connection((address, port), timeout=_CONNECT_SECONDS)
        except OSError:
            continue
        with connection:
            try:
                return _converse(connection, path)
            except OSError:
                return None
    return None


def _converse(connection: socket.socket, path: str) -> Seeming | None:
    greeting = _read(connection, _GREETING_SECONDS, enough=1)
    if greeting:
        return by_greeting(greeting)
    connection.sendall(f"GET {path} HTTP/1.0\r\nUser-Agent: loadwatch-connect\r\nConnection: close\r\n\r\n".encode())
    return by_answer(path, _read(connection, _ANSWER_SECONDS, enough=_MOST_BYTES))


def _read(connection: socket.socket, seconds: float, *, enough: int) -> bytes:
    """What comes until the other side ends, the time is over, or there are `enough` bytes."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    size = 0
    while size < enough and (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            part = connection.recv(_CHUNK)
        except TimeoutError:
            break
        except ConnectionError:
            break
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


MOST_LISTENERS = 200
MOST_ASKED = 60
_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundListener:
    """A program, or nobody knows which, that listens on a port.

    `owner_seen` is False where the program is known only as the one that its user runs. `asked` tells whether the
    port was asked what it is.
    """

    port: int
    addresses: tuple[str, ...]
    uid: int
    program: Program | None = None
    pids: tuple[int, ...] = ()
    owner_seen: bool = False
    seems: tuple[Seeming, ...] = ()
    asked: bool = False


class Found(NamedTuple):
    """The listeners by port, and how many more there are than are told."""

    listeners: tuple[FoundListener, ...]
    more: int = 0


def find_listeners(own_pids: Sequence[int] = (), proc: Path = Path("/proc"), only_port: int | None = None) -> Found:
    """Look, and ask those that their name does not tell. `own_pids` are Loadwatch's own processes.

    Raises:
        CollectorError: there is no `/proc`.
    """
    sockets = [one for table in ("net/tcp", "net/tcp6") for one in parse_listening(_read_table(proc / table))]
    sockets = [one for one in sockets if only_port in (None, one.port)]
    listeners = join_owners(sockets, find_owners(proc, [one.inode for one in sockets]))
    shown = [_recognised_by_program(one, frozenset(own_pids)) for one in listeners[:MOST_LISTENERS]]
    return Found(listeners=tuple(_ask_all(shown)), more=len(listeners) - len(shown))


def join_owners(sockets: Sequence[ListeningSocket], owners: Owners) -> list[FoundListener]:
    """A row for each port and program, by port; sockets of one program at several addresses are one."""
    rows: dict[tuple[int, str | None, int], FoundListener] = {}
    addresses: dict[tuple[int, str | None, int], set[str]] = defaultdict(set)
    for one in sockets:
        pids = owners.by_inode.get(one.inode, [])
        seen = bool(pids)
        pids = pids or owners.alone_as(one.uid)
        program = owners.programs[pids[0]] if pids else None
        key = one.port, program.name if program else None, one.uid
        addresses[key].add(one.address)
        known = rows.get(key)
        rows[key] = FoundListener(
            port=one.port,
            addresses=tuple(sorted(addresses[key])),
            uid=one.uid,
            program=program,
            pids=tuple(sorted({*pids, *(known.pids if known else ())})),
            owner_seen=seen,
        )
    return [rows[key] for key in sorted(rows, key=lambda key: (key[0], key[1] or "", key[2]))]


def _recognised_by_program(one: FoundListener, own_pids: frozenset[int]) -> FoundListener:
    if own_pids.intersection(one.pids):
        return replace(one, seems=(Seeming(kind="loadwatch", told="program"),))
    seeming = by_program(one.program.kernel_name) if one.program else None
    return one if seeming is None else replace(one, seems=(seeming,))


def _ask_all(listeners: Sequence[FoundListener]) -> list[FoundListener]:
    asked = [one for one in listeners if _is_asked(one)][:MOST_ASKED]
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        answered = dict(zip(asked, pool.map(_ask_one, asked), strict=True))
    return [answered.get(one, one) for one in listeners]


def _ask_one(one: FoundListener) -> FoundListener:
    return replace(
        one,
        seems=tuple(ask(loopback_addresses(one.addresses), one.port, one.program.kernel_name if one.program else "")),
        asked=True,
    )


def _is_asked(one: FoundListener) -> bool:
    silent = one.program is not None and not needs_asking(one.program.kernel_name)
    return not one.seems and not silent and bool(loopback_addresses(one.addresses))


def _read_table(path: Path) -> str:
    try:
        return read_text(path)
    except CollectorError:
        return ""  # a kernel without IPv6
