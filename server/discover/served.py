"""A journey with the agents, tools and model that serve it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from journeys import Journey


@dataclass(frozen=True, slots=True)
class Served:
    """A journey with the agents, tools and model that all its sessions here share.

    Attributes:
        model: The argument `model` of `Journey`; None: the model of the settings.
    """

    journey: type[Journey]
    agents: Mapping[str, Any]
    tools: Mapping[str, Any] = field(default_factory=dict)
    model: Any = None
