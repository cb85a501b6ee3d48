"""Actions of reviews, and what later runs say of them.

Revision: 0013
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGTEXT

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    op.create_table(
        "review_actions",
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("action_id", sa.String(16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", LONG_TEXT, nullable=False),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("due", sa.String(10), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("expected", sa.String(200), nullable=False),
        sa.Column("expected_ms", sa.BigInteger(), nullable=False),
        sa.Column("scores", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "action_id", name="pk_review_actions"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_review_actions_run_id", ondelete="CASCADE"),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
    op.create_index("ix_review_actions_state_due", "review_actions", ["state", "due"])
    op.create_index("ix_review_actions_owner", "review_actions", ["owner"])
    op.create_table(
        "action_scores",
        sa.Column("action_run_id", sa.String(40), nullable=False),
        sa.Column("action_id", sa.String(16), nullable=False),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("scored_ms", sa.BigInteger(), nullable=False),
        sa.Column("document", LONG_TEXT, nullable=False),
        sa.PrimaryKeyConstraint("action_run_id", "action_id", "run_id", name="pk_action_scores"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_action_scores_run_id", ondelete="CASCADE"),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
    op.create_index("ix_action_scores_run_id", "action_scores", ["run_id"])


def downgrade() -> None:
    op.drop_table("action_scores")
    op.drop_table("review_actions")
