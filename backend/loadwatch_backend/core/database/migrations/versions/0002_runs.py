"""Runs, what is computed of them, and what people write about them.

Revision: 0002
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")
LONG_BYTES = sa.LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
KEY = sa.String(40)
OPTIONS: dict[str, Any] = {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}


def _run_key(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=f"fk_{table}_run_id", ondelete="CASCADE")


def _texts(*names: str) -> "list[sa.Column[str]]":
    return [sa.Column(name, sa.String(200), nullable=False) for name in names]


def _times(*names: str) -> "list[sa.Column[int]]":
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]


def _optional_times(*names: str) -> "list[sa.Column[int]]":
    return [sa.Column(name, sa.BigInteger(), nullable=True) for name in names]


def _numbers(*names: str) -> "list[sa.Column[float]]":
    return [sa.Column(name, sa.Double(), nullable=True) for name in names]


INDICES = (
    ("ix_runs_scenario_started_ms", ["scenario", "started_ms"]),
    ("ix_runs_state_started_ms", ["state", "started_ms"]),
    *(
        (f"ix_runs_{name}", [name])
        for name in (
            "verdict",
            "tool",
            "commit_id",
            "branch",
            "author",
            "started_ms",
            "ended_ms",
            "settled_ms",
            "created_ms",
            "requests",
            "rate",
            "success_ratio",
            "p95_seconds",
        )
    ),
)


def upgrade() -> None:
    _create_runs()
    _create_lists()
    _create_documents()
    _create_sharing()


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("verdict", sa.String(20), nullable=True),
        *_texts("name", "scenario", "scenario_version", "tool", "commit_id", "branch", "author", "host"),
        sa.Column("dirty", sa.Boolean(), nullable=True),
        *_numbers("target_rate", "target_duration_seconds", "steady_from", "steady_to"),
        *_times("started_ms", "sender_started_ms", "seen_ms", "created_ms", "updated_ms"),
        *_optional_times("ended_ms", "sender_ended_ms", "skew_ms", "skew_end_ms", "settled_ms", "requests"),
        *_numbers("rate", "success_ratio", "p95_seconds"),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        *_texts("abort_reason"),
        sa.Column("result_token", KEY, nullable=True),
        sa.Column("sparkline", LONG_TEXT, nullable=False),
        sa.Column("progress", LONG_TEXT, nullable=True),
        sa.Column("details", LONG_TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        **OPTIONS,
    )
    for name, columns in INDICES:
        op.create_index(name, "runs", columns)


def _create_lists() -> None:
    op.create_table(
        "run_tags",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("tag", sa.String(50), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "position", name="pk_run_tags"),
        _run_key("run_tags"),
        **OPTIONS,
    )
    op.create_index("ix_run_tags_tag", "run_tags", ["tag"])
    op.create_table(
        "run_parameters",
        sa.Column("run_id", KEY, nullable=False),
        *_texts("name", "value"),
        sa.PrimaryKeyConstraint("run_id", "name", name="pk_run_parameters"),
        _run_key("run_parameters"),
        **OPTIONS,
    )
    op.create_table(
        "run_baselines",
        *_texts("scenario"),
        sa.Column("run_id", KEY, nullable=False),
        sa.PrimaryKeyConstraint("scenario", name="pk_run_baselines"),
        _run_key("run_baselines"),
        **OPTIONS,
    )
    op.create_index("ix_run_baselines_run_id", "run_baselines", ["run_id"])


def _create_documents() -> None:
    op.create_table(
        "run_analyses",
        sa.Column("run_id", KEY, nullable=False),
        *_times("analysed_ms"),
        sa.Column("document", LONG_BYTES, nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_run_analyses"),
        _run_key("run_analyses"),
        **OPTIONS,
    )
    op.create_table(
        "run_snapshots",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("taken", sa.String(20), nullable=False),
        *_times("at_ms"),
        sa.Column("document", LONG_BYTES, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "taken", name="pk_run_snapshots"),
        _run_key("run_snapshots"),
        **OPTIONS,
    )
    op.create_table(
        "run_reviews",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False, autoincrement=False),
        *_texts("author"),
        *_times("updated_ms"),
        sa.Column("document", LONG_TEXT, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "version", name="pk_run_reviews"),
        _run_key("run_reviews"),
        **OPTIONS,
    )


def _create_sharing() -> None:
    op.create_table(
        "run_shares",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        *_texts("note"),
        *_times("created_ms", "expires_ms"),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_run_shares"),
        sa.UniqueConstraint("secret_hash", name="uq_run_shares_secret_hash"),
        _run_key("run_shares"),
        **OPTIONS,
    )
    op.create_index("ix_run_shares_run_id", "run_shares", ["run_id"])
    op.create_index("ix_run_shares_expires_ms", "run_shares", ["expires_ms"])
    op.create_table(
        "run_meetings",
        sa.Column("id", IDENTITY, nullable=False, autoincrement=True),
        *_optional_times("since_ms"),
        *_times("ended_ms"),
        sa.Column("attendees", LONG_TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_run_meetings"),
        sqlite_autoincrement=True,
        **OPTIONS,
    )
    op.create_index("ix_run_meetings_ended_ms", "run_meetings", ["ended_ms"])


def downgrade() -> None:
    for table in ("run_meetings", "run_shares", "run_reviews", "run_snapshots", "run_analyses", "run_baselines"):
        op.drop_table(table)
    for table in ("run_parameters", "run_tags", "runs"):
        op.drop_table(table)
