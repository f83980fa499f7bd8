"""A journey as it is served: with what does its work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from journeys import Journey


@dataclass(frozen=True, slots=True)
class Served:
    """A journey, and the agents, tools and model that all of its sessions here share.

    Attributes:
        model: What `Journey` takes under that name; None leaves it to the settings.
    """

    journey: type[Journey]
    agents: Mapping[str, Any]
    tools: Mapping[str, Any] = field(default_factory=dict)
    model: Any = None
