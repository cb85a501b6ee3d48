"""Notifications: groups of alerts, silences, and deliveries.

Revision: 0004
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")
LONG_BYTES = sa.LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
OPTIONS: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def upgrade() -> None:
    _create_groups()
    _create_silences()
    _create_deliveries()


def downgrade() -> None:
    _drop_deliveries()
    _drop_silences()
    _drop_groups()


# Groups of alerts (dispatch) ------------------------------------------------------------------------------------------


def _create_groups() -> None:
    gate = op.create_table(
        "notify_gate",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("turns", sa.BigInteger(), nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("routed_by", sa.String(32), nullable=False),
        sa.Column("silences", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notify_gate"),
        **OPTIONS,
    )
    op.bulk_insert(gate, [{"id": 1, "turns": 0, "token": "", "routed_by": "", "silences": 0}])
    op.create_table(
        "notify_alerts",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("fingerprint", sa.String(16), nullable=False),
        sa.Column("labels", LONG_TEXT, nullable=False),
        sa.Column("annotations", LONG_TEXT, nullable=False),
        sa.Column("starts_ms", sa.BigInteger(), nullable=False),
        sa.Column("ends_ms", sa.BigInteger(), nullable=True),
        sa.Column("generator_url", LONG_TEXT, nullable=False),
        sa.Column("acknowledged", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_notify_alerts"),
        **OPTIONS,
    )
    op.create_table(
        "notify_groups",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("route", sa.String(200), nullable=False),
        sa.Column("group_key", LONG_TEXT, nullable=False),
        sa.Column("labels", LONG_TEXT, nullable=False),
        sa.Column("flushed_ms", sa.BigInteger(), nullable=True),
        sa.Column("due_ms", sa.BigInteger(), nullable=True),
        sa.Column("delay_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notify_groups"),
        **OPTIONS,
    )
    op.create_index("ix_notify_groups_due_ms", "notify_groups", ["due_ms"])
    op.create_table(
        "notify_members",
        sa.Column("group_id", sa.String(32), nullable=False),
        sa.Column("alert_key", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("group_id", "alert_key", name="pk_notify_members"),
        **OPTIONS,
    )
    op.create_index("ix_notify_members_alert_key", "notify_members", ["alert_key"])
    op.create_table(
        "notify_told",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("sent_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("alerts", LONG_BYTES, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notify_told"),
        **OPTIONS,
    )
    op.create_index("ix_notify_told_expires_ms", "notify_told", ["expires_ms"])


def _drop_groups() -> None:
    for table in ("notify_told", "notify_members", "notify_groups", "notify_alerts", "notify_gate"):
        op.drop_table(table)


# Silences -------------------------------------------------------------------------------------------------------------


def _create_silences() -> None:
    op.create_table(
        "silences",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("matchers", LONG_TEXT, nullable=False),
        sa.Column("starts_ms", sa.BigInteger(), nullable=False),
        sa.Column("ends_ms", sa.BigInteger(), nullable=False),
        sa.Column("comment", LONG_TEXT, nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("recurrence", LONG_TEXT, nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_silences"),
        **OPTIONS,
    )
    op.create_index("ix_silences_ends_ms", "silences", ["ends_ms"])


def _drop_silences() -> None:
    op.drop_table("silences")


# Deliveries (outbox) --------------------------------------------------------------------------------------------------


def _create_deliveries() -> None:
    pass


def _drop_deliveries() -> None:
    pass
