"""The messages of running turns, and the turn that is to be given up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table and the column."""
    op.create_table(
        "running_turns",
        sa.Column("tenant", sa.String(200), primary_key=True),
        sa.Column(
            "session_id",
            sa.String(200),
            sa.ForeignKey("sessions.session_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("asked", sa.String(32), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
    )
    op.add_column("sessions", sa.Column("unwanted_fence", sa.Integer))


def downgrade() -> None:
    """Drop both."""
    op.drop_column("sessions", "unwanted_fence")
    op.drop_table("running_turns")
