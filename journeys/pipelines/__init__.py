"""Pipelines: the nine ways in which agents work together, as frozen data (ADR-018)."""

from journeygraph.journeys.pipelines.pattern import Limits, PatternPipeline
from journeygraph.journeys.pipelines.pipeline import Handoff, Pipeline

__all__ = ["Handoff", "Limits", "PatternPipeline", "Pipeline"]
