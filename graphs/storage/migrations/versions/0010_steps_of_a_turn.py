"""Decision and steps of a turn, with their times and tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of turns so far, no steps are known."""
    op.add_column("turns", sa.Column("trail", sa.Text))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("turns", "trail")
