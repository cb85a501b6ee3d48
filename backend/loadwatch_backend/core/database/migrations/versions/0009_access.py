"""Where a user's role comes from, and sessions made from tokens of the token file.

Revision: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("role_source", sa.String(20), nullable=False, server_default="unknown"))
    op.add_column("user_sessions", sa.Column("file_token", sa.String(64), nullable=True))
    op.execute("UPDATE users SET role_source = 'hand' WHERE source = 'password'")


def downgrade() -> None:
    op.drop_column("user_sessions", "file_token")
    op.drop_column("users", "role_source")
