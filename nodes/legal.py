"""Which transitions may fire now, and which of them a model may judge; all of it pure."""

from __future__ import annotations

from journeys import IntentTrigger, JourneySpec, TransitionSpec
from journeys.behaviors import ReturnToSpecific
from nodes.state import Position


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


def threshold(transition: TransitionSpec, default: float) -> float:
    """Return the least confidence of a verdict for this transition."""
    own = getattr(transition.trigger, "confidence_threshold", None)
    return default if own is None else own


def asks_model(transition: TransitionSpec) -> bool:
    """Say whether a model may judge a transition: an intent whose author lets it."""
    trigger = transition.trigger
    return isinstance(trigger, IntentTrigger) and trigger.use_llm_fallback
