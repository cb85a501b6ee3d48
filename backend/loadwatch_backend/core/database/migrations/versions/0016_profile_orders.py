"""Profiles that are ordered of processes, and what became of each.

Revision: 0016
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OPTIONS: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def upgrade() -> None:
    op.create_table(
        "profile_orders",
        sa.Column("id", IDENTITY, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("job", sa.String(200), nullable=False),
        sa.Column("instance", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.Column("cause", sa.String(10), nullable=False),
        sa.Column("cause_id", sa.String(40), nullable=False),
        sa.Column("asked_by", sa.String(200), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("taken_ms", sa.BigInteger(), nullable=True),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.String(600), nullable=False),
        sa.Column("file_id", sa.String(40), nullable=False),
        sqlite_autoincrement=True,
        **OPTIONS,
    )
    op.create_index("ix_profile_orders_run_id", "profile_orders", ["run_id"])
    op.create_index("ix_profile_orders_state", "profile_orders", ["state"])
    op.create_index("ix_profile_orders_created_ms", "profile_orders", ["created_ms"])


def downgrade() -> None:
    op.drop_table("profile_orders")
