"""Requests and answers, as the API describes them."""
