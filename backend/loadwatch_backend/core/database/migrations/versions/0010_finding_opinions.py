"""What people say of findings: confirmed, rejected, muted.

Revision: 0010
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGTEXT

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.create_table(
        "finding_opinions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, autoincrement=True),
        sa.Column("run_id", sa.String(40), nullable=True),
        sa.Column("opinion", sa.String(20), nullable=False),
        sa.Column("finding_id", sa.String(64), nullable=False),
        sa.Column("finding_key", LONG_TEXT, nullable=False),
        sa.Column("labels", LONG_TEXT, nullable=False),
        sa.Column("reason", LONG_TEXT, nullable=False),
        sa.Column("author", sa.String(100), nullable=False),
        sa.Column("said_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_finding_opinions"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_finding_opinions_run_id", ondelete="CASCADE"),
        sqlite_autoincrement=True,
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
    op.create_index("ix_finding_opinions_run_id", "finding_opinions", ["run_id"])
    op.create_index("ix_finding_opinions_finding_id", "finding_opinions", ["finding_id"])


def downgrade() -> None:
    op.drop_table("finding_opinions")
