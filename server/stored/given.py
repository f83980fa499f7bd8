"""What does the work of stored journeys: it comes from modules, never from the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphs.agents import check_all
from graphs.tools import shared_tools
from journeys import JourneySpec
from journeys.files.classes import journey_class
from nodes.llm.models import is_configured
from server.cli.edge import CommandError
from server.cli.finding import agents_in, given_in, module_of
from server.served import Served


@dataclass(frozen=True, slots=True)
class Given:
    """Agents and tools by name, of which each journey takes those that it names.

    Attributes:
        model: What `Journey` takes under that name.
    """

    agents: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Any] = field(default_factory=dict)
    model: Any = None

    def serving(self, spec: JourneySpec) -> Served:
        """Return a journey with its agents and tools.

        Raises:
            AgentNotRegisteredError: Agents are missing, and no model is configured.
            ConfigurationError: Tools are missing, or do not fit.
        """
        agents = {name: agent for name, agent in self.agents.items() if name in spec.agents}
        tools = {name: tool for name, tool in self.tools.items() if name in spec.tools}
        check_all(spec, agents, has_model=is_configured(self.model))
        shared_tools(spec, tools)
        return Served(journey_class(spec), agents, tools)


def given_by(names: Iterable[str]) -> Given:
    """Return what modules offer: `AGENTS` (with a model `MODEL_AGENTS` first) and `TOOLS`.

    Args:
        names: `file.py` or a dotted name.

    Raises:
        CommandError: There is no such module, it has faults, or two give the same name.
    """
    agents: dict[str, Any] = {}
    tools: dict[str, Any] = {}
    for name in names:
        module = module_of(name, alone=False)
        for all_, own in ((agents, agents_in(module)), (tools, given_in(module, "TOOLS") or {})):
            if twice := [one for one in own if one in all_]:
                raise CommandError(f"{name} gives '{twice[0]}', which another module gives too.")
            all_.update(own)
    return Given(agents, tools)
