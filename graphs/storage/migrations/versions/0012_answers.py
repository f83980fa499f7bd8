"""Answers to requests with an idempotency key, kept for requests that are sent again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "answers",
        sa.Column("tenant", sa.String(200), primary_key=True),
        sa.Column(
            "session_id",
            sa.String(200),
            sa.ForeignKey("sessions.session_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("at", sa.String(32), nullable=False),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("answers")
