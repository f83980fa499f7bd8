"""Commands for the database itself: its tables, and the keys that encrypt it."""
