"""Marks of sessions and tombstones that are anchored; hash of the heads that is kept up to date.

All sessions and tombstones that exist are compared with their anchors once more.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_CHANGED = sa.text(
    "(CASE WHEN version + late > anchored THEN 1 ELSE 0 END) = 1 AND status != 'expired' "
    "AND (chain != '' OR late > 0)"
)
_NOT_LEFT_OUT = sa.text("anchor IS NULL")
_DELETED = sa.text("reason = 'deleted'")


def upgrade() -> None:
    """Add the columns and the indexes."""
    anchored = sa.Column("anchored", sa.Integer, nullable=False, server_default=sa.text("-1"))
    op.add_column("sessions", anchored)
    op.add_column("tombstones", sa.Column("anchor", sa.Integer))
    op.add_column("anchors", sa.Column("product", sa.Text))
    _index("sessions_to_anchor", "sessions", ["tenant", "session_id"], _CHANGED)
    _index("tombstones_to_anchor", "tombstones", ["tenant", "session_id"], _NOT_LEFT_OUT)
    _index("tombstones_to_drop", "tombstones", ["tenant", "at"], _DELETED)


def _index(name: str, table: str, columns: list[str], where: sa.TextClause) -> None:
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    """Drop the indexes and the columns."""
    op.drop_index("tombstones_to_drop", "tombstones")
    op.drop_index("tombstones_to_anchor", "tombstones")
    op.drop_index("sessions_to_anchor", "sessions")
    op.drop_column("anchors", "product")
    op.drop_column("tombstones", "anchor")
    op.drop_column("sessions", "anchored")
