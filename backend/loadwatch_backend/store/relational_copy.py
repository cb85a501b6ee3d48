"""A copy of the relational database beside a server that runs, where that is SQLite."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Engine


class RelationalCopyError(Exception):
    """The database cannot be copied, or a copy is damaged; the text says why."""


def sqlite_file(engine: Engine) -> Path | None:
    """The database's file; None where it is not SQLite's."""
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return None
    return Path(engine.url.database)


def copy_sqlite(source: Path, target: Path) -> None:
    """Write the state of one moment into a new file that only its owner reads, without the room of deleted rows.

    Raises:
        RelationalCopyError: it cannot be read whole, or there is no room.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(source, timeout=30)) as reader:
            reader.execute("VACUUM INTO ?", [str(target)])
    except sqlite3.Error as error:
        raise RelationalCopyError(f"{source.name} cannot be copied: {error}") from error
    check_sqlite(target)


def check_sqlite(path: Path) -> None:
    """Read all of a file that nobody writes.

    Raises:
        RelationalCopyError: it is damaged; names the first place.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as reader:
            said = reader.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise RelationalCopyError(f"{path.name} cannot be read: {error}") from error
    if said != "ok":
        raise RelationalCopyError(f"{path.name} is damaged: {said}")
