"""The lease of a session: which turn may write, and until when."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the lease; every session is free."""
    op.add_column(
        "sessions", sa.Column("fence", sa.Integer, nullable=False, server_default=sa.text("0"))
    )
    op.add_column("sessions", sa.Column("lease_until", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Drop the lease."""
    op.drop_column("sessions", "lease_until")
    op.drop_column("sessions", "fence")
