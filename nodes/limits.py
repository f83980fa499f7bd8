"""What moves of a session must keep to."""

from __future__ import annotations

from dataclasses import dataclass

from journeys import JourneyConfig


@dataclass(frozen=True, slots=True)
class Limits:
    """What steering must keep to: most paused pathways, and the least confidence of a verdict.

    A journey of a concierge begins only with more than `activation`.
    """

    depth: int
    confidence: float
    activation: float = 0.7


def limits_of(config: JourneyConfig) -> Limits:
    """Return the limits that a journey is run with."""
    sure, starts = config.intent_confidence_threshold, config.activation_confidence_threshold
    return Limits(config.max_pathway_depth, sure, starts)
