"""Hash chains of ledger, audit and checks; tombstones; anchors of all heads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_ENDS = ("chain", "late", "late_chain")


def _hashes() -> list[sa.Column[str] | sa.Column[int]]:
    return [
        sa.Column("chain", sa.String(64), nullable=False, server_default=""),
        sa.Column("late", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("late_chain", sa.String(64), nullable=False, server_default=""),
    ]


def _of_session() -> list[sa.Column[str]]:
    return [
        sa.Column("tenant", sa.String(200), primary_key=True),
        sa.Column("session_id", sa.String(200), primary_key=True),
        sa.Column("created_at", sa.String(32), primary_key=True),
    ]


def upgrade() -> None:
    """Add the columns and create the tables."""
    for column in _hashes():
        op.add_column("sessions", column)
    op.add_column("turns", sa.Column("link", sa.Text))
    op.create_table(
        "late_links",
        sa.Column("tenant", sa.String(200), primary_key=True),
        sa.Column(
            "session_id",
            sa.String(200),
            sa.ForeignKey("sessions.session_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("link", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_table(
        "tombstones",
        *_of_session(),
        sa.Column("reason", sa.String(16), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        *_hashes(),
    )
    op.create_table(
        "anchors",
        sa.Column("tenant", sa.String(200), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("heads", sa.String(64), nullable=False),
        sa.Column("root", sa.String(64), nullable=False),
    )
    op.create_table(
        "anchored_heads",
        *_of_session(),
        sa.Column("version", sa.Integer, nullable=False),
        *_hashes(),
    )


def downgrade() -> None:
    """Drop the tables and the columns."""
    for table in ("anchored_heads", "anchors", "tombstones", "late_links"):
        op.drop_table(table)
    op.drop_column("turns", "link")
    for name in _ENDS:
        op.drop_column("sessions", name)
