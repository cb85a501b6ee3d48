"""Forecasts of capacity, as they were shown.

Revision: 0011
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGTEXT

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.create_table(
        "forecasts",
        sa.Column("id", IDENTITY, primary_key=True, autoincrement=True),
        sa.Column("scenario", sa.String(200), nullable=False),
        sa.Column("scenario_version", sa.String(200), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("newest_ms", sa.BigInteger(), nullable=False),
        sa.Column("document", LONG_TEXT, nullable=False),
        sa.Column("scores", LONG_TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_forecasts"),
        sa.UniqueConstraint("digest", name="uq_forecasts_digest"),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        sqlite_autoincrement=True,
    )
    op.create_index("ix_forecasts_scenario_scenario_version", "forecasts", ["scenario", "scenario_version"])


def downgrade() -> None:
    op.drop_table("forecasts")
