"""Find the transitions that may fire now, and those that a model may judge; pure."""

from __future__ import annotations

from dataclasses import dataclass

from journeys import IntentTrigger, JourneyConfig, JourneySpec, TransitionSpec
from journeys.behaviors import ReturnToSpecific
from journeys.spec import ACTIVATION
from nodes.commands import Verdict
from nodes.state import Position

_SURE = ("condition", "pattern", "own", "always")
"""Tiers of verdicts that no model gave."""


def places(spec: JourneySpec, position: Position) -> tuple[str, ...]:
    """Return the pathways whose transitions apply now: the present one, and where it returns."""
    here = position["pathway"]
    if not position["returning"]:
        return (here,)
    returns = spec.pathways[here].returns
    if isinstance(returns, ReturnToSpecific):
        return (here, returns.target_pathway)
    return (here, position["stack"][-1]["pathway"]) if position["stack"] else (here,)


def legal(spec: JourneySpec, position: Position) -> list[TransitionSpec]:
    """Return the transitions that may fire now, the first to be asked first."""
    where = places(spec, position)
    applying = (t for t in spec.transitions if t.applies_in(*where))
    armed = (t for t in applying if t.id not in position["fired"])
    return sorted(armed, key=lambda t: -t.priority)


def is_sure(transition: TransitionSpec, verdict: Verdict, least: float, activation: float) -> bool:
    """Say whether a verdict is sure enough.

    Args:
        transition: What it is about; its own threshold comes first.
        verdict: Who decided, and how sure.
        least: Least confidence of a move.
        activation: Confidence that a model must exceed to start a journey of a concierge.
    """
    if not is_share(verdict.confidence):
        return False
    own = getattr(transition.trigger, "confidence_threshold", None)
    if transition.kind == ACTIVATION:
        # What is not a model is sure, also where nobody can be surer than is asked for.
        return verdict.tier in _SURE or verdict.confidence > (activation if own is None else own)
    return verdict.confidence >= (least if own is None else own)


def is_share(confidence: float) -> bool:
    """Say whether it is a confidence at all."""
    return 0.0 <= confidence <= 1.0


def asks_model(transition: TransitionSpec) -> bool:
    """Say whether a model may judge a transition: an intent whose author lets it."""
    trigger = transition.trigger
    return isinstance(trigger, IntentTrigger) and trigger.use_llm_fallback


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
