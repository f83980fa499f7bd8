"""Merge strategies for values of the context."""

from enum import StrEnum


class MergeStrategy(StrEnum):
    """Merge strategy for a new value of a context name (REQ-PM-002).

    A value that its strategy cannot take raises `ContextMergeError` and fails the turn; None is
    always skipped. Names without a declared strategy: scalars replace, lists append without
    duplicates, dicts merge deep.
    """

    REPLACE = "replace"
    """The new value replaces the old one."""
    APPEND = "append"
    """The new value, or each item of a new list, goes to the end of a list."""
    MERGE_DICT = "merge"
    """Dicts merge deep; inside them the new value of a name replaces the old one."""
    MAX = "max"
    """The larger of two numbers, or of two strings, is kept."""
    MIN = "min"
    """The smaller of two numbers, or of two strings, is kept."""
    SUM = "sum"
    """Numbers add up."""
    UNION = "union"
    """Items join a list in order, each once."""
