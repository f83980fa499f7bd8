"""The frozen spec of a journey: its parts, checks, warnings and hash."""
