"""What replies are held against without a model: personal data, and what critical rules say."""
