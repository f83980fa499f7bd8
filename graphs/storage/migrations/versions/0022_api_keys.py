"""API keys, and the owners of sessions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0020"
branch_labels = None
depends_on = None

_OWNED = sa.text("user_id IS NOT NULL")


def upgrade() -> None:
    """Create the table, and add the column with its index."""
    op.create_table(
        "api_keys",
        sa.Column("tenant", sa.String(200), primary_key=True),
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("scopes", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(200)),
        sa.Column("session_id", sa.String(200)),
        sa.Column("made_by", sa.String(16)),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("expires_at", sa.String(32)),
        sa.Column("revoked_at", sa.String(32)),
        sa.Column("replaced_by", sa.String(16)),
    )
    op.create_index("api_keys_by_id", "api_keys", ["id"], unique=True)
    op.create_index("api_keys_by_expiry", "api_keys", ["expires_at"])
    op.add_column("sessions", sa.Column("user_id", sa.String(200)))
    op.create_index(
        "sessions_by_user",
        "sessions",
        ["user_id", "updated_at"],
        sqlite_where=_OWNED,
        postgresql_where=_OWNED,
    )


def downgrade() -> None:
    """Drop the column and the table."""
    op.drop_index("sessions_by_user", "sessions")
    op.drop_column("sessions", "user_id")
    op.drop_table("api_keys")
