"""Indexes of lists: the tenant is never their first column, and one without a query is dropped.

A plan that Postgres made while the table was small could find one session by any index that begins
with the tenant, and then read all sessions of the tenant.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_SESSIONS = "sessions"
_LIVE = sa.text("status != 'expired'")
_HAS_USER = sa.text("user_id IS NOT NULL")
_INDEXES: dict[str, tuple[str, list[str], Any]] = {
    "sessions_by_user": (_SESSIONS, ["user_id", "tenant", "updated_at"], _HAS_USER),
    "sessions_by_status": (_SESSIONS, ["journey_id", "tenant", "status", "updated_at"], None),
    "sessions_live": (_SESSIONS, ["journey_id", "tenant", "updated_at"], _LIVE),
    "sessions_by_expiry": (_SESSIONS, ["status", "tenant", "expires_at"], None),
    "sessions_to_expire": (_SESSIONS, ["journey_id", "tenant", "expires_at"], _LIVE),
    "sessions_by_pathway": (
        _SESSIONS,
        ["journey_id", "tenant", "pathway_id", "updated_at"],
        _LIVE,
    ),
    "checks_to_review": ("validation_audit", ["journey_id", "tenant", "review", "id"], None),
    "escalations_to_take": ("escalations", ["journey_id", "tenant", "status", "number"], None),
}


def upgrade() -> None:
    """Create the indexes again, with another order of their columns."""
    op.drop_index("sessions_by_journey", _SESSIONS)
    for name, (table, columns, where) in _INDEXES.items():
        _replace(name, table, columns, where)


def downgrade() -> None:
    """Create the indexes with the tenant as their first column."""
    for name, (table, columns, where) in _INDEXES.items():
        _replace(name, table, sorted(columns, key=lambda column: column != "tenant"), where)
    op.create_index("sessions_by_journey", _SESSIONS, ["tenant", "journey_id", "updated_at"])


def _replace(name: str, table: str, columns: list[str], where: Any) -> None:
    op.drop_index(name, table)
    only = {} if where is None else {"sqlite_where": where, "postgresql_where": where}
    op.create_index(name, table, columns, **only)
