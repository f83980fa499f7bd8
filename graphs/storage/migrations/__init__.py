"""Migrations of our own tables, run by alembic.

A release works on its own tables and on those of the release after it, so that both can serve one
store. So a migration either adds, or removes what the release before does not use any more:

- One that adds (a table, an index, a column that is null or has a default of the server) leaves
  `journeygraph_range.oldest` as it is.
- One that removes or changes something sets `oldest` to the newest migration of the first release
  that does not use it.
"""
