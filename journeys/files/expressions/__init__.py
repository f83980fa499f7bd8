"""Expressions in files."""
