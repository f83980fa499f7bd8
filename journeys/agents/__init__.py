"""Agents and tools as authors declare them: cards, signatures, calls."""
