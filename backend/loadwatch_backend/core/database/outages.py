"""Which errors say that the database or the disk is away, and not that we made a mistake.

Drivers put both into the same classes (MySQL's unknown column is an `OperationalError` as a lost connection is), so
the codes decide: SQLite's (https://sqlite.org/rescode.html), MySQL's and MariaDB's numbers, PostgreSQL's SQLSTATE.
"""

import errno
import sqlite3
from enum import StrEnum
from typing import Any

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from loadwatch_backend.core.errors import UnavailableError

DatabaseError = SQLAlchemyError
"""All that the relational database, its driver and what is between them raise."""
ConstraintError = IntegrityError
"""A row is there already, or what it belongs to is gone: somebody else was first."""


class Outage(StrEnum):
    """What is the matter; also the stable code of the answer."""

    DATABASE = "database-unavailable"
    BUSY = "database-busy"
    FULL = "disk-full"
    DISK = "disk-failed"


class DatabaseAwayError(SQLAlchemyError):
    """The database did not answer a moment ago, so it is not asked: whoever waits for it holds what others need."""


class OutageError(UnavailableError, title="The database or the disk is away"):
    def __init__(self, outage: Outage, reason: str) -> None:
        super().__init__(_DETAILS[outage].format(reason=reason))
        self.code = outage.value  # pyright: ignore[reportAttributeAccessIssue] - known only here


_SQLITE = {
    sqlite3.SQLITE_FULL: Outage.FULL,
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), Outage.BUSY),
    **dict.fromkeys((sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY), Outage.DISK),
    **dict.fromkeys((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB), Outage.DISK),
}
_MYSQL = {
    **dict.fromkeys((1021, 1114), Outage.FULL),
    # A wait for a lock that was too long, a deadlock, a statement that took too long.
    **dict.fromkeys((1205, 1213, 1969, 3024), Outage.BUSY),
    # Too many connections, who we are is refused, no such database, shutting down, read-only, killed.
    **dict.fromkeys((1040, 1044, 1045, 1049, 1129, 1130, 1203, 1226), Outage.DATABASE),
    **dict.fromkeys((1053, 1077, 1078, 1079, 1158, 1159, 1160, 1161, 1290, 1317, 1792, 1836, 1927), Outage.DATABASE),
}
_CLIENTS = 2
"""Thousands of the numbers that MySQL's clients give themselves: cannot connect, lost the connection."""
_POSTGRESQL = {
    "53100": Outage.FULL,
    "58030": Outage.DISK,
    **dict.fromkeys(("40001", "40P01", "55P03", "57014"), Outage.BUSY),
    **dict.fromkeys(("25006", "28", "3D", "08", "53", "57P"), Outage.DATABASE),
}
_OS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), Outage.FULL),
    **dict.fromkeys((errno.EIO, errno.EROFS), Outage.DISK),
}
_DETAILS = {
    Outage.DATABASE: (
        "The database of runs, alerts and users does not answer ({reason}). Samples are taken and charts are drawn "
        "meanwhile. See that it runs and that LOADWATCH_DATABASE_URL leads to it."
    ),
    Outage.BUSY: "The database of runs, alerts and users is busy ({reason}). Try again in a moment.",
    Outage.FULL: "The disk is full ({reason}). Make room on it; nothing has to be started again.",
    Outage.DISK: (
        "The disk cannot be read or written ({reason}). See the kernel's log, and whether the data directory and its "
        "files may be written."
    ),
}


def outage_of(error: BaseException) -> Outage | None:
    if isinstance(error, DatabaseAwayError | PoolTimeoutError):
        return Outage.DATABASE
    if isinstance(error, OSError):
        return _OS.get(error.errno or 0)
    if not isinstance(error, DBAPIError):
        return None
    cause: Any = error.orig
    if isinstance(cause, sqlite3.Error):
        return _SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
    if (state := getattr(cause, "sqlstate", "")) != "":
        return _by_state(state, cause)
    if error.connection_invalidated:
        return Outage.DATABASE
    number = cause.args[0] if cause is not None and cause.args else None
    if isinstance(number, int):
        is_ours = number == 0 or number // 1_000 == _CLIENTS
        return Outage.DATABASE if is_ours else _MYSQL.get(number)
    return None


def _by_state(state: str | None, cause: Any) -> Outage | None:
    """By SQLSTATE, whose beginning is its class; psycopg has none for a connection that could not be made or broke."""
    if state is None:
        return Outage.DATABASE if type(cause).__name__ in ("OperationalError", "ConnectionTimeout") else None
    return next((outage for length in (5, 3, 2) if (outage := _POSTGRESQL.get(state[:length]))), None)


def problem_of(error: BaseException) -> OutageError | None:
    outage = outage_of(error)
    return None if outage is None else OutageError(outage, reason_of(error))


def reason_of(error: BaseException) -> str:
    """What the driver or the system said, in one line and without the statement and its values."""
    cause: Any = getattr(error, "orig", None) or error
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    words = cause.args[1] if len(cause.args) > 1 and isinstance(cause.args[0], int) else cause
    return " ".join(str(words).split())[:300].rstrip(".")
