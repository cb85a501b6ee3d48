"""Which version of Loadwatch made which revision of the tables.

Revision: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "schema_history",
        sa.Column("revision", sa.String(32), nullable=False),
        sa.Column("loadwatch", sa.String(40), nullable=False),
        sa.Column("begun_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("revision", name="pk_schema_history"),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )


def downgrade() -> None:
    op.drop_table("schema_history")
