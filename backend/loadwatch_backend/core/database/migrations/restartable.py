"""Operations of migrations that may run again: each asks the database whether it was done already.

A server may be killed between any two statements. SQLite and PostgreSQL then take the whole upgrade back. MySQL and
MariaDB commit with each change of a table, so there a migration runs again over what it has made. What is asked is the
database itself, not notes of ours: that also mends databases which an older version left half-way. Changes of data are
in one transaction with the revision's number, provided that they follow all changes of tables (CONTRIBUTING.md).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic.ddl import base, mysql
from alembic.ddl.impl import DefaultImpl
from alembic.ddl.mysql import MySQLImpl
from alembic.ddl.postgresql import PostgresqlImpl
from alembic.ddl.sqlite import SQLiteImpl
from sqlalchemy import schema
from sqlalchemy.sql.schema import SchemaItem

from loadwatch_backend.core.database.revision import MigrationError


class Restartable(DefaultImpl):
    """Leaves out a statement whose effect is there already."""

    def _exec(
        self,
        construct: "sa.Executable | str",
        execution_options: "Mapping[str, Any] | None" = None,
        multiparams: "Sequence[Mapping[str, Any]] | None" = None,
        params: "Mapping[str, Any] | None" = None,
    ) -> "sa.CursorResult[Any] | None":
        # The one place through which Alembic sends whatever an operation comes to, also the indices of a new table.
        assert self.connection is not None
        if isinstance(construct, schema.DDLElement) and is_done(self.connection, construct):
            return None
        return super()._exec(construct, execution_options, multiparams, params or {})  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Alembic's own is half typed

    def bulk_insert(
        self, table: "sa.TableClause | sa.Table", rows: "list[dict[str, Any]]", multiinsert: bool = True
    ) -> None:
        """Insert the rows whose primary key is not there; each has to name its key."""
        assert self.connection is not None
        keys = sa.inspect(self.connection).get_pk_constraint(table.name)["constrained_columns"]
        for row in rows:
            same = [table.c[key] == row[key] for key in keys]
            if self.connection.execute(sa.select(sa.literal(1)).select_from(table).where(*same)).first() is None:
                super().bulk_insert(table, [row], multiinsert)  # pyright: ignore[reportUnknownMemberType] - the same


class RestartableSQLite(Restartable, SQLiteImpl):
    """On SQLite, where an older version left the first migration half-way."""

    __dialect__ = "sqlite"


class RestartableMySQL(Restartable, MySQLImpl):
    """On MySQL and MariaDB by their one driver's name."""

    __dialect__ = "mysql"


class RestartableMariaDB(Restartable, mysql.MariaDBImpl):
    """On MariaDB by its own name."""

    __dialect__ = "mariadb"


class RestartablePostgreSQL(Restartable, PostgresqlImpl):
    """On PostgreSQL, which takes a migration back as a whole: here for the check of what is there already."""

    __dialect__ = "postgresql"


def is_done(connection: sa.Connection, statement: schema.DDLElement) -> bool:
    """Whether the effect of a change of tables is there.

    Raises:
        MigrationError: a table that is to be made exists with other columns.
    """
    inspector = sa.inspect(connection)
    match statement:
        case schema.CreateTable():
            return _has_same_table(inspector, statement.element)
        case schema.DropTable():
            return not inspector.has_table(statement.element.name)
        case base.RenameTable():
            return not inspector.has_table(statement.table_name) and inspector.has_table(statement.new_table_name)
        case base.AddColumn():
            return statement.column.name in _columns(inspector, statement.table_name)
        case base.DropColumn():
            return statement.column.name not in _columns(inspector, statement.table_name)
        case mysql.MySQLChangeColumn() | base.ColumnName():
            columns = _columns(inspector, statement.table_name)
            return statement.column_name not in columns and statement.newname in columns
        case schema.AddConstraint(element=sa.PrimaryKeyConstraint() as key):
            return _primary_key(inspector, _table(key)) == [column.name for column in key.columns]
        case schema.DropConstraint(element=sa.PrimaryKeyConstraint() as key):
            return not _primary_key(inspector, _table(key))
        case schema.CreateIndex() | schema.AddConstraint():
            return _name(statement.element) in _named(inspector, _table(statement.element))
        case schema.DropIndex() | schema.DropConstraint():
            return _name(statement.element) not in _named(inspector, _table(statement.element))
        case _:
            return False  # what is left sets a property of a column, which may be set again


def _has_same_table(inspector: "sa.Inspector", table: "sa.Table") -> bool:
    if not inspector.has_table(table.name):
        return False
    found, wanted = _columns(inspector, table.name), {column.name for column in table.columns}
    if found != wanted:
        raise MigrationError(
            f"it has a table {table.name!r} that is not Loadwatch's: its columns are {', '.join(sorted(found))}, "
            f"and not {', '.join(sorted(wanted))}. Give Loadwatch a database of its own."
        )
    return True


def _primary_key(inspector: "sa.Inspector", table: str) -> list[str]:
    return inspector.get_pk_constraint(table)["constrained_columns"] if inspector.has_table(table) else []


def _columns(inspector: "sa.Inspector", table: str) -> set[str]:
    return {column["name"] for column in inspector.get_columns(table)}


def _table(element: "SchemaItem") -> str:
    table: Any = getattr(element, "table", None)
    assert isinstance(table, sa.Table), f"{element!r} does not name its table"
    return table.name


def _name(element: "SchemaItem") -> str:
    name: Any = getattr(element, "name", None)
    assert isinstance(name, str), f"{element!r} has no name by which it could be found again"
    return name


def _named(inspector: "sa.Inspector", table: str) -> set[str]:
    """Names of a table's indices and constraints, except its primary key's: that of MySQL has none."""
    if not inspector.has_table(table):
        return set()
    found: list[Mapping[str, Any]] = [
        *inspector.get_indexes(table),
        *inspector.get_unique_constraints(table),
        *inspector.get_foreign_keys(table),
        *inspector.get_check_constraints(table),
    ]
    return {one["name"] for one in found if one["name"]}
