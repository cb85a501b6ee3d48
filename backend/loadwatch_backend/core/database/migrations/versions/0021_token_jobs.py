"""The jobs that an agent's token is limited to, separated by line feeds.

Revision: 0021
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("api_tokens", sa.Column("jobs", sa.String(2_000), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("api_tokens", "jobs")
