"""The commit and the issue behind what an annotation notes.

Revision: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("annotations", sa.Column("commit", sa.String(100), nullable=False, server_default=""))
    op.add_column("annotations", sa.Column("issue", sa.String(200), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("annotations", "issue")
    op.drop_column("annotations", "commit")
