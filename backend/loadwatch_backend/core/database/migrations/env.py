"""Run by Alembic: applies the versions on the connection that `migrate.upgrade` hands over."""

from alembic import context

# Its classes take the place of Alembic's own, which are found by the names of their dialects.
from loadwatch_backend.core.database.migrations import restartable  # noqa: F401  # pyright: ignore[reportUnusedImport] - see above
from loadwatch_backend.core.database.relational import Base

connection = context.config.attributes["connection"]
# SQLite cannot alter a column in place; batch mode copies the table.
context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
