"""Which program a listening socket belongs to."""

import pwd
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.procfs import list_pids, read_text, socket_inodes

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
