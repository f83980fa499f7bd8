"""Definitions: stored from files, and served from the database."""
