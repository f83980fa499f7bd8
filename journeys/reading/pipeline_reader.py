"""Read `__pipeline__` and `__pipeline_config__` of a pathway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeygraph.journeys.agents.agent import Agent, may_name
from journeygraph.journeys.errors import ConfigurationError, did_you_mean, one_of, shown
from journeygraph.journeys.faults import Fault, as_where
from journeygraph.journeys.pipelines.pattern import PatternPipeline
from journeygraph.journeys.pipelines.pattern_kinds import PATTERNS
from journeygraph.journeys.pipelines.pipeline import Pipeline

_CONFIG = "__pipeline_config__"


def read_pipeline(
    value: Any, config: Any, id_: str, where: str, named: Sequence[str], faults: list[Fault]
) -> PatternPipeline | None:
    """Return the pipeline of a pathway; None if it has no agents, or has faults.

    Args:
        config: Its `__pipeline_config__`; of a file, the pipeline as it was read, without agents.
    """
    at = as_where(where)
    found: list[Fault] = []
    pipeline = None
    if not isinstance(config, (Mapping, PatternPipeline)):
        remedy = "it must be a dict."
        found = [Fault(f"{_CONFIG} is {shown(config)}", _CONFIG, remedy=remedy)]
    elif isinstance(value, Pipeline):
        found = [*_object_faults(id_, config, named)]
        pipeline = None if found else _as_pattern(value, id_)
    elif not isinstance(value, str) or value not in PATTERNS:
        remedy = one_of(value, tuple(PATTERNS))
        found = [Fault(f"__pipeline__ is {shown(value)}", "__pipeline__", remedy=remedy)]
    else:
        keys = at.key(_CONFIG, "pipeline"), at.key("__agents__")
        pipeline = _of_name(PATTERNS[value], config, id_, named, keys, found)
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
    return Pipeline.sequential([Agent(pipeline)], error_handling="fail-fast", name=id_)


def _of_name(
    made: type[PatternPipeline],
    config: Any,
    id_: str,
    named: Sequence[str],
    keys: tuple[str, str],
    faults: list[Fault],
) -> PatternPipeline | None:
    if isinstance(config, PatternPipeline):
        names = [name for name in config.model_fields_set if config.has_sound(name)]
        given = {name: getattr(config, name) for name in names if name != "pattern"}
        is_sound = config.is_whole
    else:
        given = {str(key): value for key, value in config.items()}
        is_sound = True
        faults += _key_faults(made, given, keys[0])
    roles = {role: given[role] for role in made.role_names() if given.get(role) is not None}
    holders = {role: getattr(held, "name", held) for role, held in roles.items()}
    faults += _role_faults(made, holders, named, keys)
    peers = [name for name in named if name not in holders.values()]
    if faults or not is_sound or not (named or holders) or not all(map(may_name, named)):
        return None
    try:
        return made(**{"error_handling": "fail-fast", **given, made.peers(): peers, "name": id_})
    except ConfigurationError as error:
        found = [_fault(keys[0], one.message, *one.path, remedy=one.remedy) for one in error.faults]
        faults += found or [Fault(str(error), keys[0])]
        return None


def _fault(key: str, message: str, *path: str | int, remedy: str = "") -> Fault:
    return Fault(f"{key}: {message}", key, *path, remedy=remedy)


def _key_faults(made: type[PatternPipeline], given: Mapping[str, Any], key: str) -> Iterator[Fault]:
    known = ["error_handling", *made.setting_names(), *made.role_names()]
    for name in given:
        if name == "pattern":
            message = "the pattern is already set in __pipeline__."
            yield _fault(key, message, name, remedy="Remove it.")
        elif name not in known:
            message = f"'{name}' is not a valid key of {made.called()}."
            hint = made.elsewhere.get(name) or did_you_mean(name, known)
            yield _fault(key, message, name, remedy=f"{hint} Known: {', '.join(known)}.")


def _role_faults(
    made: type[PatternPipeline],
    holders: Mapping[str, Any],
    named: Sequence[str],
    keys: tuple[str, str],
) -> list[Fault]:
    key, agents = keys
    faults = []
    taken: dict[Any, str] = {}
    for role, name in holders.items():
        if not isinstance(name, str) or name not in named:
            message = f"{role} is {shown(name)}, which is not in {agents}."
            faults.append(_fault(key, message, role, remedy=did_you_mean(str(name), list(named))))
        elif name in taken:
            faults.append(_fault(key, f"'{name}' is both {taken[name]} and {role}.", role))
        else:
            taken[name] = role
    if named and not faults and len(taken) == len(named):
        message = f"all {agents} have roles, so there are no {made.peers()}."
        faults.append(_fault(key, message, remedy=f"Add {made.peers()} to {agents}."))
    return faults
