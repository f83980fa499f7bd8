"""Read class bodies into the spec."""
