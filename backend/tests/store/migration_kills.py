"""Run by test_migration_kills.py in a process of its own: kill -9 at the changes of a migration, one after the other.

Each child opens the database as a server does and is killed before or after its n-th change (or commit). Where a
database takes back what was not committed, it must be as it was; where it commits each change, the next child goes on
from there. At the end one opens it to the end, and all tables with all rows are those of a database that was never
disturbed. Prints how many kills each migration took as JSON.
"""

import json
import os
import re
import signal
import sys
from collections import Counter
from typing import Any

import sqlalchemy as sa
from loadwatch_backend.core.database.relational import migrate, open_relational
from sqlalchemy import event

READS = ("SELECT", "SHOW", "DESCRIBE", "PRAGMA", "EXPLAIN")
STAMP = re.compile(r"alembic_version.*?'(\w+)'", re.DOTALL)
NOTED = "schema_history"


def kill_at(wanted: int, tell: int, *, after: bool) -> None:
    """End this process at its n-th change or commit, by the signal that nothing can catch.

    Writes the revision that it had come to into the pipe `tell`.
    """
    seen = 0
    revision = "start"

    def count(statement: str, *, is_after: bool) -> None:
        nonlocal seen, revision
        if statement.lstrip().upper().startswith(READS):
            return
        if is_after is after:
            seen += 1
            if seen == wanted:
                os.write(tell, revision.encode())
                os.kill(os.getpid(), signal.SIGKILL)
        if is_after and (stamp := STAMP.search(statement)):
            revision = stamp[1]

    def before(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        count(statement, is_after=False)

    def afterwards(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        count(statement, is_after=True)

    def commit(_connection: object) -> None:
        count("COMMIT", is_after=False)

    event.listen(sa.Engine, "before_cursor_execute", before)
    event.listen(sa.Engine, "after_cursor_execute", afterwards)
    event.listen(sa.Engine, "commit", commit)


def open_in_child(url: str, wanted: int | None, *, after: bool) -> str | None:
    """After which revision a process that opens the database was killed; None when it was done before that."""
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if wanted is not None:
                kill_at(wanted, tell, after=after)
            open_relational(url).close()
            status = 0
        finally:
            os._exit(status)
    os.close(tell)
    with open(hear) as pipe:
        revision = pipe.read()
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL), f"a start after {wanted} failed"
    return revision if ended else None


def prepare(url: str, revision: str | None) -> None:
    """Bring a database to a revision and put rows into all tables."""
    if revision is None:
        return
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    migrate(engine, revision)
    tables = sa.MetaData()
    tables.reflect(engine)
    with engine.begin() as connection:
        for table in tables.sorted_tables:
            if connection.execute(sa.select(table)).first() is None:
                connection.execute(table.insert(), [{c.name: value_for(c, row) for c in table.c} for row in (1, 2)])


def value_for(column: "sa.Column[Any]", row: int) -> object:
    """Something that the column takes; the same in all columns of a type, so that keys find their rows."""
    kind = column.type.python_type
    if kind is bytes:
        return f"bytes {row}".encode()
    return f"text {row}" if kind is str else kind(row % 2 if kind is bool else row)


def progress(url: str) -> tuple[object, ...]:
    """What of a database a migration has changed, cheap enough to ask after each kill."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        found = sa.inspect(connection)
        names = sorted(found.get_table_names())
        parts = [(name, len(found.get_columns(name)), len(found.get_indexes(name))) for name in names]
        return (*parts, revision_of(connection))


def revision_of(connection: sa.Connection) -> str:
    """Where the database says that it is."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return ""
    return connection.scalar(sa.text("SELECT version_num FROM alembic_version")) or ""


def contents(url: str) -> dict[str, tuple[Any, ...]]:
    """All tables: how they are made and what is in them, except who made them when."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        found = sa.inspect(connection)
        tables = sa.MetaData()
        tables.reflect(connection)
        return {
            table.name: (
                sorted((c["name"], str(c["type"]), c["nullable"], c["default"]) for c in found.get_columns(table.name)),
                sorted(str(sorted(i.items())) for i in found.get_indexes(table.name)),
                sorted(str(sorted(u.items())) for u in found.get_unique_constraints(table.name)),
                sorted(str(sorted(f.items())) for f in found.get_foreign_keys(table.name)),
                sorted(str(sorted(c.items())) for c in found.get_check_constraints(table.name)),
                found.get_pk_constraint(table.name),
                [] if table.name == NOTED else sorted(map(repr, connection.execute(sa.select(table)))),
            )
            for table in tables.sorted_tables
        }


def main(url: str, undisturbed: str, revision: str | None, stride: int) -> None:
    """Kill at each `stride`-th change, before and after it in turn."""
    for one in (url, undisturbed):
        prepare(one, revision)
    open_in_child(undisturbed, None, after=False)
    atomic = not url.startswith("mysql")
    kills: Counter[str] = Counter()
    state, wanted, after = progress(url), stride, False
    while (killed := open_in_child(url, wanted, after=after)) is not None:
        now = progress(url)
        kills["after " + (str(state[-1]) if killed == "start" and state[-1] else killed)] += 1
        moved = now != state
        assert not atomic or not moved, f"killed at {wanted}: {state} became {now}"
        if stride == 1 and not after and not moved:
            after = True
        else:
            wanted, after = (stride if moved else wanted + stride), stride > 1 and not after
        state = now
    assert contents(url) == contents(undisturbed)
    json.dump(kills, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] or None, int(sys.argv[4]))
