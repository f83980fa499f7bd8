"""Receipts of deleted users."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_TENANT = "coalesce(nullif(current_setting('journeygraph.tenant', true), ''), 'default')"


def upgrade() -> None:
    """Create the table, and fence the rows of each tenant."""
    op.create_table(
        "receipts",
        sa.Column(
            "tenant", sa.String(200), primary_key=True, nullable=False, server_default="default"
        ),
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("salt", sa.String(32), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("asked_by", sa.String(200), nullable=False),
        sa.Column("begun_at", sa.String(32), nullable=False),
        sa.Column("sessions", sa.Integer, nullable=False),
        sa.Column("keys", sa.Integer, nullable=False),
        sa.Column("ended_at", sa.String(32)),
        sa.Column("number", sa.Integer),
        sa.Column("root", sa.String(64)),
    )
    op.create_index("receipts_by_number", "receipts", ["tenant", "number"], unique=True)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE receipts ENABLE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE receipts FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY of_tenant ON receipts USING ({_TENANT} IN (tenant, '*'))")


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("receipts")
