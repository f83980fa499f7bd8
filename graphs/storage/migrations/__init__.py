"""Migrations of our own tables, run by alembic."""
