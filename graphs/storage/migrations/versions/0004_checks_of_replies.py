"""Checks of replies, checks to review, and the flags of a turn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NAME = sa.String(200)


def upgrade() -> None:
    """Create the table and add the flags; no reply was checked yet, and no turn has a flag."""
    op.add_column("turns", sa.Column("flags", sa.Text, nullable=False, server_default="[]"))
    op.create_table(
        "validation_audit",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("session_id", _NAME, sa.ForeignKey("sessions.session_id", ondelete="CASCADE")),
        sa.Column("journey_id", _NAME, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("pathway_id", _NAME, nullable=False),
        sa.Column("is_valid", sa.Boolean, nullable=False),
        sa.Column("violations", sa.Text, nullable=False),
        sa.Column("confidence", sa.Float),
        sa.Column("latency_ms", sa.Float, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("bypassed", sa.Boolean, nullable=False),
        sa.Column("review", sa.Boolean, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )
    op.create_index("checks_by_session", "validation_audit", ["session_id", "id"])
    op.create_index("checks_to_review", "validation_audit", ["journey_id", "review", "id"])


def downgrade() -> None:
    """Drop both."""
    op.drop_column("turns", "flags")
    op.drop_table("validation_audit")
