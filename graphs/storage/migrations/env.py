"""Alembic's entry: runs the migrations on the connection that it is given."""

from __future__ import annotations

from alembic import context

from graphs.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="journeygraph_version",  # another application may have migrations of its own
)
with context.begin_transaction():
    context.run_migrations()
