"""Review meetings about one scenario.

Revision: 0018
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run_meetings", sa.Column("scenario", sa.String(200), nullable=True))


def downgrade() -> None:
    op.drop_column("run_meetings", "scenario")
