"""Rows that a server writes and reads back; sessions by their time of expiry."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0012"
branch_labels = None
depends_on = None

_LIVE = sa.text("status != 'expired'")


def upgrade() -> None:
    """Create the table and the index."""
    op.create_table(
        "probes",
        sa.Column("tenant", sa.String(200), primary_key=True),
        sa.Column("process", sa.String(36), primary_key=True),
        sa.Column("at", sa.String(32), nullable=False),
    )
    op.create_index(
        "sessions_to_expire",
        "sessions",
        ["journey_id", "expires_at"],
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    )


def downgrade() -> None:
    """Drop the index and the table."""
    op.drop_index("sessions_to_expire", "sessions")
    op.drop_table("probes")
