"""Files of a run that a share link shows.

Revision: 0017
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run_shares", sa.Column("files", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("run_shares", "files")
