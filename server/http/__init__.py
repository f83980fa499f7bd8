"""Journeys over HTTP: the application's parts, its routes and their schemas."""
