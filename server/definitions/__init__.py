"""Definitions on their way from files to a database, and from there to what is served."""
