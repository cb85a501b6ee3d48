"""Reads files of /proc and /sys; the root can be another folder, for tests and for containers that mount the host's."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.errors import CollectorError, PrivilegeError

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
LISTEN = 10
"""The state of sockets that listen, of include/net/tcp_states.h."""
_CHUNK = 65_536


def read_bytes(path: Path | str) -> bytes:
    """The whole of a small file.

    Raises:
        PrivilegeError: this user may not read it.
        CollectorError: it cannot be read for another reason.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            parts = [os.read(fd, _CHUNK)]
            # Files of /proc say 0 for their size and give a page or less at a time, so only an empty read is the end.
            while parts[-1]:
                parts.append(os.read(fd, _CHUNK))
        finally:
            os.close(fd)
    except PermissionError as error:
        raise PrivilegeError(f"{path} cannot be read as this user: {error.strerror}") from error
    except OSError as error:
        raise CollectorError(f"{path} cannot be read: {error.strerror or error}") from error
    return parts[0] if len(parts) == 2 else b"".join(parts)


def read_text(path: Path | str) -> str:
    """`read_bytes` as text; bytes that are not UTF-8 are kept as escapes.

    Raises:
        CollectorError: it cannot be read.
    """
    return read_bytes(path).decode("utf-8", "backslashreplace")


def missing_files(proc: Path, names: Sequence[str]) -> list[str]:
    """A line that says which files are not there, as in OpenVZ, gVisor and other sandboxes; none if all are."""
    missing = [str(proc / name) for name in names if not (proc / name).exists()]
    return [f"left out, since this host does not show it: {', '.join(missing)}"] if missing else []


def read_or_empty(path: Path) -> str:
    try:
        return read_text(path)
    except CollectorError:
        return ""


def parse_boot_time(stat: str) -> float:
    """Seconds since the epoch at which the kernel booted, from `/proc/stat`.

    Raises:
        CollectorError: there is no `btime` line.
    """
    match = re.search(r"^btime (\d+)$", stat, re.MULTILINE)
    if match is None:
        raise CollectorError("/proc/stat has no btime line")
    return float(match[1])


def list_pids(proc: Path) -> list[int]:
    """All processes that can be seen, in rising order."""
    try:
        return sorted(int(name) for name in os.listdir(proc) if name.isdecimal())
    except OSError as error:
        raise CollectorError(f"{proc} cannot be listed: {error.strerror}") from error


class TcpRow(NamedTuple):
    """Row of `/proc/net/tcp` or `tcp6`: addresses in kernel hex; queues in bytes or connections."""

    address: str
    port: int
    peer: str
    peer_port: int
    state: int
    send_queue: int
    receive_queue: int
    uid: int
    inode: int


def parse_tcp(*tables: str, only: int | None = None) -> Iterator[TcpRow]:
    """Each socket of the tables once, in one state where one is asked for; lines of another shape are passed over.

    The kernel gives the file a page at a time and finds its place again by counting, so what opens and closes in
    between makes it tell connections twice: under churn a read was seen to have each of them four times.
    """
    told: set[tuple[str, str]] = set()
    for text in tables:
        for line in text.splitlines()[1:]:
            fields = line.split()
            if len(fields) < 10 or ((state := int(fields[3], 16)) != only and only is not None):
                continue
            ends = fields[1], fields[2]
            if state != LISTEN and ends in told:
                continue
            told.add(ends)
            (address, port), (peer, peer_port), queues = (field.split(":") for field in (*ends, fields[4]))
            ports = int(port, 16), int(peer_port, 16)
            send, receive = (int(queue, 16) for queue in queues)
            yield TcpRow(address, ports[0], peer, ports[1], state, send, receive, int(fields[7]), int(fields[9]))


def command_line(folder: Path) -> str:
    return read_or_empty(folder / "cmdline").replace("\0", " ").strip()


def program_name(folder: Path) -> str:
    """The name that the kernel shows of a process, 15 bytes at most."""
    return read_or_empty(folder / "comm").rstrip("\n")


def socket_inodes(folder: Path) -> set[int] | None:
    """Inodes of the sockets that a process holds; None when it may not be asked."""
    try:
        names = os.listdir(folder)
    except PermissionError:
        return None
    except OSError:
        return set()
    found: set[int] = set()
    for name in names:
        try:
            target = os.readlink(folder / name)
        except OSError:
            continue
        if target.startswith("socket:["):
            found.add(int(target[8:-1]))
    return found
