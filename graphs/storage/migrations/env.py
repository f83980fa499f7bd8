"""Alembic's entry: runs the migrations on the connection that it is given."""

from __future__ import annotations

from typing import Any

from alembic import context

from journeygraph.graphs.storage.tables import metadata


def _watched(ctx: Any, step: Any, heads: Any, run_args: Any) -> None:
    if watch := context.config.attributes["watch"]:
        watch(f"sessions, turns and audit, {step.up_revision_id} is done")


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="journeygraph_version",  # another application may have migrations of its own
    on_version_apply=_watched,
)
with context.begin_transaction():
    context.run_migrations()
