"""Agents and tools of a journey: check them and make them callable."""
