"""Alerts with one cause are one incident.

Revision: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("alert_episodes", sa.Column("incident", sa.String(32), nullable=True))
    op.create_index("ix_alert_episodes_incident", "alert_episodes", ["incident"])


def downgrade() -> None:
    op.drop_index("ix_alert_episodes_incident", "alert_episodes")
    op.drop_column("alert_episodes", "incident")
