"""Notions that authors declare: fields, guidelines, transitions, effects and others."""
