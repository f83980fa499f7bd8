"""Journeys that run as they are, to learn from and to copy."""
