"""The data of one user: export and deletion."""
