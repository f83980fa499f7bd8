"""Forms: which fields of a pathway are open, what is asked next, and what a value changes."""
