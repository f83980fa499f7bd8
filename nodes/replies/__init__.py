"""Check replies without a model: personal data, and phrases of critical guidelines."""
