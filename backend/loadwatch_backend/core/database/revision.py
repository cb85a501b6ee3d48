"""Which revision the tables of the relational database have; `core.database.migrate` brings them to another.

Alembic and what it loads take 11 MB of a server whose tables are up to date, as they are at every start but one. A new
SQLite file does not need it either: `schema.sql` makes the tables that the revisions make, in a fiftieth of the time.
"""

import time
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from loadwatch_backend.core.version import VERSION

MIGRATIONS = Path(__file__).with_name("migrations")
_APPLIED = sa.table("alembic_version", sa.column("version_num", sa.String))


class MigrationError(Exception):
    """The tables cannot be brought up to date; the text says why and what to do."""


def history_table(metadata: sa.MetaData) -> sa.Table:
    """Which version of Loadwatch brought the tables to which revision; a row is there before its migration begins."""
    return sa.Table(
        "schema_history",
        metadata,
        sa.Column("revision", sa.String(32), nullable=False),
        sa.Column("loadwatch", sa.String(40), nullable=False),
        sa.Column("begun_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("revision", name="pk_schema_history"),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )


def is_newest(connection: sa.Connection, history: sa.Table) -> bool:
    """Whether there is nothing to be done: the tables are at the newest revision, and no unknown one was ever begun."""
    tables = sa.inspect(connection)
    if not (tables.has_table(_APPLIED.name) and tables.has_table(history.name)):
        return False
    known = {path.stem.partition("_")[0] for path in (MIGRATIONS / "versions").glob("*.py")}
    applied = connection.scalars(sa.select(_APPLIED.c.version_num)).all()
    return applied == [max(known)] and known.issuperset(connection.scalars(sa.select(history.c.revision)))


def create_tables(engine: sa.Engine) -> None:
    """Make all tables in a SQLite file that has none, in one transaction, as `scripts/generate_schema.py` wrote them.

    Where another server changes the file at the same moment, nothing is done.
    """
    who = {"loadwatch": VERSION, "begun_ms": time.time_ns() // 1_000_000}
    # pysqlite begins a transaction by itself, and never before a change of tables.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if sa.inspect(connection).get_table_names():
            return
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        except OperationalError:
            return
        if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar() == 0:
            for statement in (MIGRATIONS / "schema.sql").read_text().split(";\n"):
                connection.exec_driver_sql(statement, who)
        connection.exec_driver_sql("COMMIT")
    # Who counts what is written counts from the next connection on.
    engine.dispose()
