"""Hand a conversation over to a person."""
