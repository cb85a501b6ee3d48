"""Run by Alembic: applies the versions on the connection that `relational.migrate` hands over."""

from alembic import context
from loadwatch_backend.store.relational import Base

connection = context.config.attributes["connection"]
# SQLite cannot alter a column in place; batch mode copies the table.
context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
