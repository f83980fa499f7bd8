"""Whether the tools that a pathway allows are there to be allowed, and no others can be used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from graphs.tools import reserved_in
from journeys import (
    Agent,
    ConfigurationError,
    JourneySpec,
    ModelAgent,
    PathwaySpec,
    PatternPipeline,
)
from journeys.errors import did_you_mean
from nodes.llm.tools import tool_name
from nodes.matching.index import index_of


def check_allowed(
    spec: JourneySpec, agents: Mapping[str, Any], shared: Collection[str] = ()
) -> None:
    """Refuse a `__tools__` that names what no agent of its pathway brings, or does not reach.

    Where all agents are functions, which do not let a model call anything, nothing is judged.

    Args:
        spec: The journey.
        agents: Those that are registered, by name.
        shared: Names of the journey's own tools.

    Raises:
        ConfigurationError: A name in a `__tools__` or in the tools of a guideline is nobody's, with
            did-you-mean; or a pipeline that was registered brings tools that are not allowed.
    """
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
    """Refuse a guideline that gives a tool which nobody has where it applies.

    Args:
        spec: The journey.
        there: The tools that are there, by the pathways in which models work.
    """
    for guideline in index_of(spec.guidelines).giving:
        places = [id_ for id_ in there if guideline.applies_in(id_, spec.part_of(id_).id)]
        known = {name for id_ in places for name in there[id_]}
        for name in guideline.tools:
            if places and name not in known:
                raise ConfigurationError(
                    f"{guideline.where}: tools names '{name}', which nobody has there."
                    f"{did_you_mean(name, sorted(known))} There are: "
                    f"{', '.join(sorted(known)) or 'none'}."
                )


def _check_names(pathway: PathwaySpec, brought: list[str]) -> None:
    for name in pathway.tools or ():
        if name not in brought:
            raise ConfigurationError(
                f"{pathway.where}: __tools__ names '{name}', which no agent of the pathway brings."
                f"{did_you_mean(name, brought)} They bring: {', '.join(brought) or 'none'}."
            )


def _check_reach(
    pathway: PathwaySpec, pipeline: PatternPipeline, reserved: Collection[str]
) -> None:
    """Refuse tools that are not allowed in a pipeline that runs by itself, as one that is named.

    Args:
        pathway: Where it works.
        pipeline: The pipeline.
        reserved: Names of the tools that only a guideline gives there.
    """
    brought = _brought(_models_in(pipeline))
    if pathway.tools is None:
        what, beyond = "What a guideline gives", [name for name in brought if name in reserved]
    else:
        what, beyond = "__tools__", [name for name in brought if name not in pathway.tools]
    if beyond:
        raise ConfigurationError(
            f"{pathway.where}: {what} does not reach into the pipeline '{pipeline.name}', which "
            f"was registered as an agent and uses {', '.join(beyond)}. Make it the __pipeline__."
        )


def _brought(models: Iterator[ModelAgent] | list[ModelAgent]) -> list[str]:
    return list(dict.fromkeys(tool_name(tool) for model in models for tool in model.tools))


def _models_in(given: Any) -> Iterator[ModelAgent]:
    """Yield the model agents in what was registered, at whatever depth."""
    if isinstance(given, ModelAgent):
        yield given
    elif isinstance(given, Agent):
        yield from _models_in(given.call)
    elif isinstance(given, PatternPipeline):
        for _, leaf in given.leaves:
            yield from _models_in(leaf)
