"""The state of a session: its channels, and the pure functions that change them."""
