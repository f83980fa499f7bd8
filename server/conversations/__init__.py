"""Tests that are conversations: read from files, played on a journey, compared, recorded."""
