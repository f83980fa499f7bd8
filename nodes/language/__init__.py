"""Read a message without a model: exactly, by a closed grammar, or as proposals."""
