"""Calls for a person: who has a conversation, and whether it was handed to a webhook."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_NAME = sa.String(200)
_TIME = sa.String(32)


def upgrade() -> None:
    """Create the table; there are no escalations yet."""
    op.create_table(
        "escalations",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("session_id", _NAME, sa.ForeignKey("sessions.session_id", ondelete="CASCADE")),
        sa.Column("journey_id", _NAME, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("claimed_by", _NAME),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.Column("unclaimed_at", _TIME, nullable=False),
        sa.Column("delivered_at", _TIME),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("next_try_at", _TIME, nullable=False),
    )
    op.create_index("escalations_by_id", "escalations", ["id"], unique=True)
    op.create_index("escalations_by_session", "escalations", ["session_id"])
    op.create_index("escalations_to_take", "escalations", ["journey_id", "status", "number"])
    op.create_index(
        "escalations_to_deliver", "escalations", ["status", "delivered_at", "next_try_at"]
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("escalations")
