"""The models of a journey: nothing of them is imported where none can be configured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import IntentTrigger, JourneyConfig, JourneySpec
from journeygraph.journeys.spec.capability_table import part

if TYPE_CHECKING:
    from journeygraph.nodes.llm.models import Models

KEY = "OPENAI_API_KEY"
_SETTINGS = ("agent_model", "intent_detection_model", "validation_model")


def opened(
    given: Any, config: JourneyConfig | None = None, spec: JourneySpec | None = None
) -> Models | None:
    """Return the models that a journey is given, as `open_models` does; None if there is none.

    Raises:
        ConfigurationError: It is no model, or one that cannot be had here.
    """
    if not may_be_configured(given, config, spec):
        return None
    models: Models | None = part("models").open_models(given, config, spec)
    return models


def check_model(given: Any, config: JourneyConfig, spec: JourneySpec) -> None:
    """Refuse what no journey can be given as its model.

    Raises:
        ConfigurationError: It is no model, or one that cannot be had here.
    """
    if may_be_configured(given, config, spec):
        part("models").check_model(given, config, spec)


def is_configured(given: Any, config: JourneyConfig, spec: JourneySpec) -> bool:
    """Return whether a journey that is given this has a model."""
    if not may_be_configured(given, config, spec):
        return False
    return bool(part("models").is_configured(given, config, spec))


def may_be_configured(
    given: Any, config: JourneyConfig | None = None, spec: JourneySpec | None = None
) -> bool:
    """Return whether anything names a model: the journey, the settings, the environment."""
    if given is not None:
        return given is not False
    return bool(
        os.environ.get(KEY)
        or any(getattr(config, name, None) for name in _SETTINGS)
        or (spec and _names_model(spec))
    )


def _names_model(spec: JourneySpec) -> bool:
    triggers = [one.trigger for one in spec.transitions]
    named = [one.llm_model for one in triggers if isinstance(one, IntentTrigger)]
    return any([*named, *(one.model for one in (spec, *spec.parts.values()))])
