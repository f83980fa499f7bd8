"""Calls of models of a turn, and their cost in tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_COUNTS = ("model_calls", "input_tokens", "output_tokens")


def upgrade() -> None:
    """Add the counts; turns so far asked no model."""
    for name in _COUNTS:
        op.add_column(
            "turns", sa.Column(name, sa.Integer, nullable=False, server_default=sa.text("0"))
        )


def downgrade() -> None:
    """Drop the counts."""
    for name in _COUNTS:
        op.drop_column("turns", name)
