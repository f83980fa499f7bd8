"""Versions of definitions that their sessions continue in, and the oldest release that fits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, and create the table with the range of releases."""
    served = sa.Column("served", sa.Boolean, nullable=False, server_default=sa.true())
    op.add_column("definitions", served)
    op.add_column("definitions", sa.Column("journey_version", sa.String(200)))
    op.execute("UPDATE definitions SET served = active")
    range_of_releases = op.create_table(
        "journeygraph_range",
        sa.Column("oldest", sa.String(32), primary_key=True),
    )
    # A release before this one does not know of the range.
    op.bulk_insert(range_of_releases, [{"oldest": revision}])


def downgrade() -> None:
    """Drop the columns and the table."""
    op.drop_table("journeygraph_range")
    op.drop_column("definitions", "journey_version")
    op.drop_column("definitions", "served")
