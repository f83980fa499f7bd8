"""Pipelines: the nine ways in which agents work together, as frozen data (ADR-018)."""

from journeygraph.journeys.pipelines.pattern import PatternPipeline
from journeygraph.journeys.pipelines.pipeline import Handoff, Pipeline
from journeygraph.journeys.pipelines.shapes import Limits

__all__ = ["Handoff", "Limits", "PatternPipeline", "Pipeline"]
