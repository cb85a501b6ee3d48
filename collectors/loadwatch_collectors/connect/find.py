"""All that listens on this host, a row for each program and port.

A port of the loopback interface is asked what it is by requests that only read, with bounds for time and bytes. No
credentials are ever sent, and nothing is sent to a program that speaks first. HTTP/1.0 without a Host line: Redis takes
one for an attack, and what is not HTTP at all sees one short line that it does not know.
"""

import ipaddress
import json
import pwd
import re
import socket
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from loadwatch_formats.listeners import ListenerKind

from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.dbstats import find_pools
from loadwatch_collectors.sources.nginx import STATUS
from loadwatch_collectors.sources.procfs import LISTEN, list_pids, parse_tcp, read_or_empty, read_text, socket_inodes
from loadwatch_collectors.sources.sockets import read_address

DBSTATS_PATH = "/debug/dbstats"
METRICS_PATH = "/metrics"
PATHS: Mapping[str, ListenerKind] = {
    DBSTATS_PATH: "dbstats",
    METRICS_PATH: "metrics",
    "/stub_status": "nginx",
    "/nginx_status": "nginx",
}
"""What is asked for, in this order."""

_PROGRAMS: Mapping[str, ListenerKind] = {
    "mysqld": "mysql",
    "mariadbd": "mysql",
    "postgres": "postgresql",
    "postmaster": "postgresql",
    "pgbouncer": "pgbouncer",
    "redis-server": "redis",
    "valkey-server": "redis",
    "memcached": "memcached",
    "sshd": "ssh",
}
SYSTEM_PROGRAMS = frozenset(
    {"systemd", "systemd-resolve", "init", "rpcbind", "cupsd", "dnsmasq", "named", "exim4", "master"}
)
"""They serve no application: there is nothing to find out by asking them, and nothing to watch."""
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
_OTHER_PROTOCOLS: Sequence[tuple[tuple[bytes, ...], ListenerKind]] = (
    ((b"-ERR", b"-NOAUTH", b"-DENIED", b"$-1"), "redis"),
    ((b"ERROR\r\n",), "memcached"),
    ((b"\x15\x03", b"\x16\x03"), "tls"),  # an alert, or a handshake
)
"""How servers of other protocols answer an HTTP request."""
_METRIC_LINE = re.compile(rb"^# TYPE [a-zA-Z_:\"]", re.MULTILINE)


class Seeming(NamedTuple):
    """What something seems to be.

    `told` is what says so: `program` (its name), `greeting` (what it says first), `answer` (what it said when it was
    asked for `path`). `gives` names metrics that its own page has and other sources would write a second time.
    """

    kind: ListenerKind
    told: Literal["program", "greeting", "answer"]
    path: str = ""
    gives: frozenset[str] = frozenset()


def by_program(kernel_name: str) -> Seeming | None:
    kind = _PROGRAMS.get(kernel_name)
    return None if kind is None else Seeming(kind=kind, told="program")


def needs_asking(kernel_name: str) -> bool:
    return kernel_name not in _PROGRAMS and kernel_name not in SYSTEM_PROGRAMS


def by_greeting(first: bytes) -> Seeming | None:
    """What those bytes say that came without a question; None where they say nothing."""
    # A MySQL packet: three bytes of length, number 0, then version 10 of the protocol and the server's own as text;
    # or an error such as "Too many connections".
    if len(first) > 5 and first[3] == 0 and first[4] in (0x0A, 0xFF):
        return Seeming(kind="mysql", told="greeting")
    return Seeming(kind="ssh", told="greeting") if first.startswith(b"SSH-") else None


def by_answer(path: str, answer: bytes) -> Seeming | None:
    """What the answer to `GET path` says; None where it is silent, or of a protocol that is not known."""
    status = _STATUS.match(answer)
    if status is None:
        seems = (Seeming(kind=kind, told="answer") for begins, kind in _OTHER_PROTOCOLS if answer.startswith(begins))
        return next(seems, None)
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"HTTPS server" in body[:200]:  # Go's words for a request that came without TLS
        return Seeming(kind="tls", told="answer", path=path)
    kind = PATHS.get(path) if status[1] == b"200" else None
    if kind == "metrics" and b"text/html" not in head.lower() and _METRIC_LINE.search(body):
        marks = {"process": b"\nprocess_open_fds", "dbstats": b"\ngo_sql_max_open_connections"}
        gives = frozenset(source for source, mark in marks.items() if mark in body)
        return Seeming(kind="metrics", told="answer", path=path, gives=gives)
    if (kind == "dbstats" and _has_pool(body)) or (kind == "nginx" and STATUS.match(body.decode("ascii", "replace"))):
        return Seeming(kind=kind, told="answer", path=path)
    return Seeming(kind="http", told="answer", path=path)


def _has_pool(body: bytes) -> bool:
    try:
        return bool(find_pools(json.loads(body), "main"))
    except (ValueError, RecursionError):
        return False


_LONGEST_SHOWN = 15
"""The kernel cuts the name of a program to so many bytes."""
_LONGEST_NAME = 60
_INTERPRETERS = ("python", "node", "ruby", "perl", "php", "bun", "deno")


class Program(NamedTuple):
    """A program as people know it, and as the kernel does; a script goes by its own name, not its interpreter's."""

    name: str
    kernel_name: str
    uid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Owners:
    """Processes by the inode of a socket that they hold, programs by process, and who may not be looked into."""

    by_inode: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    programs: dict[int, Program] = field(default_factory=dict[int, Program])
    hidden: frozenset[int] = frozenset()

    def alone_as(self, uid: int) -> list[int]:
        """The processes of a user who runs one program alone, all of them hidden; none for any other user.

        A service with a user of its own, such as a database, is known by that where its sockets cannot be seen.
        """
        pids = [pid for pid, program in self.programs.items() if program.uid == uid]
        names = {self.programs[pid].kernel_name for pid in pids}
        return pids if uid != 0 and len(names) == 1 and self.hidden.issuperset(pids) else []


def find_owners(proc: Path, inodes: Collection[int]) -> Owners:
    """Look through all processes once.

    Raises:
        CollectorError: there is no `/proc`.
    """
    wanted = set(inodes)
    by_inode: dict[int, list[int]] = defaultdict(list)
    programs: dict[int, Program] = {}
    hidden: set[int] = set()
    for pid in list_pids(proc):
        program = _read_program(proc / str(pid))
        if program is None:
            continue
        programs[pid] = program
        held = socket_inodes(proc / str(pid) / "fd")
        if held is None:
            hidden.add(pid)
        for inode in wanted & (held or set()):
            by_inode[inode].append(pid)
    return Owners(by_inode=dict(by_inode), programs=programs, hidden=frozenset(hidden))


def user_name(uid: int) -> str:
    """The name of a user of this host, or the number."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def name_program(kernel_name: str, arguments: Sequence[str]) -> str:
    """What people call a program, from the kernel's name for it and its command line.

    Of the arguments no more is shown than the name of a script: they may hold secrets.
    """
    first = arguments[0].rpartition("/")[2] if arguments else ""
    if first.startswith(_INTERPRETERS) and (script := _script_of(arguments[1:])):
        return script[:_LONGEST_NAME]
    whole = len(kernel_name) < _LONGEST_SHOWN or not first.startswith(kernel_name)
    return (kernel_name if whole else first)[:_LONGEST_NAME]


def _script_of(arguments: Sequence[str]) -> str:
    for at, argument in enumerate(arguments):
        if argument == "-m":
            return arguments[at + 1] if at + 1 < len(arguments) else ""
        if argument in ("-c", "-e"):
            return ""
        if not argument.startswith("-"):
            return argument.rpartition("/")[2]
    return ""


def _read_program(folder: Path) -> Program | None:
    """None for a process that has gone, and for a thread of the kernel, which has no command line."""
    try:
        kernel_name = read_text(folder / "comm").rstrip("\n")
        arguments = [part for part in read_text(folder / "cmdline").split("\0") if part]
        uid = folder.stat().st_uid
    except (CollectorError, OSError):
        return None
    if not arguments:
        return None
    return Program(name=name_program(kernel_name, arguments), kernel_name=kernel_name, uid=uid)


_V4_LOOPBACK = "127.0.0.1"
_V6_LOOPBACK = "::1"


class ListeningSocket(NamedTuple):
    address: str
    port: int
    uid: int
    inode: int


def parse_listening(table: str) -> list[ListeningSocket]:
    """The sockets that listen, of one table of the kernel; lines of another shape are passed over."""
    return [
        ListeningSocket(read_address(row.address), row.port, row.uid, row.inode)
        for row in parse_tcp(table, only=LISTEN)
    ]


def loopback_addresses(addresses: Sequence[str]) -> list[str]:
    """Where on the loopback interface such sockets answer, best first; none for those of other interfaces alone."""
    found: list[str] = []
    for text in addresses:
        address = ipaddress.ip_address(text)
        if address.is_loopback:
            found.append(text)
        elif address.is_unspecified:
            # A socket of `::` takes IPv4 as well, unless it was told not to: then the second answers.
            found += [_V4_LOOPBACK] if address.version == 4 else [_V4_LOOPBACK, _V6_LOOPBACK]
    return list(dict.fromkeys(found))


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
        with connection, suppress(OSError):
            greeting = _read(connection, _GREETING_SECONDS, enough=1)
            if greeting:
                return by_greeting(greeting)
            request = f"GET {path} HTTP/1.0\r\nUser-Agent: loadwatch-connect\r\nConnection: close\r\n\r\n"
            connection.sendall(request.encode())
            return by_answer(path, _read(connection, _ANSWER_SECONDS, enough=_MOST_BYTES))
        return None
    return None


def _read(connection: socket.socket, seconds: float, *, enough: int) -> bytes:
    """What comes until the other side ends, the time is over, or there are `enough` bytes."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    size = 0
    while size < enough and (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            part = connection.recv(_CHUNK)
        except (TimeoutError, ConnectionError):
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
    listeners: tuple[FoundListener, ...]
    more: int = 0


def find_listeners(own_pids: Sequence[int] = (), proc: Path = Path("/proc"), only_port: int | None = None) -> Found:
    """Look, and ask those that their name does not tell. `own_pids` are Loadwatch's own processes.

    Raises:
        CollectorError: there is no `/proc`.
    """
    # A kernel without IPv6 lacks the second table.
    sockets = [one for table in ("net/tcp", "net/tcp6") for one in parse_listening(read_or_empty(proc / table))]
    sockets = [one for one in sockets if only_port in (None, one.port)]
    listeners = join_owners(sockets, find_owners(proc, [one.inode for one in sockets]))
    shown = [_recognised_by_program(one, frozenset(own_pids)) for one in listeners[:MOST_LISTENERS]]
    asked = [one for one in shown if _is_asked(one)][:MOST_ASKED]
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        answered = dict(zip(asked, pool.map(_ask_one, asked), strict=True))
    return Found(tuple(answered.get(one, one) for one in shown), more=len(listeners) - len(shown))


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


def _ask_one(one: FoundListener) -> FoundListener:
    seems = ask(loopback_addresses(one.addresses), one.port, one.program.kernel_name if one.program else "")
    return replace(one, seems=tuple(seems), asked=True)


def _is_asked(one: FoundListener) -> bool:
    silent = one.program is not None and not needs_asking(one.program.kernel_name)
    return not one.seems and not silent and bool(loopback_addresses(one.addresses))
