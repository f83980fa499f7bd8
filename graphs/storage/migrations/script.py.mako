"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this migration; set `journeygraph_range.oldest` if it removes something."""
    ${upgrades if upgrades else "raise NotImplementedError"}


def downgrade() -> None:
    """Take this migration back."""
    ${downgrades if downgrades else "raise NotImplementedError"}
