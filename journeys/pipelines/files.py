"""Pipelines as plain data and as JSON: agents by their names, never code.

Schema 1 of a pipeline: `schema` (at the top alone), `pattern`, `name`, `description`, `agents`,
`roles`, `settings`, `error_handling` and `limits`. Schema 1 of an agent: `name`, its card
(`description`, `skills`, `input_modes`, `output_modes`), `weight`, and where it comes from:
`pipeline` holds one that stands in it, `registered_by` is "journey" for one that the journey
registers; without either it is looked up by its name. A function among the settings is written by
its name, too. Models, embeddings and clocks are not written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from journeys.agents.agent_card import Agent, Skill, own_skills
from journeys.errors import ConfigurationError, shown
from journeys.pipelines.form import Repeated, told_of
from journeys.pipelines.limits import Limits
from journeys.pipelines.pattern import PatternPipeline
from journeys.pipelines.reading import JOURNEY, LIMITS, SCHEMA, read_pipeline

_LONGEST_NUMBER = 40
"""Digits of a whole number that are worth reading; longer ones are out of every range."""


def pipeline_data(pipeline: PatternPipeline) -> dict[str, Any]:
    """Return a pipeline as plain data.

    Raises:
        ConfigurationError: Different agents or functions in it have the same name, or a function
            has none; each with its path.
    """
    writer = _Writer()
    data = {"schema": SCHEMA, **writer.pipeline("$", pipeline)}
    if writer.faults:
        raise ConfigurationError("\n".join(writer.faults))
    return data


def pipeline_text(pipeline: PatternPipeline, indent: int | None = None) -> str:
    """Return a pipeline as JSON.

    Raises:
        ConfigurationError: As `pipeline_data`, or one of its texts holds half of a character.
    """
    text = json.dumps(pipeline_data(pipeline), ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ConfigurationError(
            f"{pipeline!r}: a text in it holds half of a character, which UTF-8 cannot write: "
            f"{error.object[max(0, error.start - 20) : error.end]!a}."
        ) from None
    return text


def pipeline_of(data: Mapping[str, Any], agents: Mapping[str, Any]) -> PatternPipeline:
    """Return the pipeline that data describes.

    Args:
        data: As `pipeline_data` returns it.
        agents: The agents, and functions among the settings, by name. Of an `Agent` the card and
            the weight hold where the data says nothing of them.

    Raises:
        ConfigurationError: Names every fault at once, each with its path.
    """
    if not isinstance(agents, Mapping):
        raise ConfigurationError(f"The agents are {told_of(agents)}; give a dict of them by name.")
    return read_pipeline(data, agents)


def pipeline_of_text(text: str, agents: Mapping[str, Any]) -> PatternPipeline:
    """Return the pipeline that a JSON text describes; see `pipeline_of`.

    Raises:
        ConfigurationError: It is no JSON, or as by `pipeline_of`.
    """
    if not isinstance(text, str):
        raise ConfigurationError(f"A pipeline's JSON is {told_of(text)}; it must be text.")
    try:
        data = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ConfigurationError(
            f"The text is no JSON at line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    except RecursionError:
        raise ConfigurationError("The text is JSON that nests too deep.") from None
    return pipeline_of(data, agents)


def _whole(digits: str) -> float:
    # Python itself refuses to read very long ones, without a word of where they stand.
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)


_DECODER = json.JSONDecoder(parse_int=_whole, object_pairs_hook=Repeated.unless_unambiguous)


class _Writer:
    """Writes pipelines, and notes what each name stands for."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._meant: dict[str, tuple[str, Any]] = {}

    def pipeline(self, path: str, pipeline: PatternPipeline) -> dict[str, Any]:
        return {
            "pattern": pipeline.pattern,
            "name": pipeline.name,
            "description": pipeline.description,
            "agents": [
                self._agent(f"{path}.agents[{place}]", agent)
                for place, agent in enumerate(pipeline.agents)
            ],
            "roles": {
                role: self._agent(f"{path}.roles.{role}", agent)
                for role, agent in pipeline.roles.items()
            },
            "settings": {
                name: self._setting(f"{path}.settings.{name}", value)
                for name, value in pipeline.settings.items()
            },
            "error_handling": pipeline.error_handling,
            "limits": _limits(pipeline.limits),
        }

    def _agent(self, path: str, agent: Agent) -> dict[str, Any]:
        return {
            "name": agent.name,
            "description": agent.description,
            **_skills(agent),
            "input_modes": list(agent.input_modes),
            "output_modes": list(agent.output_modes),
            "weight": agent.weight,
            **self._origin(path, agent),
        }

    def _origin(self, path: str, agent: Agent) -> dict[str, Any]:
        if agent.call is None:
            return {"registered_by": JOURNEY}
        if isinstance(agent.call, PatternPipeline):
            return {"pipeline": self.pipeline(f"{path}.pipeline", agent.call)}
        self._note(path, agent.name, agent.call)
        return {}

    def _setting(self, path: str, value: Any) -> Any:
        if not callable(value):
            return value
        name = getattr(value, "__name__", "<lambda>")
        if name == "<lambda>":
            self.faults.append(f"{path}: {shown(value)} has no name to write. Write a `def`.")
        self._note(path, name, value)
        return name

    def _note(self, path: str, name: str, meant: Any) -> None:
        other, known = self._meant.setdefault(name, (path, meant))
        if known is not meant and known != meant:
            self.faults.append(
                f"{path}: '{name}' stands for something else than at {other}, and a registry can "
                "hold only one of them. Name one otherwise: Agent(it, name='...')."
            )


def _skills(agent: Agent) -> dict[str, Any]:
    # A pipeline has those of the agents in it, which would be written anew at each level.
    if isinstance(agent.call, PatternPipeline) and agent.skills == own_skills(agent.call):
        return {}
    return {"skills": [_skill(skill) for skill in agent.skills]}


def _skill(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "examples": list(skill.examples),
        "synonyms": list(skill.synonyms),
    }


def _limits(limits: Limits) -> dict[str, Any]:
    return {name: getattr(limits, name) for name in LIMITS}
