"""Tools of a journey: declared, used and allowed names, and their functions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from journeygraph.graphs.agents.fitting import SignatureMisfit, misfits
from journeygraph.journeys import (
    Agent,
    Call,
    ConfigurationError,
    Field,
    JourneySpec,
    ModelAgent,
    PathwaySpec,
    PatternPipeline,
    Tool,
)
from journeygraph.journeys.declarations.fields import Check, ToolCheck
from journeygraph.journeys.declarations.knowledge import retriever_fault
from journeygraph.journeys.errors import did_you_mean, shown
from journeygraph.journeys.faults import Fault, as_where
from journeygraph.journeys.spec.spec import frozen
from journeygraph.nodes.authored import Overdue
from journeygraph.nodes.guidelines.index import index_of
from journeygraph.nodes.llm.tools import (
    Occasion,
    Toolbox,
    Usable,
    shared_tool,
    tool_name,
    toolbox_of,
)


def checking_tools(spec: JourneySpec) -> list[str]:
    """Return the names of the tools that check values."""
    return [check.tool for pathway in spec.pathways.values() for check in _checks(pathway)]


def with_tools(spec: JourneySpec, toolbox: Toolbox) -> JourneySpec:
    """Return a journey whose validators call their tools."""
    if not checking_tools(spec):
        return spec
    pathways = {id_: _bound(pathway, toolbox) for id_, pathway in spec.pathways.items()}
    parts = {id_: with_tools(part, toolbox) for id_, part in spec.parts.items()}
    return replace(spec, pathways=frozen(pathways), parts=frozen(parts))


def _checks(pathway: PathwaySpec) -> list[ToolCheck]:
    fields = pathway.form.fields if pathway.form else ()
    functions = [v.function for field in fields for v in field.validators if isinstance(v, Check)]
    return [function for function in functions if isinstance(function, ToolCheck)]


def _bound(pathway: PathwaySpec, toolbox: Toolbox) -> PathwaySpec:
    if pathway.form is None or not _checks(pathway):
        return pathway
    fields = tuple(_bound_field(field, toolbox) for field in pathway.form.fields)
    return pathway.model_copy(update={"form": pathway.form.model_copy(update={"fields": fields})})


def _bound_field(field: Field, toolbox: Toolbox) -> Field:
    asking = tuple(_asking(item, field.name, toolbox) for item in field.validators)
    return field.model_copy(update={"validators": asking})


def _asking(validator: Any, field: str, toolbox: Toolbox) -> Any:
    if isinstance(validator, Check) and isinstance(validator.function, ToolCheck):
        asked = _Asked(validator.function.tool, field, toolbox)
        return validator.model_copy(update={"function": asked})
    return validator


@dataclass(frozen=True, slots=True)
class _Asked:
    """A tool as a function that checks values; see `ToolCheck`."""

    tool: str
    field: str
    toolbox: Toolbox

    async def __call__(self, value: Any, context: Mapping[str, Any]) -> Any:
        known = {"value": value, **context, self.field: value}
        arguments, missing = self.toolbox.arguments_of(Call(self.tool), known)
        if missing:
            return None
        return await self.toolbox.call(self.tool, arguments, Occasion(context, run=uuid4().hex))


def check_tools(spec: JourneySpec, tools: Mapping[str, Any]) -> None:
    """Refuse a tool that is not valid, or that a journey with declared tools does not declare.

    A concierge declares its tools if all of its journeys do.
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


def opened_tools(
    spec: JourneySpec, agents: Mapping[str, Any], tools: Mapping[str, Any], overdue: Overdue
) -> tuple[Toolbox, dict[str, Usable]]:
    """Return the toolbox of a journey, and its tools by name.

    Raises:
        ConfigurationError: A tool is missing or does not fit, or a name in `__tools__` is unknown.
    """
    shared = shared_tools(spec, tools)
    check_allowed(spec, agents, shared)
    return toolbox_of(spec.id, [], overdue, shared=shared), shared


def shared_tools(spec: JourneySpec, tools: Mapping[str, Any]) -> dict[str, Usable]:
    """Return the tools of a journey, by name.

    Raises:
        ConfigurationError: With all `tool_refusals`, one in each line.
    """
    if refused := [*tool_refusals(spec, tools)]:
        raise ConfigurationError("\n".join(refused))
    tools = {**_own(spec), **tools}
    return {
        name: shared_tool(name, tools[name], spec.tools.get(name))
        for name in tools
        if not is_only_retriever(spec, name)
    }


def tool_refusals(spec: JourneySpec, tools: Mapping[str, Any]) -> Iterator[str]:
    """Yield why a journey cannot run with these tools; the same wherever they are judged.

    An object is not a tool, tools are missing, or a function does not fit what the journey calls.
    """
    try:
        check_tools(spec, tools)
        tools = {**_own(spec), **tools}
    except ConfigurationError as error:
        yield str(error)
        return
    if missing := [name for name in _needed(spec) if name not in tools]:
        yield (
            f"{spec.name} has no tool for: {', '.join(missing)}. "
            "Pass the functions as tools={name: function}."
        )
    yield from (found.fault for found in tool_misfits(spec, tools) if found.is_certain)
    for pathway in spec.pathways.values():
        yield from _unconfirmed(pathway, tools)


def tool_misfits(spec: JourneySpec, tools: Mapping[str, Any]) -> Iterator[SignatureMisfit]:
    """Yield the differences between a journey and the functions of its tools; see `misfits`."""
    known = {**_own(spec), **tools}
    return misfits(spec, {n: one for n, one in known.items() if not is_only_retriever(spec, n)})


def is_only_retriever(spec: JourneySpec, name: str) -> bool:
    """Return whether a name is only that of a retriever, not of a tool too."""
    return name in spec.retrievers and name not in _needed(spec, retrievers=False)


def _check_retriever(spec: JourneySpec, name: str, given: Any) -> None:
    if fault := retriever_fault(given, named=False):
        raise ConfigurationError(f"{spec.name}: the retriever '{name}' is {shown(given)}; {fault}.")


def tools_of(
    spec: JourneySpec, pathway: PathwaySpec, shared: Mapping[str, Usable]
) -> Mapping[str, Usable]:
    """Return the tools that agents of a pathway may use, without those of other pathways."""
    own, kept = spec.part_of(pathway.id).tools, _own(spec)
    return {
        name: tool
        for name, tool in shared.items()
        if name in own or (name not in spec.tools and name not in kept)
    }


def _own(spec: JourneySpec) -> dict[str, Any]:
    """Return the functions of effects, by name."""
    found: dict[str, Any] = {}
    for pathway in spec.pathways.values():
        for effect in filter(lambda one: one.function, pathway.effects):
            if found.setdefault(effect.tool, effect.function) is not effect.function:
                raise ConfigurationError(
                    f"{pathway.where}: another effect also has a function '{effect.tool}'. "
                    "Rename one of them."
                )
    return found


def _unconfirmed(pathway: PathwaySpec, tools: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tools that need a confirmation where the user cannot be asked."""
    confirmed = {name for name, one in tools.items() if isinstance(one, Tool) and one.confirm}
    for call in pathway.calls:
        if call.tool in confirmed:
            yield (
                f"{pathway.where}: '{call.tool}' needs a confirmation by the user, and only a "
                "model agent can ask for it. Put the tool into __tools__ instead of calling it."
            )
    fields = pathway.form.fields if pathway.form else ()
    if any(field.confirm for field in fields):
        return
    for effect in pathway.effects:
        if effect.tool in confirmed:
            yield (
                f"{pathway.where}: '{effect.tool}' needs a confirmation, but no field is read back "
                "to the user. Give a field confirm=True."
            )


def _needed(spec: JourneySpec, *, retrievers: bool = True) -> list[str]:
    """Return the names of the required tools: declared, called, or used by validators."""
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


def check_allowed(
    spec: JourneySpec, agents: Mapping[str, Any], shared: Collection[str] = ()
) -> None:
    """Refuse a `__tools__` with names that no agent of its pathway has, or that it cannot restrict.

    If all agents are functions, nothing is checked, because no model calls tools.
    """
    agents = {n: one.call if isinstance(one, Agent) else one for n, one in agents.items()}
    there: dict[str, list[str]] = {}
    for pathway in spec.pathways.values():
        if pathway.pipeline is None:
            continue
        leaves = [leaf for _, leaf in pathway.pipeline.leaves]
        given = [agents.get(a.name, ModelAgent()) if a.call is None else a.call for a in leaves]
        models = [model for item in given for model in _models_in(item)]
        if models:
            there[pathway.id] = [*_brought(models), *shared]
        if models and pathway.tools is not None:
            _check_names(pathway, there[pathway.id])
        for item in given:
            if isinstance(item, PatternPipeline):
                _check_reach(pathway, item, reserved_in(spec, pathway))
    _check_given(spec, there)


def _check_given(spec: JourneySpec, there: Mapping[str, Collection[str]]) -> None:
    """Refuse a guideline with a tool that no agent has in its pathways."""
    for guideline in index_of(spec.guidelines).giving:
        places = [id_ for id_ in there if guideline.applies_in(id_, spec.part_of(id_).id)]
        known = {name for id_ in places for name in there[id_]}
        for name in guideline.tools:
            if places and name not in known:
                message = f"tools has '{name}', which no agent has there."
                remedy = f"{did_you_mean(name, sorted(known))} Tools there: "
                remedy += f"{', '.join(sorted(known)) or 'none'}."
                where = as_where(guideline.where)
                raise ConfigurationError(Fault(message, "tools", remedy=remedy, where=where))


def _check_names(pathway: PathwaySpec, brought: list[str]) -> None:
    for name in pathway.tools or ():
        if name not in brought:
            at = as_where(pathway.where)
            key = at.key("__tools__")
            message = f"{key} has '{name}', which no agent of the {at.pathway} has."
            remedy = f"{did_you_mean(name, brought)} Their tools: {', '.join(brought) or 'none'}."
            raise ConfigurationError(Fault(message, key, remedy=remedy, where=at))


def _check_reach(
    pathway: PathwaySpec, pipeline: PatternPipeline, reserved: Collection[str]
) -> None:
    """Refuse tools that are not allowed in a pipeline that was registered as an agent."""
    brought = _brought(_models_in(pipeline))
    if pathway.tools is None:
        what, beyond = "A tool of a guideline", [name for name in brought if name in reserved]
    else:
        what, beyond = "__tools__", [name for name in brought if name not in pathway.tools]
    if beyond:
        raise ConfigurationError(
            f"{pathway.where}: {what} does not apply within the pipeline '{pipeline.name}', which "
            f"was registered as an agent and uses {', '.join(beyond)}. Make it the __pipeline__."
        )


def _brought(models: Iterator[ModelAgent] | list[ModelAgent]) -> list[str]:
    return list(dict.fromkeys(tool_name(tool) for model in models for tool in model.tools))


def _models_in(given: Any) -> Iterator[ModelAgent]:
    if isinstance(given, ModelAgent):
        yield given
    elif isinstance(given, Agent):
        yield from _models_in(given.call)
    elif isinstance(given, PatternPipeline):
        for _, leaf in given.leaves:
            yield from _models_in(leaf)
