"""Files that are kept with a run.

Revision: 0015
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGTEXT

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.create_table(
        "evidence_files",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("media_type", sa.String(100), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("author", sa.String(100), nullable=False),
        sa.Column("note", LONG_TEXT, nullable=False),
        sa.Column("facts", LONG_TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_evidence_files"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_evidence_files_run_id", ondelete="CASCADE"),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
    op.create_index("ix_evidence_files_run_id_kind", "evidence_files", ["run_id", "kind"])


def downgrade() -> None:
    op.drop_table("evidence_files")
