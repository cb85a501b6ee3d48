"""A process that dies at its n-th point: a statement, a commit or a change of a directory within some functions.

It dies by SIGKILL: before the point, after it, or a moment after it began, by the hand of its parent, so that DuckDB is
in the middle of writing. The parent stays a process that can be forked: it opens no database.
"""

import inspect
import os
import shutil
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar

import duckdb
import sqlalchemy as sa
from sqlalchemy import event

from backend.tests.store.migration_kills import READS

_Answer = TypeVar("_Answer")
_TOLD = struct.Struct("<cI")
_ACKNOWLEDGED, _POINTS, _NOW = b"a", b"p", b"n"
_FILES: Sequence[str] = ("open", "fsync", "rename", "replace", "link", "mkdir", "unlink", "rmdir", "ftruncate", "write")
KEEP = "LOADWATCH_FAULTS_KEEP"
"""Where directories of failed rounds are kept; by default beside the rounds."""


class FaultError(Exception):
    """A start failed, or something is lost; says where the directory is kept."""


class Moment(StrEnum):
    """When it dies."""

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """At which point, counted from 1; `seconds` after its beginning where it is during it."""

    point: int
    moment: Moment
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended, what it had acknowledged, and how many points it had passed."""

    killed: bool
    acknowledged: Sequence[int]
    points: int


class Points:
    """Counts what happens within some functions, in all threads."""

    def __init__(self, within: Sequence[Callable[..., Any]], death: Death | None, tell: int) -> None:
        self._codes: set[CodeType] = {inspect.unwrap(one).__code__ for one in within}
        self._death = death
        self._tell = tell
        self._lock = threading.Lock()
        self.seen = 0

    def at(self, call: Callable[[], _Answer]) -> _Answer:
        """Do it, and die before, during or after it if it is its turn."""
        number = self.begin()
        answer = call()
        self.end(number)
        return answer

    def begin(self) -> int:
        """The number of the point that begins; 0 where it does not count."""
        if not self._is_within():
            return 0
        with self._lock:
            self.seen += 1
            number = self.seen
        if self._death is not None and number == self._death.point:
            if self._death.moment is Moment.BEFORE:
                os.kill(os.getpid(), signal.SIGKILL)
            elif self._death.moment is Moment.DURING:
                _write(self._tell, _TOLD.pack(_NOW, 0))
        return number

    def end(self, number: int) -> None:
        """The point is over."""
        if self._death is not None and number == self._death.point and self._death.moment is Moment.AFTER:
            os.kill(os.getpid(), signal.SIGKILL)

    def _is_within(self) -> bool:
        frame = inspect.currentframe()
        while frame is not None:
            if frame.f_code in self._codes:
                return True
            frame = frame.f_back
        return False

    def watch(self) -> None:
        """Count from here on what DuckDB, SQLAlchemy and the functions that change directories are asked for."""
        real = duckdb.connect

        def connect(database: Any = ":memory:", read_only: bool = False, config: Any = None) -> Any:
            # The statements' arrays are in the frame above the one that counts; the log is folded in often.
            more = {"python_scan_all_frames": "true", "checkpoint_threshold": "16KiB"}
            connection = self.at(lambda: real(str(database), read_only=read_only, config={**(config or {}), **more}))
            return _Counted(connection, self)

        duckdb.connect = connect
        for name in _FILES:
            setattr(os, name, self._counting(getattr(os, name)))
        self._watch_sqlalchemy()

    def _counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **named: self.at(lambda: function(*arguments, **named))

    def _watch_sqlalchemy(self) -> None:
        begun: list[int] = []

        def before(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            begun.append(0 if statement.lstrip().upper().startswith(READS) else self.begin())

        def after(_connection: object, _cursor: object, _statement: str, *_: object) -> None:
            self.end(begun.pop())

        def commit(_connection: object) -> None:
            self.end(self.begin())

        event.listen(sa.Engine, "before_cursor_execute", before)
        event.listen(sa.Engine, "after_cursor_execute", after)
        event.listen(sa.Engine, "commit", commit)


class _Counted:
    """A connection of DuckDB whose statements and commits are points."""

    def __init__(self, connection: Any, points: Points) -> None:
        self._connection = connection
        self._points = points

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def __enter__(self) -> "_Counted":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cursor(self) -> "_Counted":
        return _Counted(self._connection.cursor(), self._points)

    def execute(self, *arguments: Any) -> Any:
        return self._points.at(lambda: self._connection.execute(*arguments))

    def executemany(self, *arguments: Any) -> Any:
        return self._points.at(lambda: self._connection.executemany(*arguments))

    def commit(self) -> Any:
        return self._points.at(self._connection.commit)

    def close(self) -> None:
        self._points.at(self._connection.close)


_write = os.write


def in_child(
    work: Callable[[Callable[[int], None]], None], *, within: Sequence[Callable[..., Any]] = (), death: Death | None
) -> Ended:
    """Do it in a process of its own, which dies as is said; `work` is given how to acknowledge a number.

    Raises:
        FaultError: it ended by itself with another exit code than 0.
    """
    read, tell = os.pipe()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            points = Points(within, death, tell)
            points.watch()
            work(lambda number: _tell_number(tell, number))
            _write(tell, _TOLD.pack(_POINTS, points.seen))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(tell)
    acknowledged: list[int] = []
    points = 0
    with os.fdopen(read, "rb") as pipe:
        while len(record := pipe.read(_TOLD.size)) == _TOLD.size:
            kind, number = _TOLD.unpack(record)
            if kind == _NOW and death is not None:
                time.sleep(death.seconds)
                os.kill(child, signal.SIGKILL)
            elif kind == _ACKNOWLEDGED:
                acknowledged.append(number)
            elif kind == _POINTS:
                points = number
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, -signal.SIGKILL):
        raise FaultError(f"a process ended with exit code {code}, see above")
    return Ended(killed=code != 0, acknowledged=acknowledged, points=points)


def _tell_number(tell: int, number: int) -> None:
    _write(tell, _TOLD.pack(_ACKNOWLEDGED, number))


def keep(directory: Path, name: str) -> Path:
    """A copy of a directory that a fault was found in; where it is."""
    kept = Path(os.environ.get(KEEP) or directory.parent / "failed") / name
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(directory, kept)
    return kept
