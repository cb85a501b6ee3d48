"""Alerts: episodes, their changes, the evaluator's place, and who leads among several servers.

Revision: 0003
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGTEXT

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")
KEY = sa.String(32)
OPTIONS: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def upgrade() -> None:
    _create_leaderships()
    _create_episodes()
    _create_transitions()
    _create_requests()


def downgrade() -> None:
    for table in ("alert_requests", "alert_evaluations", "alert_transitions", "alert_episodes", "leaderships"):
        op.drop_table(table)


def _number(name: str) -> "sa.Column[float]":
    return sa.Column(name, sa.Double(), nullable=True)


def _create_leaderships() -> None:
    op.create_table(
        "leaderships",
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("holder", sa.String(64), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("beat", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leaderships"),
        **OPTIONS,
    )


def _create_episodes() -> None:
    def time(name: str, *, nullable: bool = True) -> "sa.Column[int]":
        return sa.Column(name, sa.BigInteger(), nullable=nullable)

    def text(name: str) -> "sa.Column[str]":
        return sa.Column(name, LONG_TEXT, nullable=False)

    op.create_table(
        "alert_episodes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("identity", KEY, nullable=False),
        sa.Column("rule_id", sa.String(64), nullable=False),
        text("rule"),
        text("source"),
        text("labels"),
        text("annotations"),
        text("words"),
        sa.Column("state", sa.String(10), nullable=False),
        _number("value"),
        time("active_ms", nullable=False),
        time("held_from_ms", nullable=False),
        time("fired_ms"),
        time("false_since_ms"),
        sa.Column("flapping", sa.Boolean(), nullable=False),
        time("swung_ms"),
        time("no_data_since_ms"),
        time("resolved_ms"),
        sa.Column("resolved_reason", sa.String(20), nullable=True),
        time("evaluated_ms", nullable=False),
        sa.Column("run_id", sa.String(40), nullable=True),
        sa.Column("run_name", sa.String(200), nullable=False),
        sa.Column("acknowledged_by", sa.String(200), nullable=True),
        time("acknowledged_ms"),
        text("acknowledged_comment"),
        sa.PrimaryKeyConstraint("id", name="pk_alert_episodes"),
        **OPTIONS,
    )
    for columns in (["state", "resolved_ms"], ["active_ms"], ["identity", "active_ms"], ["run_id"]):
        op.create_index(f"ix_alert_episodes_{'_'.join(columns)}", "alert_episodes", columns)


def _create_transitions() -> None:
    op.create_table(
        "alert_transitions",
        sa.Column("id", IDENTITY, primary_key=True, autoincrement=True),
        sa.Column("alert_id", KEY, nullable=False),
        sa.Column("from_state", sa.String(10), nullable=True),
        sa.Column("to_state", sa.String(10), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        _number("value"),
        sa.Column("reason", sa.String(40), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alert_transitions"),
        sa.ForeignKeyConstraint(
            ["alert_id"], ["alert_episodes.id"], name="fk_alert_transitions_alert_id", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
        **OPTIONS,
    )
    op.create_index("ix_alert_transitions_alert_id", "alert_transitions", ["alert_id"])
    op.create_index("ix_alert_transitions_at_ms", "alert_transitions", ["at_ms"])


def _create_requests() -> None:
    op.create_table(
        "alert_evaluations",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("evaluated_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alert_evaluations"),
        **OPTIONS,
    )
    op.create_table(
        "alert_requests",
        sa.Column("id", IDENTITY, primary_key=True, autoincrement=True),
        sa.Column("alert_id", KEY, nullable=False),
        sa.Column("asked_by", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alert_requests"),
        sqlite_autoincrement=True,
        **OPTIONS,
    )
