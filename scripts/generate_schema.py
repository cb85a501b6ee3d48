"""Writes `schema.sql`: the tables, and the rows in them, that all revisions together make in a new SQLite file."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from loadwatch_backend.core.database.migrate import upgrade
from loadwatch_backend.core.database.relational import SCHEMA_HISTORY
from loadwatch_backend.core.database.revision import MIGRATIONS


def schema() -> str:
    """The statements, each ended by a semicolon at the end of a line. Who made the tables, and when, is left open."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.sqlite"
        upgrade(sa.URL.create("sqlite", database=str(path)), SCHEMA_HISTORY)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TEMP TABLE revisions AS SELECT revision FROM schema_history ORDER BY revision")
            connection.execute("DELETE FROM schema_history")
            lines = [line for line in connection.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;")]
            lines += [
                f"INSERT INTO \"schema_history\" VALUES('{revision}', :loadwatch, :begun_ms);"
                for (revision,) in connection.execute("SELECT revision FROM revisions")
            ]
    return "\n".join(line for line in lines if "sqlite_sequence" not in line) + "\n"


if __name__ == "__main__":
    (MIGRATIONS / "schema.sql").write_text(schema())
