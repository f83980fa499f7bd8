"""Agents of a journey and their tools: found complete, checked, made callable."""
