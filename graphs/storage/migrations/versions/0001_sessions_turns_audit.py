"""Sessions, the ledger of their turns, and the audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TIME = sa.String(32)
_NAME = sa.String(200)


def upgrade() -> None:
    """Create the three tables."""
    op.create_table(
        "sessions",
        sa.Column("session_id", _NAME, primary_key=True),
        sa.Column("journey_id", _NAME, nullable=False),
        sa.Column("journey_version", _NAME, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("pathway_id", _NAME, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
    )
    op.create_index("sessions_by_journey", "sessions", ["journey_id", "updated_at"])
    op.create_index("sessions_by_expiry", "sessions", ["status", "expires_at"])
    session = ("sessions.session_id",)
    op.create_table(
        "turns",
        sa.Column(
            "session_id", _NAME, sa.ForeignKey(*session, ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("checkpoint_id", _NAME, nullable=False),
        sa.Column("rolled_back_to", sa.Integer),
        sa.Column("pathway_id", _NAME, nullable=False),
        sa.Column("message", sa.Text),
        sa.Column("reply", sa.Text),
        sa.Column("operations", sa.Text, nullable=False),
        sa.Column("begun_at", _TIME, nullable=False),
        sa.Column("at", _TIME, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("session_id", _NAME, sa.ForeignKey(*session, ondelete="CASCADE")),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("from_pathway", _NAME),
        sa.Column("to_pathway", _NAME),
        sa.Column("trigger", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("confidence", sa.Float),
        sa.Column("at", _TIME, nullable=False),
    )
    op.create_index("audit_by_session", "audit", ["session_id", "id"])


def downgrade() -> None:
    """Drop the three tables."""
    for table in ("audit", "turns", "sessions"):
        op.drop_table(table)
