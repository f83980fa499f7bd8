"""The tools of a journey: those that it declares and names, and what does their work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphs.tool_checks import checking_tools
from journeys import Call, ConfigurationError, Effect, JourneySpec, PathwaySpec
from journeys.errors import did_you_mean, shown
from journeys.knowledge import retriever_fault
from nodes.llm.tools import Usable, shared_tool
from nodes.matching.index import index_of


def check_tools(spec: JourneySpec, tools: Mapping[str, Any]) -> None:
    """Refuse a tool that is none, or that the journey, if it declares its tools, does not name.

    A concierge declares its tools if all of its journeys do.

    Raises:
        ConfigurationError: One is no tool, or its name is no tool of the journey.
    """
    closed = bool(spec.tools) and all(part.tools for part in spec.parts.values())
    for name, given in tools.items():
        if name in spec.retrievers:
            _check_retriever(spec, name, given)
        if is_only_retriever(spec, name):
            continue
        if closed and name not in spec.tools:
            hint = did_you_mean(name, list(spec.tools))
            raise ConfigurationError(
                f"{spec.name} declares no tool '{name}'.{hint} Its tools: {', '.join(spec.tools)}."
            )
        shared_tool(name, given, spec.tools.get(name))


def shared_tools(spec: JourneySpec, tools: Mapping[str, Any]) -> dict[str, Usable]:
    """Return the tools of a journey, by name.

    Raises:
        ConfigurationError: One is no tool, or is missing (all that are missing are named); or a
            pathway calls one as it cannot be called.
    """
    check_tools(spec, tools)
    tools = {**_own(spec), **tools}
    if missing := [name for name in _needed(spec) if name not in tools]:
        raise ConfigurationError(
            f"{spec.name} has no tool for: {', '.join(missing)}. "
            "Pass what does the work as tools={name: function}."
        )
    shared = {
        name: shared_tool(name, tools[name], spec.tools.get(name))
        for name in tools
        if not is_only_retriever(spec, name)
    }
    for pathway in spec.pathways.values():
        for call in pathway.calls:
            _check_call(pathway, call, shared[call.tool])
        for effect in pathway.effects:
            _check_effect(pathway, effect, shared[effect.tool])
    return shared


def is_only_retriever(spec: JourneySpec, name: str) -> bool:
    """Say whether a name is that of a retriever, and of no tool as well."""
    return name in spec.retrievers and name not in _needed(spec, retrievers=False)


def _check_retriever(spec: JourneySpec, name: str, given: Any) -> None:
    """Refuse what questions cannot be put to.

    Raises:
        ConfigurationError: It is nothing of the kind.
    """
    if fault := retriever_fault(given, named=False):
        raise ConfigurationError(f"{spec.name}: the retriever '{name}' is {shown(given)}; {fault}.")


def tools_of(
    spec: JourneySpec, pathway: PathwaySpec, shared: Mapping[str, Usable]
) -> Mapping[str, Usable]:
    """Return the tools that agents of a pathway may use: not those that only others declare."""
    own, kept = spec.part_of(pathway.id).tools, _own(spec)
    return {
        name: tool
        for name, tool in shared.items()
        if name in own or (name not in spec.tools and name not in kept)
    }


def _own(spec: JourneySpec) -> dict[str, Any]:
    """Return the functions that effects bring along, by name.

    Raises:
        ConfigurationError: Two of them have one name.
    """
    found: dict[str, Any] = {}
    for pathway in spec.pathways.values():
        for effect in filter(lambda one: one.function, pathway.effects):
            if found.setdefault(effect.tool, effect.function) is not effect.function:
                raise ConfigurationError(
                    f"{pathway.where}: another effect has a function '{effect.tool}' too. "
                    "Rename one of them."
                )
    return found


def _check_call(pathway: PathwaySpec, call: Call, usable: Usable) -> None:
    """Refuse a call that the user would have to confirm, or whose arguments the tool does not take.

    Raises:
        ConfigurationError: It is one of these.
    """
    if usable.confirm:
        raise ConfigurationError(
            f"{pathway.where}: it calls '{call.tool}', which the user confirms; only a model agent "
            "can ask for that. Name it in __tools__."
        )
    _check_arguments(pathway, call, usable)


def _check_effect(pathway: PathwaySpec, effect: Effect, usable: Usable) -> None:
    """Refuse an effect that the user would have to confirm where nothing is read back to them.

    Raises:
        ConfigurationError: It is one, or its arguments are not those of the tool.
    """
    fields = pathway.form.fields if pathway.form else ()
    if usable.confirm and not any(field.confirm for field in fields):
        raise ConfigurationError(
            f"{pathway.where}: the user confirms '{effect.tool}', and nothing here is read back to "
            "them. Give a field confirm=True."
        )
    _check_arguments(pathway, effect, usable)


def _check_arguments(pathway: PathwaySpec, call: Call | Effect, usable: Usable) -> None:
    known = list(usable.parameters.properties[0])
    for name in call.arguments:
        if name not in known:
            raise ConfigurationError(
                f"{pathway.where}: the tool '{call.tool}' has no parameter '{name}'."
                f"{did_you_mean(name, known)} It has: {', '.join(known) or 'none'}."
            )


def _needed(spec: JourneySpec, *, retrievers: bool = True) -> list[str]:
    """Return the names of the tools that must be there: all declared, called, and that check."""
    called = [call.tool for pathway in spec.pathways.values() for call in pathway.calls]
    taken = [effect.tool for pathway in spec.pathways.values() for effect in pathway.effects]
    known = spec.retrievers if retrievers else []
    return list(dict.fromkeys([*spec.tools, *called, *taken, *checking_tools(spec), *known]))


def reserved_in(spec: JourneySpec, pathway: PathwaySpec) -> frozenset[str]:
    """Return the names of the tools that only a guideline gives in a pathway."""
    journey = spec.part_of(pathway.id).id
    return frozenset(
        tool
        for guideline in index_of(spec.guidelines).giving
        if guideline.applies_in(pathway.id, journey)
        for tool in guideline.tools
    )
