"""The relational database: SQLite in the data directory by default, MySQL (pymysql) or PostgreSQL by URL.

Times are BIGINT milliseconds since the epoch, as on the wire: the three databases disagree on time zones and on
fractions of a second, and on nothing about integers.
"""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Connection, Engine, Integer, MetaData, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, sessionmaker
from sqlalchemy.orm import Session as OrmSession

from loadwatch_backend.core.database.outages import DatabaseAwayError, Outage, outage_of, reason_of
from loadwatch_backend.core.database.revision import MigrationError, create_tables, history_table, is_newest
from loadwatch_backend.core.database.set_aside import RELATIONS, advice
from loadwatch_backend.core.deferred import Deferred

ANSWER_SECONDS = 10
"""How long a statement of the server may take on a database behind a network; migrations have no limit."""

Identity = BigInteger().with_variant(Integer(), "sqlite")
"""A generated primary key; SQLite generates only for INTEGER."""

BINARY_TEXT = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}
"""Options of a table: text is compared as it was typed. MySQL holds "A" and "a", and some Japanese letters, equal."""

NEW_IDS = {**BINARY_TEXT, "sqlite_autoincrement": True}
"""The same for tables whose ids are never given twice: a link to what was deleted must not open something else."""


Session = OrmSession
"""For services, which open a transaction and pass it on; what is read and written is said by repositories."""


_CHANGES, _PASSED_OVER = "loadwatch-changes", "loadwatch-passed-over"
"""Of a connection's record: how many rows it has changed so far, and whether those of now are not counted."""


class RelationalError(Exception):
    """The relational database cannot be used; the text says which, why, and what to do. Never holds a password."""


class Base(DeclarativeBase):
    """Base of all tables; constraints have names, so that a migration can change them on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


_migrate = Deferred("loadwatch_backend.core.database.migrate")
SCHEMA_HISTORY = history_table(Base.metadata)


class Relational:
    """An open, migrated database. Sessions are synchronous: use them from worker threads.

    Once the database did not answer, only who asks with `even_if_away` asks it again, until it does: all others fail at
    once instead of waiting, and leave the threads and connections to what needs no database.
    """

    def __init__(self, engine: Engine, *, alone: bool = False) -> None:
        """`alone`: no other server writes to the tables. Commands such as `loadwatch user` may, to those of access."""
        self.engine = engine
        self._alone = alone
        self._written = 0
        if alone:
            event.listen(engine, "checkin", self._note_written)
        # A session that is used after its transaction fails, instead of holding a connection that nobody gives back.
        self._sessions = sessionmaker(engine, expire_on_commit=False, close_resets_only=False)
        self._away: str | None = None

    @contextmanager
    def transaction(self, *, even_if_away: bool = False) -> Generator[Session]:
        """A session whose work is committed at the end, or rolled back on an error.

        Raises:
            DatabaseAwayError: the database did not answer a moment ago.
        """
        with self._answering(even_if_away=even_if_away), self._sessions.begin() as session:
            yield session

    @contextmanager
    def connect(self) -> Generator[Connection]:
        """A connection without the cost of a session; what it writes is committed at the end.

        Raises:
            DatabaseAwayError: the database did not answer a moment ago.
        """
        with self._answering(even_if_away=False), self.engine.begin() as connection:
            yield connection

    @property
    def written(self) -> int | None:
        """Another number after each transaction that wrote; None where other servers may write as well.

        Ask before reading: what was committed before that is read, and what is committed later changes the number.
        """
        return self._written if self._alone else None

    def pass_over(self, session: Session) -> None:
        """What this transaction writes is not counted in `written`: a beat, which nobody looks for."""
        if self._alone:
            session.connection().info[_PASSED_OVER] = True

    def _note_written(self, connection: Any, record: Any) -> None:
        """SQLite's connection comes back to the pool, after its transaction."""
        if connection is None:
            return
        changes = connection.total_changes
        counts = not record.info.pop(_PASSED_OVER, False)
        if changes != record.info.get(_CHANGES, 0):
            record.info[_CHANGES] = changes
            self._written += counts

    @contextmanager
    def _answering(self, *, even_if_away: bool) -> Generator[None]:
        away = self._away
        if away is not None and not even_if_away:
            raise DatabaseAwayError(away)
        try:
            yield
        except SQLAlchemyError as error:
            if outage_of(error) is Outage.DATABASE:
                self._away = reason_of(error)
            raise
        if away is not None:
            self._away = None

    def close(self) -> None:
        self.engine.dispose()


class Stillness:
    """Spares a look at tables: while nobody has written since one that found nothing to do, another finds no more.

    For one thread. `seconds` bounds how long that is believed, for what comes by the clock alone.
    """

    def __init__(self, relational: Relational, seconds: float) -> None:
        self._relational = relational
        self._seconds = seconds
        self._seen: int | None = None
        self._until = 0.0

    @property
    def holds(self) -> bool:
        return self._seen is not None and self._relational.written == self._seen and time.monotonic() < self._until

    def note(self, written: int | None) -> None:
        """`written` was read before a look that found nothing to do; None after one that found something."""
        self._seen, self._until = written, time.monotonic() + self._seconds


def default_url(data: Path) -> str:
    return f"sqlite:///{data / 'loadwatch.sqlite'}"


def open_relational(url: str, *, alone: bool = False) -> Relational:
    """Connect and bring the tables up to date; `alone` as in `Relational`.

    Raises:
        RelationalError: the URL is wrong, the database cannot be reached, or a migration failed.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise RelationalError(
            "LOADWATCH_DATABASE_URL is not a database URL; examples: sqlite:////var/lib/loadwatch/loadwatch.sqlite, "
            "mysql+pymysql://user:password@host/loadwatch, postgresql+psycopg://user:password@host/loadwatch"
        ) from error
    where = parsed.render_as_string(hide_password=True)
    try:
        engine = create_engine(parsed, **_pool_options(parsed.get_backend_name()))
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise RelationalError(f"no driver for {where}: {error}. Install it into the server's environment.") from error
    if engine.dialect.name == "sqlite":
        _keep_private(parsed.database)
        event.listen(engine, "connect", _configure_sqlite)
    elif engine.dialect.driver == "psycopg":
        event.listen(engine, "do_connect", _connect_psycopg)
    try:
        migrate(engine)
    except (MigrationError, OperationalError) as error:
        engine.dispose()
        reason = error if isinstance(error, MigrationError) else error.orig
        raise RelationalError(f"cannot use the database {where}: {reason}") from error
    except SQLAlchemyError as error:
        engine.dispose()
        reason = error.orig if isinstance(error, DatabaseError) else None
        damaged = any(words in str(reason) for words in ("not a database", "malformed", "corrupt"))
        if engine.dialect.name != "sqlite" or not parsed.database or not damaged:
            raise RelationalError(f"cannot bring the database {where} up to date: {error}") from error
        path = Path(parsed.database)
        told = f"\n{advice(path.parent, RELATIONS)}" if path.name == RELATIONS else " Restore it from a backup."
        raise RelationalError(f"cannot read {path}: {reason}.{told}") from error
    return Relational(engine, alone=alone and engine.dialect.name == "sqlite")


def migrate(engine: Engine, revision: str = "head") -> None:
    if revision == "head":
        if engine.dialect.name == "sqlite":
            create_tables(engine)
        with engine.connect() as connection:
            if is_newest(connection, SCHEMA_HISTORY):
                return
    _migrate.upgrade(engine.url, SCHEMA_HISTORY, revision)


def _pool_options(backend: str) -> dict[str, Any]:
    """Bounded, in time too, younger than MySQL's idle limit (8 h) and most proxies', and asked before each use."""
    if backend == "sqlite":
        # A file has no connection that breaks, and to ask for it costs a tenth of what an idle server uses.
        return {}
    pool: dict[str, Any] = {
        "pool_pre_ping": True,
        "pool_size": 5,
        "max_overflow": 5,
        "pool_recycle": 1800,
        "pool_timeout": ANSWER_SECONDS,
    }
    if backend != "mysql":
        return pool
    limits = dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), ANSWER_SECONDS)
    return {**pool, "connect_args": limits}


def _connect_psycopg(dialect: Any, record: Any, arguments: Any, parameters: Any) -> Any:
    """Instead of the dialect's own; PyMySQL has limits of its own."""
    del dialect, record
    # Who has no PostgreSQL does not wait for its driver at each start.
    from loadwatch_backend.core.database.bounded_psycopg import connect_psycopg

    return connect_psycopg(tuple(arguments), parameters, ANSWER_SECONDS)


def _keep_private(database: str | None) -> None:
    """Make a new file that only its owner can read: it holds hashes of passwords. SQLite's other files follow it."""
    if database and database != ":memory:" and not database.startswith("file:"):
        with suppress(OSError):  # SQLite says better what is wrong
            os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _configure_sqlite(connection: Any, record: Any) -> None:
    """WAL lets readers and the writer pass; foreign keys are off by default in SQLite."""
    del record
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
