"""All tables at once; each later migration starts from these."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0100"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = Path(__file__).with_name("baseline.sql")
_TYPES = {
    "sqlite": {"number": "INTEGER", "moment": "DATETIME"},
    "postgresql": {"number": "BIGSERIAL", "moment": "TIMESTAMP WITH TIME ZONE"},
}
# Values of the state, apart from the checkpoints that share them; Postgres has them so already.
_VALUES = (
    "CREATE TABLE checkpoint_blobs (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL, "
    "channel TEXT NOT NULL, version TEXT NOT NULL, type TEXT NOT NULL, blob BLOB, "
    "PRIMARY KEY (thread_id, checkpoint_ns, channel, version))"
)
_TENANT = "coalesce(nullif(current_setting('journeygraph.tenant', true), ''), 'default')"
# Every server compares its epochs with those of the tenant that loads the definitions.
_OPEN = {"definition_epoch"}


def upgrade() -> None:
    """Create the tables; on Postgres, fence the rows of each tenant."""
    kind = op.get_bind().dialect.name
    for statement in _TABLES.read_text("utf-8").format_map(_TYPES[kind]).split(";\n"):
        op.execute(statement)
    op.execute(f"INSERT INTO journeygraph_range VALUES ('{revision}')")
    op.execute("INSERT INTO audit_sending VALUES ('', 0)")
    if kind == "postgresql":
        _fence()
    else:
        op.execute(_VALUES)


def _fence() -> None:
    """Let each transaction see only the rows of its tenant; `*` shows all rows."""
    found = sa.inspect(op.get_bind())
    for name in found.get_table_names():
        columns = {column["name"] for column in found.get_columns(name)}
        if "tenant" in columns and name not in _OPEN:
            op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
            op.execute(f"CREATE POLICY of_tenant ON {name} USING ({_TENANT} IN (tenant, '*'))")
    # For LangGraph's tables: a subquery in their policies would be prepared for every statement.
    op.execute(
        "CREATE FUNCTION journeygraph_is_tenant(given text) RETURNS boolean "
        "LANGUAGE sql STABLE RETURN EXISTS (SELECT FROM tenants WHERE name = given)"
    )


def downgrade() -> None:
    """Refuse: there is nothing before the tables."""
    raise NotImplementedError("There is nothing before the tables. Delete the database.")
