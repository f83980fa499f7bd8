"""Match guidelines to a message, and apply the relations between them."""
