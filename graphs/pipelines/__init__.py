"""Pipelines: the nine patterns as graphs, run within a pathway or by themselves."""
