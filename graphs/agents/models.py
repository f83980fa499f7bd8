"""The models of a journey: nothing of them is imported where none can be configured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import JourneyConfig, JourneySpec
from journeygraph.journeys.spec.capability_table import part
from journeygraph.journeys.spec.model_names import KEY, named_by, named_in

if TYPE_CHECKING:
    from journeygraph.nodes.llm.models import Models


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
    """Refuse what no journey can be given as its model."""
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
    return bool(os.environ.get(KEY) or named_in(config) or any(named_by(spec)))
