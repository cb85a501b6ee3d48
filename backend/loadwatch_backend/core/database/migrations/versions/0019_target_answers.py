"""Whether a target that stopped sending was taken away, as people answer.

Revision: 0019
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGTEXT

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.create_table(
        "target_answers",
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("job", LONG_TEXT, nullable=False),
        sa.Column("instance", LONG_TEXT, nullable=False),
        sa.Column("taken_away", sa.Boolean(), nullable=False),
        sa.Column("answered_by", sa.String(200), nullable=False),
        sa.Column("answered_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_target_answers"),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )


def downgrade() -> None:
    op.drop_table("target_answers")
