"""Data keys of sensitive sessions, wrapped with a key of the settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_ENCRYPTED = sa.text("key_id IS NOT NULL")


def upgrade() -> None:
    """Add the columns; sessions that are encrypted already get an empty key id."""
    op.add_column("sessions", sa.Column("data_key", sa.Text))
    op.add_column("sessions", sa.Column("key_id", sa.String(32)))
    op.execute(
        "UPDATE sessions SET key_id = '' WHERE EXISTS (SELECT 1 FROM turns WHERE "
        "turns.session_id = sessions.session_id AND turns.version = sessions.version "
        "AND substr(turns.operations, 1, 10) = 'aes256gcm:')"
    )
    op.create_index(
        "sessions_by_key",
        "sessions",
        ["journey_id", "key_id", "session_id"],
        sqlite_where=_ENCRYPTED,
        postgresql_where=_ENCRYPTED,
    )


def downgrade() -> None:
    """Drop the columns."""
    op.drop_index("sessions_by_key", "sessions")
    op.drop_column("sessions", "key_id")
    op.drop_column("sessions", "data_key")
