"""Sessions: the manager, one turn, input and response."""
