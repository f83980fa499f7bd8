"""The tables and columns of hash chains, anchors, tombstones and receipts go."""

from __future__ import annotations

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Drop them; a release that writes them does not fit any more."""
    for table in ("receipts", "anchored_heads", "anchors", "tombstones", "late_links"):
        op.drop_table(table)
    op.drop_index("sessions_to_anchor", "sessions")
    for name in ("chain", "late", "late_chain", "anchored"):
        op.drop_column("sessions", name)
    op.drop_column("turns", "link")
    op.execute("UPDATE journeygraph_range SET oldest = '0029'")


def downgrade() -> None:
    """Refuse: the chains cannot be computed again."""
    raise NotImplementedError("Hash chains cannot be made again. Restore a backup.")
