"""Read `__pipeline__` and `__pipeline_config__` of a pathway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeygraph.journeys.agents.agent import Agent, may_name
from journeygraph.journeys.errors import ConfigurationError, did_you_mean, one_of, shown
from journeygraph.journeys.faults import Fault, as_where
from journeygraph.journeys.pipelines.pattern import PatternPipeline
from journeygraph.journeys.pipelines.pipeline import Pipeline
from journeygraph.journeys.pipelines.shapes import SHAPES, InPathway, in_pathway

_CONFIG = "__pipeline_config__"


def read_pipeline(
    declared: tuple[Any, Any], id_: str, where: str, named: Sequence[str], faults: list[Fault]
) -> PatternPipeline | None:
    """Return the pipeline of a pathway; None if it has no agents, or has faults.

    Args:
        declared: Its `__pipeline__` and `__pipeline_config__`.
        id_: Its id.
        where: The class, for the faults.
        named: The names in `__agents__`.
        faults: Takes what is wrong, one sentence for each.
    """
    value, config = declared
    at = as_where(where)
    if not isinstance(config, (Mapping, InPathway)):
        message = f"{_CONFIG} is {shown(config)}"
        faults.append(Fault(message, _CONFIG, remedy="it must be a dict.", where=at))
        return None
    if isinstance(value, Pipeline):
        found = [*_object_faults(id_, config, named)]
        pipeline = None if found else _as_pattern(value, id_)
    elif not isinstance(value, str) or value not in SHAPES:
        remedy = one_of(value, tuple(SHAPES))
        found = [Fault(f"__pipeline__ is {shown(value)}", "__pipeline__", remedy=remedy)]
        pipeline = None
    else:
        key = at.key(_CONFIG, "pipeline")
        form, found = _read(value, config, key)
        found += _role_faults(form, named, key, at.key("__agents__"))
        pipeline = None if found or not form.is_whole else _of_name(form, id_, named, key, found)
    faults += [fault.at(at) for fault in found]
    return pipeline


def registered(pipeline: PatternPipeline | None, named: Sequence[str]) -> tuple[str, ...]:
    """Return the names that the journey registers agents for, in the order of their work."""
    if pipeline is None:
        return tuple(named)
    left = [agent.name for _, agent in pipeline.leaves if agent.call is None]
    return tuple(dict.fromkeys([name for name in named if name in left] + left))


def _object_faults(id_: str, config: Any, named: Sequence[str]) -> Iterator[Fault]:
    if config:
        message = f"{_CONFIG} has no effect: __pipeline__ is an object."
        yield Fault(message, _CONFIG, remedy="Remove it.")
    if named and named != (id_,):
        message = "__agents__ has no effect: __pipeline__ is an object with its own agents."
        yield Fault(message, "__agents__", remedy="Remove it.")


def _as_pattern(pipeline: Pipeline, id_: str) -> PatternPipeline:
    if isinstance(pipeline, PatternPipeline):
        return pipeline
    return PatternPipeline("sequential", [Agent(pipeline)], error_handling="fail-fast", name=id_)


def _read(pattern: str, config: Any, key: str) -> tuple[InPathway, list[Fault]]:
    """Return the settings of a pattern and their faults; those of files are already noted."""
    if isinstance(config, InPathway):
        return config, []
    given = {str(key): value for key, value in config.items()}
    form = in_pathway(pattern)(**{**given, "pattern": pattern})
    found = [_fault(key, fault.message, *fault.path, remedy=fault.remedy) for fault in form.faults]
    if "pattern" in given:
        message = "the pattern is already set in __pipeline__."
        found.append(_fault(key, message, "pattern", remedy="Remove it."))
    return form, found


def _fault(key: str, message: str, *path: str | int, remedy: str = "") -> Fault:
    return Fault(f"{key}: {message}", key, *path, remedy=remedy)


def _of_name(
    form: InPathway, id_: str, named: Sequence[str], key: str, faults: list[Fault]
) -> PatternPipeline | None:
    roles = form.holders
    if not (named or roles) or not all(map(may_name, named)):
        return None
    peers = [Agent(name=name) for name in named if name not in roles.values()]
    settings, handling = form.settings, form.error_handling
    try:
        return PatternPipeline(
            form.pattern, peers, roles, settings, error_handling=handling, name=id_
        )
    except ConfigurationError as error:
        found = [
            Fault(f"Pipeline.{form.pattern}: {one.message}", key, remedy=one.remedy)
            for one in error.faults
        ]
        faults += found or [Fault(str(error), key)]
        return None


def _role_faults(form: InPathway, named: Sequence[str], key: str, agents: str) -> list[Fault]:
    faults = []
    taken: dict[str, str] = {}
    for role, name in form.holders.items():
        if name not in named:
            message = f"{role} is {shown(name)}, which is not in {agents}."
            hint = did_you_mean(name, list(named))
            faults.append(_fault(key, message, role, remedy=hint))
        elif name in taken:
            faults.append(_fault(key, f"'{name}' is both {taken[name]} and {role}.", role))
        else:
            taken[name] = role
    if named and not faults and form.is_whole and len(taken) == len(named):
        peers = SHAPES[form.pattern].peers
        message = f"all {agents} have roles, so there are no {peers}."
        faults.append(_fault(key, message, remedy=f"Add {peers} to {agents}."))
    return faults
