"""Finds processes: by name, command line, pid, pid file, systemd unit, or listening port."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadwatch_collectors.collector import address_of
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.settings import Seconds, check_pattern, option
from loadwatch_collectors.sources.procfs import (
    LISTEN,
    command_line,
    list_pids,
    parse_tcp,
    program_name,
    read_or_empty,
    read_text,
    socket_inodes,
)

_SEARCHES = ("name", "command", "pid", "pid_file", "systemd_unit", "port")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSettings:
    name: str | None = option(
        help="Name of the program: the file's name, or the name that the kernel shows. Several that do not descend "
        "from each other are ambiguous: each is measured on its own, and the target says so.",
        default=None,
    )
    command: str | None = option(help="Regular expression that is searched in the command line.", default=None)
    pid: int | None = option(help="Number of the process.", default=None)
    pid_file: str | None = option(help="File that holds the number of the process.", default=None)
    systemd_unit: str | None = option(help="systemd unit, such as mariadb.service; all its processes.", default=None)
    port: int | None = option(help="TCP port on which the process listens; with what it has forked.", default=None)
    rescan: Seconds = option(help="How often further processes are looked for.", default=10.0)
    proc: str = option(help="Where the host's /proc is mounted.", default="/proc")
    sys: str = option(help="Where the host's /sys is mounted.", default="/sys")

    def __post_init__(self) -> None:
        given = [name for name in _SEARCHES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(_SEARCHES)}; given: {', '.join(given) or 'none'}")
        if self.command is not None:
            check_pattern("command", self.command)
        if self.port is not None and not 0 < self.port < 65_536:
            raise ValueError(f"port must be between 1 and 65535, not {self.port}")

    @property
    def address(self) -> str:
        return address_of("localhost", self.port) if self.port else ""

    def describe(self) -> str:
        name = next(name for name in _SEARCHES if getattr(self, name) is not None)
        return f"{name.replace('_', ' ')} {getattr(self, name)!r}"


def find_pids(settings: ProcessSettings) -> list[int]:
    """The processes that the settings name, in rising order; an empty list when there are none.

    Raises:
        CollectorError: the pid file cannot be read.
        PrivilegeError: the owner of a listening port cannot be seen as this user.
    """
    proc = Path(settings.proc)
    if settings.pid is not None:
        return [settings.pid] if (proc / str(settings.pid)).exists() else []
    if settings.pid_file is not None:
        return _find_by_pid_file(proc, Path(settings.pid_file))
    if settings.port is not None:
        return _find_by_port(proc, settings.port)
    matches = _make_test(settings)
    return [pid for pid in list_pids(proc) if matches(proc / str(pid))]


def find_roots(settings: ProcessSettings, parents: Mapping[int, int]) -> dict[int, int]:
    """For each process that was found the one it descends from, which was found too; `parents` by process.

    Only a name and a command can match programs that have nothing to do with each other: whatever is in a unit, or
    listens on a port, is one program.
    """
    if settings.name is None and settings.command is None:
        first = min(parents, default=0)
        return dict.fromkeys(parents, first)
    roots: dict[int, int] = {}
    for pid in parents:
        root, seen = pid, {pid}
        while (parent := parents[root]) in parents and parent not in seen:
            root = parent
            seen.add(root)
        roots[pid] = root
    return roots


def find_ports(proc: Path, pid: int) -> set[int]:
    """Ports of the agent's network on which a process listens; none where the process is another user's."""
    inodes = _listen_inodes(proc)
    return {inodes[inode] for inode in socket_inodes(proc / str(pid) / "fd") or () if inode in inodes}


def _listen_inodes(proc: Path) -> dict[int, int]:
    tables = (read_or_empty(proc / table) for table in ("net/tcp", "net/tcp6"))
    return {row.inode: row.port for row in parse_tcp(*tables, only=LISTEN)}


def _make_test(settings: ProcessSettings) -> Callable[[Path], bool]:
    if settings.name is not None:
        wanted = settings.name
        return lambda folder: wanted in _names(folder)
    if settings.command is not None:
        pattern = re.compile(settings.command)
        return lambda folder: folder.name != str(os.getpid()) and bool(pattern.search(command_line(folder)))
    unit = re.escape(settings.systemd_unit or "")
    in_unit = re.compile(rf"^.*/{unit}(?:/.*)?$", re.MULTILINE)
    return lambda folder: bool(in_unit.search(read_or_empty(folder / "cgroup")))


def _names(folder: Path) -> Iterator[str]:
    yield program_name(folder)
    first = read_or_empty(folder / "cmdline").partition("\0")[0]
    if first:
        yield first.rpartition("/")[2]


def _find_by_pid_file(proc: Path, path: Path) -> list[int]:
    text = read_text(path).split()
    if not text or not text[0].isdecimal() or len(text[0]) > 10:
        raise CollectorError(f"the pid file {path} does not begin with a number")
    return [int(text[0])] if (proc / text[0]).exists() else []


def _find_by_port(proc: Path, port: int) -> list[int]:
    wanted = {inode for inode, listened in _listen_inodes(proc).items() if listened == port}
    if not wanted:
        return []
    found: list[int] = []
    hidden = 0
    for pid in list_pids(proc):
        sockets = socket_inodes(proc / str(pid) / "fd")
        hidden += sockets is None
        if sockets and not wanted.isdisjoint(sockets):
            found.append(pid)
    if not found and hidden:
        raise PrivilegeError(
            f"something listens on port {port}, but its process is hidden from this user: run the agent as the same "
            "user, or grant it CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, or name the process in another way"
        )
    return _with_children(proc, found)


def _with_children(proc: Path, listening: Iterable[int]) -> list[int]:
    """Also what these have forked that runs as the same program: PostgreSQL's backends close the listening socket."""
    known: dict[int, tuple[int, str]] = {}
    for pid in list_pids(proc):
        program, separator, rest = read_or_empty(proc / str(pid) / "stat").rpartition(")")
        if separator:
            known[pid] = int(rest.split()[1]), program.partition("(")[2]
    found = set(listening)
    waiting = [*found]
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in known.items():
        children.setdefault(parent, []).append(pid)
    while waiting:
        pid = waiting.pop()
        program = known.get(pid, (0, ""))[1]
        new = [one for one in children.get(pid, ()) if one not in found and known[one][1] == program]
        found.update(new)
        waiting += new
    return sorted(found)
