"""Alembic's entry: runs the migrations on the connection that it is given."""

from __future__ import annotations

from alembic import context

from graphs.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
