"""Pipelines: the nine ways in which agents work together, as frozen data (ADR-018)."""

from journeys.pipelines.limits import Limits
from journeys.pipelines.pattern import PatternPipeline
from journeys.pipelines.pipeline import Handoff, Pipeline

__all__ = ["Handoff", "Limits", "PatternPipeline", "Pipeline"]
