"""What a listening program seems to be: by its name, by what it says first, and by what it answers. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from loadwatch_formats.listeners import ListenerKind

from loadwatch_collectors.sources.dbstats_document import find_pools
from loadwatch_collectors.sources.nginx import STATUS

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
_REDIS_ANSWERS = (b"-ERR", b"-NOAUTH", b"-DENIED", b"$-1")
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
    """What a program's name says; None for a name that says nothing."""
    kind = _PROGRAMS.get(kernel_name)
    return None if kind is None else Seeming(kind=kind, told="program")


def needs_asking(kernel_name: str) -> bool:
    """Whether asking can tell more than the program's name."""
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
        return _other_protocol(answer)
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"HTTPS server" in body[:200]:  # Go's words for a request that came without TLS
        return Seeming(kind="tls", told="answer", path=path)
    kind = PATHS.get(path)
    if status[1] == b"200" and kind == "dbstats" and _has_pool(body):
        return Seeming(kind="dbstats", told="answer", path=path)
    if status[1] == b"200" and kind == "metrics" and b"text/html" not in head.lower() and _METRIC_LINE.search(body):
        return Seeming(kind="metrics", told="answer", path=path, gives=_gives(body))
    if status[1] == b"200" and kind == "nginx" and STATUS.match(body.decode("ascii", "replace")):
        return Seeming(kind="nginx", told="answer", path=path)
    return Seeming(kind="http", told="answer", path=path)


def _other_protocol(answer: bytes) -> Seeming | None:
    if answer.startswith(_REDIS_ANSWERS):
        return Seeming(kind="redis", told="answer")
    if answer.startswith(b"ERROR\r\n"):
        return Seeming(kind="memcached", told="answer")
    if answer.startswith((b"\x15\x03", b"\x16\x03")):  # an alert, or a handshake, of TLS
        return Seeming(kind="tls", told="answer")
    return None


def _has_pool(body: bytes) -> bool:
    try:
        return bool(find_pools(json.loads(body), "main"))
    except (ValueError, RecursionError):
        return False


def _gives(body: bytes) -> frozenset[str]:
    marks = {"process": b"\nprocess_open_fds", "dbstats": b"\ngo_sql_max_open_connections"}
    return frozenset(source for source, mark in marks.items() if mark in body)
