"""YAML and JSON texts as data with places."""
