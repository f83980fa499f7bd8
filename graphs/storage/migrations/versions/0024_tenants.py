"""Tenants: a part of every primary key, and on Postgres row-level security.

What exists belongs to the tenant `default`. An older release works on the database until it gets a
second tenant; then the range of releases ends here.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_SESSIONS = "sessions"
_OWNER = ["tenant", "session_id"]
_LIVE = sa.text("status != 'expired'")
_INDEXES: dict[str, tuple[str, tuple[str, ...], Any]] = {
    "sessions_by_journey": (_SESSIONS, ("journey_id", "updated_at"), None),
    "sessions_by_status": (_SESSIONS, ("journey_id", "status", "updated_at"), None),
    "sessions_live": (_SESSIONS, ("journey_id", "updated_at"), _LIVE),
    "sessions_by_expiry": (_SESSIONS, ("status", "expires_at"), None),
    "sessions_to_expire": (_SESSIONS, ("journey_id", "expires_at"), _LIVE),
    "sessions_by_pathway": (_SESSIONS, ("journey_id", "pathway_id", "updated_at"), _LIVE),
    "sessions_by_user": (
        _SESSIONS,
        ("user_id", "updated_at"),
        sa.text("user_id IS NOT NULL"),
    ),
    "audit_by_turn": ("audit", ("session_id", "turn", "id"), None),
    "checks_by_turn": ("validation_audit", ("session_id", "turn", "id"), None),
    "checks_to_review": ("validation_audit", ("journey_id", "review", "id"), None),
    "attempts_by_field": ("field_attempts", ("session_id", "field", "id"), None),
    "attempts_by_turn": ("field_attempts", ("session_id", "turn", "id"), None),
    "escalations_by_session": ("escalations", ("session_id",), None),
    "escalations_to_take": ("escalations", ("journey_id", "status", "number"), None),
}
_TENANT = "coalesce(nullif(current_setting('journeygraph.tenant', true), ''), 'default')"
# Every server compares its epochs with those of the tenant that loads the definitions.
_OPEN = {"definition_epoch"}


def _tenant() -> sa.Column[str]:
    return sa.Column("tenant", sa.String(200), nullable=False, server_default="default")


def upgrade() -> None:
    """Change the keys, create the table of tenants, and fence the rows of each tenant."""
    found = sa.inspect(op.get_bind())
    owned = {
        name: [key for key in found.get_foreign_keys(name) if key["referred_table"] == _SESSIONS]
        for name in found.get_table_names()
    }
    owned = {name: keys for name, keys in owned.items() if keys}
    for name, (table, *_) in _INDEXES.items():
        op.drop_index(name, table)
    op.drop_index("timers_to_take", "timers")
    is_postgres = op.get_bind().dialect.name == "postgresql"
    (_change_keys if is_postgres else _rebuild)(found, owned)
    for name, (table, columns, where) in _INDEXES.items():
        only = {} if where is None else {"sqlite_where": where, "postgresql_where": where}
        op.create_index(name, table, ["tenant", *columns], **only)
    op.create_index("timers_to_take", "timers", ["journey_id", "due_at"])
    op.create_table(
        "tenants",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("at", sa.String(32), nullable=False),
    )
    if is_postgres:
        _fence()


def _change_keys(found: sa.Inspector, owned: dict[str, list[Any]]) -> None:
    for name, keys in owned.items():
        for key in keys:
            op.drop_constraint(key["name"], name, type_="foreignkey")
    for name in (_SESSIONS, *owned):
        if "tenant" not in {column["name"] for column in found.get_columns(name)}:
            op.add_column(name, _tenant())
        key, columns = _key_of(found, name)
        if columns:
            op.drop_constraint(key, name, type_="primary")
            op.create_primary_key(key, name, columns)
    for name in owned:
        op.create_foreign_key(None, name, _SESSIONS, _OWNER, _OWNER, ondelete="CASCADE")


def _rebuild(found: sa.Inspector, owned: dict[str, list[Any]]) -> None:
    """Copy each table into one with the other keys: SQLite cannot change them."""
    for name in (_SESSIONS, *owned):
        columns = found.get_columns(name)
        names = [column["name"] for column in columns]
        key = _key_of(found, name)[1] or found.get_pk_constraint(name)["constrained_columns"]
        kept: list[Any] = [
            sa.Column(
                one["name"],
                one["type"],
                nullable=one["nullable"],
                primary_key=one["name"] in key,
                server_default=None if one["default"] is None else sa.text(one["default"]),
            )
            for one in columns
        ]
        if "tenant" not in names:
            tenant = _tenant()
            tenant.primary_key = "tenant" in key
            kept.insert(0, tenant)
        if name in owned:
            to = [f"{_SESSIONS}.{column}" for column in _OWNER]
            kept.append(sa.ForeignKeyConstraint(_OWNER, to, ondelete="CASCADE"))
        op.create_table(f"new_{name}", *kept)
        listed = ", ".join(f'"{column}"' for column in names)
        op.execute(f"INSERT INTO new_{name} ({listed}) SELECT {listed} FROM {name}")
        indexes = [one for one in found.get_indexes(name) if one["name"] not in _INDEXES]
        op.drop_table(name)
        op.rename_table(f"new_{name}", name)
        for one in indexes:
            where = one.get("dialect_options", {}).get("sqlite_where")
            only = {} if where is None else {"sqlite_where": where}
            of = [*map(str, one["column_names"])]
            op.create_index(one["name"], name, of, unique=bool(one["unique"]), **only)


def _key_of(found: sa.Inspector, name: str) -> tuple[str, list[str]]:
    """Return the primary key of a table with the tenant; empty: it needs no other one."""
    key = found.get_pk_constraint(name)
    columns = key["constrained_columns"]
    needs = "session_id" in columns and "tenant" not in columns
    return str(key["name"]), ["tenant", *columns] if needs else []


def _fence() -> None:
    """Let each transaction see only the rows of its tenant; `*` shows all rows."""
    found = sa.inspect(op.get_bind())
    for name in found.get_table_names():
        columns = {column["name"] for column in found.get_columns(name)}
        if "tenant" not in columns or name in _OPEN:
            continue
        op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY of_tenant ON {name} USING ({_TENANT} IN (tenant, '*'))")


def downgrade() -> None:
    """Refuse: the sessions of several tenants may have one id."""
    raise NotImplementedError("Tenants cannot be removed from a database. Restore a backup.")
