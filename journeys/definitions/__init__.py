"""The base of all definitions: typed, frozen, read from class bodies and from files."""
