"""Warnings about a journey together with the Python beside it: names, functions, and the model."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from langchain_core.tools import BaseTool

from graphs.registry import check_agent
from journeys import (
    AgentNotRegisteredError,
    ConfigurationError,
    IntentTrigger,
    Journey,
    JourneySpec,
    Tool,
    ToolSpec,
    TransitionSpec,
)
from journeys.errors import did_you_mean
from nodes.llm.models import is_configured
from nodes.llm.tools import as_tool, parameters_of
from server.cli.finding import model_in
from server.cli.loading import journeys_in, shown
from server.settings import Settings


def signs_of(module: ModuleType, journey: type[Journey]) -> Iterator[str]:
    """Yield what smells: in the journey alone, and beside what its module gives."""
    spec = journey.spec
    yield from spec.warnings
    if not spec.pathways:
        return
    given = getattr(module, "SAMPLE_CONTEXT", None)
    known = given if isinstance(given, Mapping) else {}
    yield from (warning for name, warning in spec.unset if name not in known)
    has_model = _has_model(module, spec)
    yield from _agents(module, journey, has_model=has_model)
    yield from _tools(module, journey)
    if not has_model:
        yield from _needs_model(spec)


def _has_model(module: ModuleType, spec: JourneySpec) -> bool:
    """Say whether a journey has a model: its module's, its own, or one of the settings."""
    try:
        config = Settings().config()
    except (ConfigurationError, ValueError):  # a server says so; here a journey is judged
        config = None
    return is_configured(model_in(module), config, spec)


# --- Agents --------------------------------------------------------------------------------------


def _agents(module: ModuleType, journey: type[Journey], *, has_model: bool) -> Iterator[str]:
    """Compare the names in a module's AGENTS with those that its journeys use."""
    given = getattr(module, "AGENTS", None)
    if not isinstance(given, Mapping):
        if not has_model:
            yield from _no_agents(module, journey)
        return
    names = [str(name) for name in given]
    used = [name for other in {*journeys_in(module), journey} for name in other.spec.agents]
    for name, pathways in journey.spec.agents.items():
        if name not in names:
            hint = did_you_mean(name, names)
            where = ", ".join(pathways)
            yield f"{journey.__name__}: AGENTS has no '{name}', which {where} needs.{hint}"
        elif fault := _agent_fault(journey.spec, name, given[name]):
            yield f"{journey.__name__}: AGENTS['{name}']: {fault}"
    for name in names:
        if name not in used:
            hint = did_you_mean(name, used)
            yield f"{journey.__name__}: AGENTS has '{name}', which no pathway uses.{hint}"


def _no_agents(module: ModuleType, journey: type[Journey]) -> Iterator[str]:
    """Warn of agents that a file names, where there is no Python that has any, and no model."""
    if not _stands_alone(journey) or _gives(module, "AGENTS"):
        return
    for pathway in journey.spec.pathways.values():
        for name in pathway.agents:
            if name != pathway.id:  # of its own accord a state is served by a model
                yield (
                    f"{pathway.where}: it names the agent '{name}', and there is no dict AGENTS in "
                    f"{_beside(journey)} that has it; only a model could take its place."
                )


def _agent_fault(spec: JourneySpec, name: str, agent: Any) -> str:
    try:
        check_agent(spec, name, agent, lambda _: lambda: None)
    except (ConfigurationError, AgentNotRegisteredError) as error:
        return str(error)
    return ""


# --- Tools ---------------------------------------------------------------------------------------


def _tools(module: ModuleType, journey: type[Journey]) -> Iterator[str]:
    """Compare the tools that a journey declares with the TOOLS of its module."""
    given = getattr(module, "TOOLS", None)
    if not isinstance(given, Mapping):
        if _stands_alone(journey) and not _gives(module, "TOOLS"):
            for name in journey.spec.tools:
                yield (
                    f"{journey.__name__}: it declares the tool '{name}', and there is no dict "
                    f"TOOLS in {_beside(journey)} that has what does its work."
                )
        return
    names = [str(name) for name in given]
    for name, declared in journey.spec.tools.items():
        if name not in names:
            yield f"{journey.__name__}: TOOLS has no '{name}'.{did_you_mean(name, names)}"
            continue
        for misfit in _misfits(name, given[name], declared):
            yield f"{journey.__name__}: TOOLS['{name}'] {misfit}"


def _misfits(name: str, given: Any, declared: ToolSpec) -> Iterator[str]:
    """Yield where a function does not take what the schema of a file has it given."""
    call = given.call if isinstance(given, Tool) else given
    try:
        tool = call if isinstance(call, BaseTool) else as_tool(name, call)
        parameters = parameters_of(name, tool)
    except ConfigurationError as error:
        yield f"cannot be a tool: {error}"
        return
    takes, needs = parameters.properties
    properties: Sequence[str] = list(declared.parameters.get("properties", {}))
    required: Sequence[str] = declared.parameters.get("required", ())
    for parameter in properties:
        if parameter not in takes and not _takes_any(call):
            hint = did_you_mean(parameter, list(takes))
            yield f"takes no '{parameter}', which the file's schema gives it.{hint}"
    for parameter in needs:
        if parameter == "idempotency_key":
            continue
        if parameter not in properties:
            hint = did_you_mean(parameter, properties)
            yield f"needs '{parameter}', which the file's schema does not give it.{hint}"
        elif parameter not in required:
            said = "which the file's schema does not require. Give it a default."
            yield f"needs '{parameter}', {said}"


def _takes_any(call: Any) -> bool:
    """Say whether a function takes arguments of all names."""
    function = getattr(call, "func", None) or getattr(call, "coroutine", None) or call
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


# --- Files ---------------------------------------------------------------------------------------


def _stands_alone(journey: type[Journey]) -> bool:
    """Say whether a journey is of a file, and no part of a concierge, which brings the Python."""
    is_part = bool(journey.spec.activation) and not journey.spec.parts
    return getattr(journey, "source", None) is not None and not is_part


def _gives(module: ModuleType, name: str) -> bool:
    """Say whether a module builds agents or tools, or has those for models."""
    build = (f"build_{name.lower()}", f"build_model_{name.lower()}")
    return any(hasattr(module, other) for other in (*build, f"MODEL_{name}"))


def _beside(journey: type[Journey]) -> str:
    source: Any = getattr(journey, "source", "")
    return shown(Path(source).with_suffix(".py"))


# --- Models --------------------------------------------------------------------------------------


def _needs_model(spec: JourneySpec) -> Iterator[str]:
    """Warn of intents that nothing but a model can tell, where there is none."""
    for transition in spec.transitions:
        if _asks_alone(transition) and not any(
            _is_beside(other, transition) for other in spec.transitions
        ):
            yield (
                f"{transition.where}: only a model can tell '{transition.label}', and none is "
                "configured. Give it patterns, or set OPENAI_API_KEY."
            )


def _asks_alone(transition: TransitionSpec) -> bool:
    trigger = transition.trigger
    if not isinstance(trigger, IntentTrigger) or trigger.patterns:
        return False
    own = type(trigger).evaluate is not IntentTrigger.evaluate
    return trigger.use_llm_fallback and bool(trigger.description) and not own


def _is_beside(other: TransitionSpec, transition: TransitionSpec) -> bool:
    """Say whether another transition does the same, and needs no model."""
    same = (other.target, other.sources, other.kind)
    return same == (transition.target, transition.sources, transition.kind) and not _asks_alone(
        other
    )
