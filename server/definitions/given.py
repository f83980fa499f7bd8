"""Code of stored journeys: agents and tools come from modules, never from the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphs.agents.registry import check_all
from graphs.agents.tools import shared_tools
from journeys import JourneyConfig, JourneySpec
from journeys.concierge import journey_class
from nodes.llm.models import check_model, is_configured
from server.discover.errors import CommandError
from server.discover.journeys import agents_in, given_in, model_in, module_of
from server.discover.served import Served


@dataclass(frozen=True, slots=True)
class Given:
    """Agents and tools by name; each journey takes the ones that it names.

    Attributes:
        model: The argument `model` of `Journey`.
        config: The settings of the sessions.
    """

    agents: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Any] = field(default_factory=dict)
    model: Any = None
    config: JourneyConfig | None = None

    def serving(self, spec: JourneySpec) -> Served:
        """Return a journey with its agents and tools.

        Raises:
            AgentNotRegisteredError: Agents are missing, and no model is configured.
            ConfigurationError: Tools are missing or not valid.
        """
        agents = {name: agent for name, agent in self.agents.items() if name in spec.agents}
        known = {*spec.tools, *spec.retrievers}
        tools = {name: tool for name, tool in self.tools.items() if name in known}
        check_all(spec, agents, has_model=is_configured(self.model, self.config, spec))
        check_model(self.model, self.config, spec)
        shared_tools(spec, tools)
        return Served(journey_class(spec), agents, tools, self.model)


def given_by(names: Iterable[str], config: JourneyConfig | None = None) -> Given:
    """Return the `AGENTS` (with a model `MODEL_AGENTS` first), `TOOLS` and models of modules.

    Args:
        names: `file.py` or a dotted name.
        config: The settings of the sessions.

    Raises:
        CommandError: A module is missing, it has faults, or two modules define the same name.
    """
    agents: dict[str, Any] = {}
    tools: dict[str, Any] = {}
    modules = {name: module_of(name, alone=False) for name in names}
    models = {name: model for name, module in modules.items() if (model := model_in(module))}
    if len(models) > 1:
        raise CommandError(
            f"{' and '.join(models)} each have a model, and all journeys use "
            f"one. Remove one of them."
        )
    model = next(iter(models.values()), None)
    has_model = is_configured(model, config)
    for name, module in modules.items():
        own_agents = agents_in(module, has_model=has_model)
        for all_, own in ((agents, own_agents), (tools, given_in(module, "TOOLS") or {})):
            if twice := [one for one in own if one in all_]:
                raise CommandError(
                    f"{name} has '{twice[0]}', and so has another module. Rename one of them."
                )
            all_.update(own)
    return Given(agents, tools, model, config)
