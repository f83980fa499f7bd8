"""Records of sessions, and definitions: one file for each kind of row."""
