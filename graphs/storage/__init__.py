"""Storage: the tables, their statements, and the stores on SQLite and Postgres."""
