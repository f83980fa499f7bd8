"""Timers of sessions in which the user sends no message."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table and the index by which due timers are found."""
    session = sa.ForeignKey("sessions.session_id", ondelete="CASCADE")
    op.create_table(
        "timers",
        sa.Column("tenant", sa.String(200), primary_key=True),
        sa.Column("session_id", sa.String(200), session, primary_key=True),
        sa.Column("journey_id", sa.String(200), nullable=False),
        sa.Column("timer", sa.Text, nullable=False),
        sa.Column("due_at", sa.String(32), nullable=False),
        sa.Column("since", sa.String(32), nullable=False),
        sa.Column("moved", sa.String(32), nullable=False),
        sa.Column("taken", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("retry_at", sa.String(32)),
    )
    op.create_index("timers_to_take", "timers", ["tenant", "journey_id", "due_at"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("timers")
