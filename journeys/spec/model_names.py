"""The names of models that the settings and a journey give, without a model's own code."""

from __future__ import annotations

from collections.abc import Iterator

from journeygraph.journeys.config import JourneyConfig
from journeygraph.journeys.declarations.transitions import IntentTrigger
from journeygraph.journeys.spec.spec import JourneySpec

KEY = "OPENAI_API_KEY"
"""Variable of the environment with the key of OpenAI's API."""
_SETTINGS = ("agent_model", "intent_detection_model", "validation_model")


def named_in(config: JourneyConfig | None) -> dict[str, str]:
    """Return the models that settings name, by the names of the settings."""
    given = {name: getattr(config, name) for name in _SETTINGS} if config else {}
    return {name: model for name, model in given.items() if model}


def named_by(spec: JourneySpec | None) -> Iterator[tuple[str, str]]:
    """Yield the models that a journey names for its agents and triggers, and where it does."""
    if spec is None:
        return
    for part in (spec, *spec.parts.values()):
        if part.model:
            yield f"{part.name}: its model", part.model
    for transition in spec.transitions:
        trigger = transition.trigger
        if isinstance(trigger, IntentTrigger) and trigger.llm_model:
            yield f"{spec.name}: llm_model of '{trigger.label}'", trigger.llm_model
