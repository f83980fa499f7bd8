"""Models of requests and responses, from which the API description is made."""
