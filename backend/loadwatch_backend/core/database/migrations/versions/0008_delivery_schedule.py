"""Deliveries that are tried for as long as their alert fires, and integrations with a schedule of their own.

Revision: 0008
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in (
        sa.Column("refused", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("urgency", sa.Integer(), nullable=False, server_default="1"),
    ):
        op.add_column("notify_deliveries", column)
    for column in _new():
        op.add_column("notify_integrations", column)
    for name in ("disabled_ms", "disabled_target"):
        op.drop_column("notify_integrations", name)


def downgrade() -> None:
    op.add_column("notify_integrations", sa.Column("disabled_ms", sa.BigInteger(), nullable=True))
    op.add_column("notify_integrations", sa.Column("disabled_target", sa.String(64), nullable=False, server_default=""))
    for column in _new():
        op.drop_column("notify_integrations", column.name)
    for name in ("urgency", "refused"):
        op.drop_column("notify_deliveries", name)


def _new() -> "list[sa.Column[Any]]":
    return [
        sa.Column("since_ms", sa.BigInteger(), nullable=True),
        sa.Column("refused", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("target", sa.String(64), nullable=False, server_default=""),
        sa.Column("step", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("next_ms", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("delay_ms", sa.BigInteger(), nullable=False, server_default="0"),
    ]
