"""Users, their sessions, tokens, lock-outs, and who did what.

Revision: 0005
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
KEY = sa.String(40)
HASH = sa.String(64)
SHORT = sa.String(20)
NAME = sa.String(100)
TEXT = sa.String(200)
OPTIONS: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def _times(*names: str, nullable: bool = False) -> "list[sa.Column[int]]":
    return [sa.Column(name, sa.BigInteger(), nullable=nullable) for name in names]


def upgrade() -> None:
    _create_users()
    _create_tokens()
    _create_sessions()
    _create_login()
    _create_audit()


def _create_users() -> None:
    op.create_table(
        "users",
        sa.Column("id", IDENTITY, nullable=False, autoincrement=True),
        sa.Column("name", NAME, nullable=False),
        sa.Column("name_key", NAME, nullable=False),
        sa.Column("full_name", TEXT, nullable=False),
        sa.Column("role", SHORT, nullable=False),
        sa.Column("source", SHORT, nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("password_hash", TEXT, nullable=True),
        sa.Column("external_id", HASH, nullable=True),
        *_times("created_ms"),
        *_times("last_seen_ms", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name_key", name="uq_users_name_key"),
        sa.UniqueConstraint("external_id", name="uq_users_external_id"),
        sqlite_autoincrement=True,
        **OPTIONS,
    )


def _create_tokens() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("token_hash", HASH, nullable=False),
        sa.Column("role", SHORT, nullable=True),
        sa.Column("scopes", TEXT, nullable=False),
        *_times("created_ms"),
        sa.Column("created_by", NAME, nullable=False),
        *_times("last_used_ms", "expires_ms", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.UniqueConstraint("name", name="uq_api_tokens_name"),
        sa.UniqueConstraint("token_hash", name="uq_api_tokens_token_hash"),
        **OPTIONS,
    )


def _create_sessions() -> None:
    op.create_table(
        "user_sessions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("secret_hash", HASH, nullable=False),
        sa.Column("user_id", IDENTITY, nullable=True),
        sa.Column("token_id", KEY, nullable=True),
        *_times("created_ms", "last_seen_ms", "expires_ms"),
        sa.Column("address", NAME, nullable=False),
        sa.Column("browser", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_user_sessions"),
        sa.UniqueConstraint("secret_hash", name="uq_user_sessions_secret_hash"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_user_sessions_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["token_id"], ["api_tokens.id"], name="fk_user_sessions_token_id", ondelete="CASCADE"),
        **OPTIONS,
    )
    for column in ("user_id", "token_id", "expires_ms"):
        op.create_index(f"ix_user_sessions_{column}", "user_sessions", [column])


def _create_login() -> None:
    op.create_table(
        "login_lockouts",
        sa.Column("key_hash", HASH, nullable=False),
        sa.Column("name_hash", HASH, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        *_times("last_failure_ms", "locked_until_ms"),
        sa.PrimaryKeyConstraint("key_hash", name="pk_login_lockouts"),
        **OPTIONS,
    )
    for column in ("name_hash", "last_failure_ms"):
        op.create_index(f"ix_login_lockouts_{column}", "login_lockouts", [column])
    op.create_table(
        "access_setup",
        sa.Column("secret_hash", HASH, nullable=False),
        *_times("expires_ms"),
        sa.PrimaryKeyConstraint("secret_hash", name="pk_access_setup"),
        **OPTIONS,
    )


def _create_audit() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("id", IDENTITY, nullable=False, autoincrement=True),
        *_times("at_ms"),
        sa.Column("actor", NAME, nullable=False),
        sa.Column("actor_kind", SHORT, nullable=True),
        sa.Column("action", NAME, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("outcome", NAME, nullable=False),
        sa.Column("address", NAME, nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entries"),
        sqlite_autoincrement=True,
        **OPTIONS,
    )
    for column in ("at_ms", "actor", "action"):
        op.create_index(f"ix_audit_entries_{column}", "audit_entries", [column])


def downgrade() -> None:
    for table in ("audit_entries", "access_setup", "login_lockouts", "user_sessions", "api_tokens", "users"):
        op.drop_table(table)
