"""Results of a session, and how they are shown."""
