"""Pages of sessions, and of turns, that cost the same, however many there are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_BY_TURN = (
    ("audit", "audit_by_session", "audit_by_turn"),
    ("validation_audit", "checks_by_session", "checks_by_turn"),
    ("field_attempts", "", "attempts_by_turn"),
)
_LIVE = sa.text("status != 'expired'")


def upgrade() -> None:
    """Index sessions by their status, those apart that have not expired, and rows by turn."""
    op.create_index("sessions_by_status", "sessions", ["journey_id", "status", "updated_at"])
    op.create_index(
        "sessions_live",
        "sessions",
        ["journey_id", "updated_at"],
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    )
    for table, before, index in _BY_TURN:
        if before:
            op.drop_index(before, table)
        op.create_index(index, table, ["session_id", "turn", "id"])


def downgrade() -> None:
    """Bring the indexes of before back."""
    for table, before, index in _BY_TURN:
        op.drop_index(index, table)
        if before:
            op.create_index(before, table, ["session_id", "id"])
    op.drop_index("sessions_live", "sessions")
    op.drop_index("sessions_by_status", "sessions")
