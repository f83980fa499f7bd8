"""Tables of words, written as text."""

from __future__ import annotations


def words(table: str) -> tuple[str, ...]:
    """Return the words of a table, in order."""
    return tuple(table.split())
