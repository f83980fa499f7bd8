"""Call agents of every kind, find the ones that fit."""
