"""Brings the tables of the relational database up to date, once, whoever else starts and whenever it is killed.

SQLite and PostgreSQL: the whole upgrade is one transaction. MySQL and MariaDB commit with each change of a table: there
each operation asks whether it was done (`migrations/restartable.py`). A lock of the database keeps other servers out
meanwhile. See docs/decisions/0004-sync-relational-sqlite.md.
"""

import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
import structlog
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import OperationalError

from loadwatch_backend.core.database import revision as present
from loadwatch_backend.core.database.revision import MigrationError
from loadwatch_backend.core.version import VERSION

log = structlog.get_logger(__name__)

WAIT_SECONDS = 300.0
"""How long a server waits for another one that migrates the same database."""
LOOK_SECONDS = 0.5
SAY_SECONDS = 10.0
COPY_SUFFIX = ".before-upgrade"


def upgrade(url: sa.URL, history: sa.Table, revision: str = "head", wait_seconds: float = WAIT_SECONDS) -> None:
    """Bring the tables to a revision.

    Raises:
        MigrationError: a newer version has written the data, or another server does not come to an end.
        SQLAlchemyError: the database cannot be used.
    """
    config = _config()
    scripts = ScriptDirectory.from_config(config)
    # An engine of its own: a migration may take longer than any statement of the server, and foreign keys of SQLite
    # have to be off while a table is made anew (https://sqlite.org/lang_altertable.html#otheralter).
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        if not _pending(connection, scripts, history, revision):
            return
    with _alone(engine, wait_seconds) as connection:
        pending = _pending(connection, scripts, history, revision)
        if not pending:
            return
        if url.get_backend_name() == "sqlite" and MigrationContext.configure(connection).get_current_revision():
            _keep_copy(url.database or "")
        _note(connection, history, pending)
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        _note(connection, history, pending)


def revisions() -> list[str]:
    """All revisions, the oldest first."""
    found = ScriptDirectory.from_config(_config()).walk_revisions()
    return [script.revision for script in found][::-1]


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(present.MIGRATIONS).replace("%", "%%"))
    return config


def _pending(connection: sa.Connection, scripts: ScriptDirectory, history: sa.Table, revision: str) -> list[str]:
    heads = MigrationContext.configure(connection).get_current_heads()
    known = {script.revision for script in scripts.walk_revisions()}
    written: dict[str, tuple[str, int]] = {}
    if sa.inspect(connection).has_table(history.name):
        rows = connection.execute(sa.select(history.c.revision, history.c.loadwatch, history.c.begun_ms))
        written = {row[0]: (row[1], row[2]) for row in rows}
    unknown = sorted({*heads, *written} - known)
    if unknown:
        raise MigrationError(_newer(unknown[-1], written.get(unknown[-1]), max(known)))
    wanted = [script.revision for script in scripts.iterate_revisions(revision, "base")]
    done = {script.revision for head in heads for script in scripts.iterate_revisions(head, "base")}
    return [one for one in reversed(wanted) if one not in done]


def _newer(revision: str, written: tuple[str, int] | None, known: str) -> str:
    by = "a newer version of Loadwatch"
    if written is not None:
        by = f"Loadwatch {written[0]} on {datetime.fromtimestamp(written[1] / 1_000, UTC):%Y-%m-%d}"
    return (
        f"its tables have revision {revision}, made by {by}; this is Loadwatch {VERSION}, which knows them up to "
        f"{known}. Start the version that made them or a newer one, or put back a copy from before the upgrade "
        f"(of SQLite there is one beside the file, ending in {COPY_SUFFIX})."
    )


def _note(connection: sa.Connection, history: sa.Table, revisions: list[str]) -> None:
    """Write down who makes these revisions, where the table for it exists; kept when the migration is cut off."""
    if not sa.inspect(connection).has_table(history.name):
        return
    noted = set(connection.scalars(sa.select(history.c.revision)))
    now_ms = time.time_ns() // 1_000_000
    for revision in revisions:
        if revision not in noted:
            row = {"revision": revision, "loadwatch": VERSION, "begun_ms": now_ms}
            connection.execute(sa.insert(history).values(row))
    if connection.dialect.name == "mysql":
        connection.commit()


# One at a time --------------------------------------------------------------------------------------------------------


@contextmanager
def _alone(engine: sa.Engine, wait_seconds: float) -> Generator[sa.Connection]:
    """A connection that holds the lock of migrations; what it did is committed at the end, where it was not before."""
    match engine.dialect.name:
        case "sqlite":
            # pysqlite begins a transaction by itself, and never before a change of tables.
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection, connection.begin():
                _wait(lambda: _begin_immediate(connection), wait_seconds)
                yield connection
                broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
                if broken is not None:
                    raise MigrationError(f"a migration would leave a row of {broken[0]} without the one it belongs to")
        case "postgresql":
            with engine.begin() as connection:
                take = sa.select(sa.func.pg_try_advisory_xact_lock(_lock_number(engine)))
                _wait(lambda: bool(connection.scalar(take)), wait_seconds)
                yield connection
        case _:
            with engine.connect() as connection:
                # MySQL's locks are the whole server's: the name has to hold the database's. They end with the session.
                take = sa.select(sa.func.get_lock(f"loadwatch-{_lock_number(engine)}", 0))
                _wait(lambda: connection.scalar(take) == 1, wait_seconds)
                connection.commit()
                yield connection
                connection.commit()


def _lock_number(engine: sa.Engine) -> int:
    """A signed number of 64 bits for the database."""
    name = f"loadwatch migrations {engine.url.database or ''}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


def _begin_immediate(connection: sa.Connection) -> bool:
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except OperationalError as error:
        if getattr(error.orig, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        return False
    return True


def _wait(take: Callable[[], bool], wait_seconds: float) -> None:
    start = said = time.monotonic()
    first = True
    while not take():
        now = time.monotonic()
        if now - start > wait_seconds:
            raise MigrationError(
                f"another server has been bringing its tables up to date for {wait_seconds:.0f} s; start again when it "
                "has come to an end, or end the session that holds the lock"
            )
        if first or now - said > SAY_SECONDS:
            log.info("another server brings the database up to date: waiting for it")
            first, said = False, now
        time.sleep(LOOK_SECONDS)


# A copy of SQLite -----------------------------------------------------------------------------------------------------


def _keep_copy(database: str) -> None:
    """Keep the file as it was before the upgrade, in the place of the copy before; only where there is room for it."""
    path = Path(database)
    copy, partial = path.with_name(path.name + COPY_SUFFIX), path.with_name(path.name + COPY_SUFFIX + ".partial")
    size = path.stat().st_size
    if shutil.disk_usage(path.parent).free < 2 * size + (64 << 20):
        log.warning("no room for a copy of the database before its upgrade", bytes=size, path=str(copy))
        return
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        # A reader of its own, beside the transaction that has begun: it sees what was before.
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("VACUUM INTO ?", [str(partial)])
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    partial.replace(copy)
    log.info("the database before its upgrade is kept in a copy", path=str(copy))
