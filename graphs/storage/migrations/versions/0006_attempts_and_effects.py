"""Every attempt at a field, and which steps of a session were taken, so that none is twice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_NAME = sa.String(200)
_TIME = sa.String(32)


def upgrade() -> None:
    """Create both tables; nothing was collected yet, and no step was taken."""
    op.create_table(
        "field_attempts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("session_id", _NAME, sa.ForeignKey("sessions.session_id", ondelete="CASCADE")),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("field", _NAME, nullable=False),
        sa.Column("value", sa.Text),
        sa.Column("raw", sa.Text),
        sa.Column("confidence", sa.Float, nullable=False),
        sa.Column("validation_status", sa.String(16), nullable=False),
        sa.Column("source", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("at", _TIME, nullable=False),
    )
    op.create_index("attempts_by_field", "field_attempts", ["session_id", "field", "id"])
    op.create_table(
        "effects",
        sa.Column(
            "session_id",
            _NAME,
            sa.ForeignKey("sessions.session_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("step", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("begun_at", _TIME, nullable=False),
        sa.Column("ended_at", _TIME),
    )


def downgrade() -> None:
    """Drop both tables."""
    for table in ("effects", "field_attempts"):
        op.drop_table(table)
