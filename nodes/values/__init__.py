"""Values of fields: read as plain data, checked, and shown."""
