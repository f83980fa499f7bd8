"""Sessions in a pathway, a page of which costs the same, however many there are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_LIVE = sa.text("status != 'expired'")


def upgrade() -> None:
    """Index the sessions that have not expired by their pathway."""
    op.create_index(
        "sessions_by_pathway",
        "sessions",
        ["journey_id", "pathway_id", "updated_at"],
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    )


def downgrade() -> None:
    """Drop the index."""
    op.drop_index("sessions_by_pathway", "sessions")
