"""The relational database: SQLite in the data directory by default, MySQL (pymysql) or PostgreSQL by URL.

Times are BIGINT milliseconds since the epoch, as on the wire: the three databases disagree on time zones and on
fractions of a second, and on nothing about integers.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import BigInteger, Engine, Integer, MetaData, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker

MIGRATIONS = Path(__file__).with_name("migrations")

Identity = BigInteger().with_variant(Integer(), "sqlite")
"""A generated primary key; SQLite generates only for INTEGER."""


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


class Relational:
    """An open, migrated database. Sessions are synchronous: use them from worker threads."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._sessions = sessionmaker(engine, expire_on_commit=False)

    @contextmanager
    def transaction(self) -> Generator[Session]:
        """A session whose work is committed at the end, or rolled back on an error."""
        with self._sessions.begin() as session:
            yield session

    def close(self) -> None:
        """Release all connections."""
        self.engine.dispose()


def default_url(data: Path) -> str:
    """SQLite in the data directory."""
    return f"sqlite:///{data / 'loadwatch.sqlite'}"


def open_relational(url: str) -> Relational:
    """Connect and bring the tables up to date.

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
        engine = create_engine(parsed, pool_pre_ping=True, **_pool_options(parsed.get_backend_name()))
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise RelationalError(f"no driver for {where}: {error}. Install it into the server's environment.") from error
    if engine.dialect.name == "sqlite":
        _keep_private(parsed.database)
        event.listen(engine, "connect", _configure_sqlite)
    try:
        migrate(engine)
    except OperationalError as error:
        engine.dispose()
        raise RelationalError(f"cannot use the database {where}: {error.orig}") from error
    except SQLAlchemyError as error:
        engine.dispose()
        raise RelationalError(f"cannot bring the database {where} up to date: {error}") from error
    return Relational(engine)


def migrate(engine: Engine, revision: str = "head") -> None:
    """Bring the tables to a revision, all in one transaction where the database can."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def _pool_options(backend: str) -> dict[str, Any]:
    """Bounded, and younger than MySQL's idle limit (8 h) and most proxies'."""
    return {} if backend == "sqlite" else {"pool_size": 5, "max_overflow": 5, "pool_recycle": 1800}


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
