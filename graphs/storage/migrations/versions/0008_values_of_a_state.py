"""Values of the state, apart from the checkpoints that share them; Postgres has them so already."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; checkpoints that are there keep their values in themselves."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TABLE checkpoint_blobs (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL, "
            "channel TEXT NOT NULL, version TEXT NOT NULL, type TEXT NOT NULL, blob BLOB, "
            "PRIMARY KEY (thread_id, checkpoint_ns, channel, version))"
        )


def downgrade() -> None:
    """Drop the table."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE checkpoint_blobs")
