"""Definitions of journeys, concierges and guidelines, and the epoch that counts changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NAME = sa.String(200)


def upgrade() -> None:
    """Create both tables; there are no definitions yet."""
    op.create_table(
        "definitions",
        sa.Column("tenant", _NAME, primary_key=True),
        sa.Column("id", _NAME, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("dropped", sa.Integer, nullable=False),
        sa.Column("loaded_at", sa.String(32), nullable=False),
    )
    op.create_index("definitions_by_activity", "definitions", ["tenant", "active", "id"])
    op.create_table(
        "definition_epoch",
        sa.Column("tenant", _NAME, primary_key=True),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("dropped", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    """Drop both tables."""
    for table in ("definition_epoch", "definitions"):
        op.drop_table(table)
