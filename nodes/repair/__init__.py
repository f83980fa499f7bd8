"""Repair: what is done when a talk leaves its straight way. Each pattern is a small function."""
