"""Sessions: the manager, one turn, and what callers give and get."""
