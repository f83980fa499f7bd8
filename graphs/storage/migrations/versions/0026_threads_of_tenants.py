"""A function for the row-level security of LangGraph's tables, on Postgres.

A subquery in their policies would be prepared for every statement, and for each use of a table in
it. The function is called only for a thread whose name has a `/`.
"""

from __future__ import annotations

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the function; `journeygraph migrate` makes the policies after this."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION journeygraph_is_tenant(given text) RETURNS boolean "
            "LANGUAGE sql STABLE RETURN EXISTS (SELECT FROM tenants WHERE name = given)"
        )


def downgrade() -> None:
    """Refuse: the policies need the function."""
    raise NotImplementedError("Tenants cannot be removed from a database. Restore a backup.")
