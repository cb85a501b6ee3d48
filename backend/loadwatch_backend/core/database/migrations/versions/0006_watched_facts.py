"""What was last known of discovered resources.

Revision: 0006
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

KEY = sa.String(40)
OPTIONS: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def upgrade() -> None:
    op.create_table(
        "watched_facts",
        sa.Column("resource", KEY, nullable=False),
        sa.Column("source", KEY, nullable=False),
        sa.Column("metric", sa.String(100), nullable=False),
        sa.Column("place", KEY, nullable=False),
        sa.Column("title", sa.String(300), nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("tags", sa.String(100), nullable=False),
        sa.Column("changed_ms", sa.BigInteger(), nullable=False),
        sa.Column("seen_ms", sa.BigInteger(), nullable=False),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("resource", "source", name=op.f("pk_watched_facts")),
        **OPTIONS,
    )
    op.create_index(op.f("ix_watched_facts_seen_ms"), "watched_facts", ["seen_ms"])
    op.create_table(
        "watched_places",
        sa.Column("place", KEY, nullable=False),
        sa.Column("first_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_watched_places")),
        **OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("watched_places")
    op.drop_table("watched_facts")
