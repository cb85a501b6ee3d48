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

IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")
LONG_BYTES = sa.LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
OPTIONS: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}

DELIVERY_INDICES = (
    ("ix_notify_deliveries_state_next_ms", ["state", "next_ms"]),
    ("ix_notify_deliveries_order_hash_seq", ["order_hash", "seq"]),
    ("ix_notify_deliveries_receiver_integration_state", ["receiver", "integration", "state"]),
    ("ix_notify_deliveries_created_ms", ["created_ms"]),
)


def upgrade() -> None:
    gate = _create_groups()
    _create_silences()
    _create_deliveries()
    # After all changes of tables: then it is one transaction with the revision's number, on every database.
    op.bulk_insert(gate, [{"id": 1, "turns": 0, "token": "", "routed_by": "", "silences": 0}])


def downgrade() -> None:
    _drop_deliveries()
    _drop_silences()
    _drop_groups()


def _number(name: str, *, nullable: bool) -> "sa.Column[float]":
    return sa.Column(name, sa.Double(), nullable=nullable)


# Groups of alerts (dispatch) ------------------------------------------------------------------------------------------


def _create_groups() -> sa.Table:
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
    return gate


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
    op.create_table(
        "notify_deliveries",
        sa.Column("seq", IDENTITY, nullable=False, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("receiver", sa.String(200), nullable=False),
        sa.Column("integration", sa.String(60), nullable=False),
        sa.Column("order_hash", sa.String(32), nullable=False),
        sa.Column("order_key", LONG_TEXT, nullable=False),
        sa.Column("subject", sa.String(500), nullable=False),
        sa.Column("document", LONG_BYTES, nullable=False),
        sa.Column("alert_keys", LONG_BYTES, nullable=False),
        sa.Column("firing", sa.Integer(), nullable=False),
        sa.Column("resolved", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("reason", sa.String(1000), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("delivered_ms", sa.BigInteger(), nullable=True),
        sa.Column("next_ms", sa.BigInteger(), nullable=False),
        sa.Column("delay_ms", sa.BigInteger(), nullable=False),
        sa.Column("early", sa.Boolean(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("claim", sa.String(64), nullable=False),
        sa.Column("last_status", sa.Integer(), nullable=True),
        _number("last_seconds", nullable=True),
        sa.PrimaryKeyConstraint("seq", name="pk_notify_deliveries"),
        sa.UniqueConstraint("id", name="uq_notify_deliveries_id"),
        sqlite_autoincrement=True,
        **OPTIONS,
    )
    for name, columns in DELIVERY_INDICES:
        op.create_index(name, "notify_deliveries", columns)
    op.create_table(
        "notify_attempts",
        sa.Column("delivery_seq", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        _number("seconds", nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("error", sa.String(1000), nullable=False),
        sa.Column("response", LONG_TEXT, nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("delivery_seq", "number", name="pk_notify_attempts"),
        **OPTIONS,
    )
    op.create_table(
        "notify_integrations",
        sa.Column("receiver", sa.String(200), nullable=False),
        sa.Column("integration", sa.String(60), nullable=False),
        sa.Column("disabled_ms", sa.BigInteger(), nullable=True),
        sa.Column("disabled_target", sa.String(64), nullable=False),
        sa.Column("last_success_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_failure_ms", sa.BigInteger(), nullable=True),
        sa.Column("failing", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(1000), nullable=False),
        sa.PrimaryKeyConstraint("receiver", "integration", name="pk_notify_integrations"),
        **OPTIONS,
    )


def _drop_deliveries() -> None:
    for table in ("notify_integrations", "notify_attempts", "notify_deliveries"):
        op.drop_table(table)
