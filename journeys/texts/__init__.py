"""Texts of the runtime."""
