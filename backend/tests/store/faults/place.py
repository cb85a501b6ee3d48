"""What is killed, or finds the disk full: a place of the product."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Acknowledge = Callable[[int], None]
Step = Callable[[], Any]
Opened = Callable[[Path, int, Acknowledge], AbstractContextManager[Sequence[Step]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Something that a process does in a directory, and that another one does to the end when it died.

    Attributes:
        within: functions whose statements and changes of directories are the points to die at.
        prepare: makes the directory in which each round begins.
        opened: a start; gives the steps of the work, each of which may be done again. Numbers from the second argument
            on (at most a hundred) are told to the third once they are acknowledged.
        check: raises where the directory is not as it must be after a last start did all the steps.
        rooms: bytes that files may grow by when the disk is full.
        only_files: for places whose store is only read: `rooms` are what any file may have at all.
    """

    name: str
    within: Sequence[Callable[..., Any]]
    prepare: Callable[[Path], None]
    opened: Opened
    check: Callable[[Path, Sequence[int]], None]
    rooms: Sequence[int]
    only_files: bool = False
