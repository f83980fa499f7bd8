"""Which agents a journey has, and whether they are all there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys import AgentNotRegisteredError, JourneyConfig, JourneySpec
from journeys.errors import did_you_mean
from nodes.calling import Agent, Overdue, as_agent
from nodes.matcher import matcher_of
from nodes.services import Services


def check_name(spec: JourneySpec, name: str) -> None:
    """Refuse an agent that no pathway uses.

    Raises:
        AgentNotRegisteredError: The name is in no `__agents__`; with did-you-mean.
    """
    known = spec.agents
    if name not in known:
        hint = did_you_mean(name, list(known))
        raise AgentNotRegisteredError(
            f"No pathway of {spec.name} uses an agent '{name}'.{hint} "
            f"Its agents: {', '.join(known) or 'none'}."
        )


def check_all(spec: JourneySpec, agents: Mapping[str, Any]) -> None:
    """Refuse to run with agents missing.

    Raises:
        AgentNotRegisteredError: Names every missing agent and its pathways at once.
    """
    missing = {name: used for name, used in spec.agents.items() if name not in agents}
    if missing:
        listed = "; ".join(f"'{name}' (in {', '.join(used)})" for name, used in missing.items())
        raise AgentNotRegisteredError(
            f"{spec.name} has no agent for: {listed}. Register each with "
            "register_agent(name, agent), or pass agents={...}."
        )


def services_of(
    spec: JourneySpec,
    config: JourneyConfig,
    agents: Mapping[str, Any],
    overdue: Overdue = lambda agent: lambda: None,
) -> Services:
    """Return the services of a journey with these agents.

    Raises:
        AgentNotRegisteredError: Agents are missing, or one is not used.
    """
    for name in agents:
        check_name(spec, name)
    check_all(spec, agents)
    callable_agents = {
        name: given if isinstance(given, Agent) else as_agent(name, given, overdue)
        for name, given in agents.items()
    }
    return Services(spec, config, callable_agents, matcher_of(spec))
