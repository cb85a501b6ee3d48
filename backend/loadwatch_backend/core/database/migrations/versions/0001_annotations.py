"""Annotations and their tags.

Revision: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "annotations",
        sa.Column("id", IDENTITY, primary_key=True, autoincrement=True),
        sa.Column("author", sa.String(100), nullable=False),
        sa.Column("text", sa.String(4000), nullable=False),
        sa.Column("start_ms", sa.BigInteger(), nullable=False),
        sa.Column("end_ms", sa.BigInteger(), nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_annotations"),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        sqlite_autoincrement=True,
    )
    op.create_index("ix_annotations_start_ms", "annotations", ["start_ms"])
    op.create_table(
        "annotation_tags",
        sa.Column("annotation_id", IDENTITY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("tag", sa.String(50), nullable=False),
        sa.PrimaryKeyConstraint("annotation_id", "position", name="pk_annotation_tags"),
        sa.ForeignKeyConstraint(
            ["annotation_id"], ["annotations.id"], name="fk_annotation_tags_annotation_id", ondelete="CASCADE"
        ),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
    op.create_index("ix_annotation_tags_tag", "annotation_tags", ["tag"])


def downgrade() -> None:
    op.drop_table("annotation_tags")
    op.drop_table("annotations")
