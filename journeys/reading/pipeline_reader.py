"""Read `__pipeline__` and `__pipeline_config__` of a pathway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys.agents.agent_card import Agent, may_name
from journeys.errors import ConfigurationError, did_you_mean, shown
from journeys.faults import Fault
from journeys.pipelines.pattern import PatternPipeline
from journeys.pipelines.pipeline import Pipeline
from journeys.pipelines.shapes import SHAPES, Shape, error_handling_faults, setting_faults


def read_pipeline(
    declared: tuple[Any, Any], id_: str, where: str, named: Sequence[str], faults: list[Fault]
) -> PatternPipeline | None:
    """Return the pipeline of a pathway; None if nobody works there, or it has faults.

    Args:
        declared: Its `__pipeline__` and `__pipeline_config__`.
        id_: Its id.
        where: The class, for the faults.
        named: The names in `__agents__`.
        faults: Takes what is wrong, one sentence for each.
    """
    value, config = declared
    if not isinstance(config, Mapping):
        faults.append(
            Fault(f"__pipeline_config__ is {shown(config)}; it must be a dict.", where=where)
        )
        return None
    found: PatternPipeline | list[str] | None
    if isinstance(value, Pipeline):
        found = _of_object(value, id_, config, named)
    else:
        found = _of_name(value, id_, config, named)
    if isinstance(found, list):
        faults += [Fault(fault, "pipeline", where=where) for fault in found]
        return None
    return found


def registered(pipeline: PatternPipeline | None, named: Sequence[str]) -> tuple[str, ...]:
    """Return the names that the journey registers agents for, in the order of their work."""
    if pipeline is None:
        return tuple(named)
    left = [agent.name for _, agent in pipeline.leaves if agent.call is None]
    return tuple(dict.fromkeys([name for name in named if name in left] + left))


def _of_object(
    pipeline: Pipeline, id_: str, config: Mapping[str, Any], named: Sequence[str]
) -> PatternPipeline | list[str] | None:
    faults = []
    if config:
        faults.append("__pipeline__ is an object, so __pipeline_config__ has nothing to say.")
    if named and named != (id_,):
        faults.append("__pipeline__ is an object, which has its agents; take __agents__ away.")
    if faults:
        return faults
    if isinstance(pipeline, PatternPipeline):
        return pipeline
    return PatternPipeline("sequential", [Agent(pipeline)], error_handling="fail-fast", name=id_)


def _of_name(
    value: Any, id_: str, config: Mapping[str, Any], named: Sequence[str]
) -> PatternPipeline | list[str] | None:
    if value not in SHAPES:
        hint = did_you_mean(str(value), list(SHAPES))
        return [f"__pipeline__ is {shown(value)}.{hint} One of: {', '.join(SHAPES)}."]
    shape = SHAPES[value]
    others = (*shape.roles, "error_handling")
    settings = {name: config[name] for name in config if name not in others}
    handling = config.get("error_handling", "fail-fast")
    faults = [*_setting_faults(value, settings), *error_handling_faults(handling)]
    faults += _role_faults(shape, config, named)
    if faults:
        return [f"__pipeline_config__: {fault}" for fault in faults]
    roles = {role: config[role] for role in shape.roles if config.get(role) is not None}
    if not (named or roles) or not all(map(may_name, named)):
        return None
    try:
        peers = [Agent(name=name) for name in named if name not in roles.values()]
        return PatternPipeline(value, peers, roles, settings, error_handling=handling, name=id_)
    except ConfigurationError as error:
        return str(error).splitlines()


def _setting_faults(pattern: str, settings: Mapping[str, Any]) -> list[str]:
    known = (*SHAPES[pattern].settings, *SHAPES[pattern].roles, "error_handling")
    unknown = [name for name in settings if name not in SHAPES[pattern].settings]
    faults = [
        f"{shown(name)} is nothing that {pattern} has.{did_you_mean(str(name), known)} "
        f"It takes: {', '.join(known)}."
        for name in unknown
    ]
    left = {name: value for name, value in settings.items() if name not in unknown}
    return [*faults, *setting_faults(pattern, left)]


def _role_faults(shape: Shape, config: Mapping[str, Any], named: Sequence[str]) -> list[str]:
    faults = []
    taken: dict[str, str] = {}
    for role in shape.roles:
        name = config.get(role)
        if name is None:
            if role in shape.required:
                faults.append(f"it names no {role}; write {{'{role}': one of __agents__}}.")
        elif name not in named:
            hint = did_you_mean(str(name), list(named))
            faults.append(f"{role} is {shown(name)}, which is not in __agents__.{hint}")
        elif name in taken:
            faults.append(f"'{name}' is both {taken[name]} and {role}.")
        else:
            taken[name] = role
    if named and not faults and len(taken) == len(named):
        faults.append(f"nobody is left in __agents__ for its {shape.peers}.")
    return faults
