"""Journeys in YAML and JSON files."""
