"""Pipelines: the nine ways in which agents work together, as frozen data (ADR-018)."""

from journeys.pipelines.pattern import PatternPipeline
from journeys.pipelines.pipeline import Handoff, Pipeline
from journeys.pipelines.shapes import Limits

__all__ = ["Handoff", "Limits", "PatternPipeline", "Pipeline"]
