"""Access of clients: keys, tokens, scopes and limits."""
