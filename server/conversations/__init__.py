"""Tests that are conversations: read from files, played on a journey, compared, recorded."""

PATTERNS = ("*.conversation.yaml", "*.conversation.yml", "*.conversation.json")
"""Names of the files of a folder that hold conversations."""
