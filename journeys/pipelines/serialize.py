"""Pipelines as plain data and as JSON: agents by their names, never code.

Schema 1 of a pipeline: `schema` (at the top alone), `pattern`, and the arguments of the pattern. An
agent has a `name`, its card (`description`, `skills`, `input_modes`, `output_modes`), `weight`, and
where it comes from: `pipeline` holds one that is nested in it, `registered_by` is "journey" for one
that the journey registers; without either it is looked up by its name. A function among the
settings is written by its name, too. Models, embeddings and clocks are not written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import KW_ONLY
from typing import Annotated, Any, NoReturn

from pydantic import ConfigDict
from pydantic_core import PydanticCustomError

from journeygraph.journeys.agents.agent import Agent, own_skills
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.sources import GONE, Source, paths_in, refused
from journeygraph.journeys.definitions.value_types import pattern
from journeygraph.journeys.errors import ConfigurationError, did_you_mean, shown
from journeygraph.journeys.faults import Fault, Path, SourceLocation, key_of
from journeygraph.journeys.pipelines.pattern import MOST_LEVELS, OUTSIDE, PatternPipeline
from journeygraph.journeys.pipelines.pattern_kinds import AnyPattern

SCHEMA = 1
"""Version of what is written and read."""
_JOURNEY = "journey"
_MOST_SHOWN = 60


def pipeline_data(pipeline: PatternPipeline) -> dict[str, Any]:
    """Return a pipeline as plain data.

    Raises:
        ConfigurationError: Different agents or functions in it have the same name, or a function
            has none; each with its path.
    """
    writer = _Writer()
    data = {"schema": SCHEMA, **writer.plain("$", pipeline)}
    if writer.faults:
        raise ConfigurationError("\n".join(writer.faults))
    return data


def pipeline_text(pipeline: PatternPipeline, indent: int | None = None) -> str:
    """Return a pipeline as JSON."""
    return json.dumps(pipeline_data(pipeline), ensure_ascii=False, allow_nan=False, indent=indent)


def pipeline_of(data: Mapping[str, Any], agents: Mapping[str, Any]) -> PatternPipeline:
    """Return the pipeline that data describes."""
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"The data of a pipeline is not JSON: {error}.") from None
    return pipeline_of_text(text, agents)


def pipeline_of_text(text: str, agents: Mapping[str, Any]) -> PatternPipeline:
    """Return the pipeline that a JSON text describes; see `pipeline_of`."""
    if not isinstance(agents, Mapping):
        raise ConfigurationError(f"The agents are {shown(agents)}; give a dict of them by name.")
    if not isinstance(text, str):
        raise ConfigurationError(f"A pipeline's JSON is {type(text).__name__}; it must be text.")
    try:
        data = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ConfigurationError(
            f"JSON syntax error at line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"The JSON cannot be read: {error}.") from None
    source = PipelineData(data, agents)
    made = source.pipeline()
    if made is None or source.faults:
        raise ConfigurationError("\n".join(dict.fromkeys(source.faults)), source.faults)
    return made


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    times = Counter(name for name, _ in pairs)
    if twice := [name for name, count in times.items() if count > 1]:
        raise ValueError(f"the key {shown(twice[0])} occurs more than once in an object")
    return dict(pairs)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no number {name}")


class _Written(Agent):
    """An agent in data: its card, and where it comes from."""

    model_config = ConfigDict(title="Agent")

    _: KW_ONLY
    name: Annotated[str, pattern("(?s).", "it must not be empty.")]
    pipeline: AnyPattern | None = None
    registered_by: Any = None


class _Document(Definition):
    """The top of the data."""

    pipeline: AnyPattern


class PipelineData(Source):
    """A pipeline as plain data, of which each part is read into its definition."""

    words = {"string_type": "text", **dict.fromkeys(("model_type", "dict_type"), "an object")}

    def __init__(self, data: Any, registry: Mapping[str, Any]) -> None:
        super().__init__()
        self._data = data
        self._registry = registry
        self._paths = paths_in(data)
        self._level = 1

    def pipeline(self) -> PatternPipeline | None:
        """Return the pipeline; faults are noted."""
        if not isinstance(self._data, dict):
            self._fault(f"it is {_kind(self._data)}", remedy="it must be an object.")
            return None
        schema = self._data.pop("schema", None)
        if type(schema) is not int or schema != SCHEMA:
            remedy = f"this version reads schema {SCHEMA}."
            self._fault(f"it is {_kind(schema)}", "schema", remedy=remedy)
            return None
        document = _Document.read({"pipeline": self._data}, self)
        return document.pipeline if document else None

    def hidden(self, cls: type[Definition]) -> Set[str]:
        """Return the fields that no data has."""
        return frozenset(OUTSIDE) if issubclass(cls, PatternPipeline) else cls.unwritten

    def known(self, cls: type[Definition]) -> list[str]:
        """Return what data may have for a definition."""
        return [name for name in cls.names() if name not in self.hidden(cls)]

    def named(self, path: Path) -> str:
        """Return the word for a value in a fault that begins with its path."""
        return "it"

    def shown(self, value: Any, held: Any, path: Path) -> str:
        """Return a value in few characters."""
        return _kind(value)

    def note(self, held: Any, fault: Fault) -> None:
        """Take down a fault of an object."""
        if id(held) in self._paths:
            path = (*self._paths[id(held)], *fault.path)
            self._fault(fault.message, *path, remedy=fault.remedy)

    def function(self, value: Any, variables: tuple[str, ...]) -> Any:
        """Return the function that is registered under a name."""
        if not isinstance(value, str):
            raise refused(f"it is {_kind(value)}", "it must be text.")
        found = self._registered(value)
        if not callable(found):
            raise refused(f"{shown(value)} is not registered as a function.")
        return found

    def agent(self, value: Any) -> Agent:
        """Return an agent with what it calls: a pipeline in it, nothing, or what is registered."""
        if self._level > MOST_LEVELS:
            raise refused(f"it has more than {MOST_LEVELS} levels of pipelines.")
        self._level += 1
        made = _Written.__pydantic_validator__.validate_python(value, **self.options)
        self._level -= 1
        if not made.is_whole or (made.pipeline and not made.pipeline.is_whole):
            raise PydanticCustomError(GONE, GONE)
        try:
            origin = self._origin(value, made)
            card = {n: getattr(made, n) for n in made.model_fields_set & Agent.keys().keys()}
            return origin.changed(**card) if isinstance(origin, Agent) else Agent(origin, **card)
        except ConfigurationError as error:
            raise refused(str(error)) from None

    def _origin(self, value: Mapping[str, Any], made: _Written) -> Any:
        if "pipeline" in value and "registered_by" in value:
            raise refused("it has both `pipeline` and `registered_by`", "keep one of them.")
        if "pipeline" in value:
            return made.pipeline
        if "registered_by" not in value:
            return self._registered(made.name)
        if made.registered_by != _JOURNEY:
            said = f"registered_by is {shown(made.registered_by)}"
            raise refused(said, f"it can only be '{_JOURNEY}'.")
        return None

    def _registered(self, name: str) -> Any:
        found = self._registry.get(name)
        if found is None:
            hint = did_you_mean(name[:_MOST_SHOWN], [str(each) for each in self._registry])
            raise refused(f"{_kind(name)} is not registered.", hint)
        return found

    def _fault(self, said: str, *path: str | int, remedy: str = "") -> None:
        where = SourceLocation(f"$.{key_of(path)}" if path else "$")
        self.faults.append(Fault(said, *path, remedy=remedy, where=where))


def _kind(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return shown(f"{value[:_MOST_SHOWN]}..." if str(value)[_MOST_SHOWN:] else value)


class _Writer:
    """Writes pipelines, and notes the meaning of each name."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._meant: dict[str, tuple[str, Any]] = {}

    def plain(self, path: str, value: Any) -> Any:
        if isinstance(value, Definition):
            names = [name for name in value.names() if name not in _left_out(value)]
            parts = {name: self.plain(f"{path}.{name}", getattr(value, name)) for name in names}
            return {**parts, **(self._origin(path, value) if isinstance(value, Agent) else {})}
        if isinstance(value, tuple):
            return [self.plain(f"{path}[{place}]", part) for place, part in enumerate(value)]
        return self._function(path, value) if callable(value) else value

    def _origin(self, path: str, agent: Agent) -> dict[str, Any]:
        if agent.call is None:
            return {"registered_by": _JOURNEY}
        if isinstance(agent.call, PatternPipeline):
            return {"pipeline": self.plain(f"{path}.pipeline", agent.call)}
        self._note(path, agent.name, agent.call)
        return {}

    def _function(self, path: str, value: Any) -> str:
        name: str = getattr(value, "__name__", "<lambda>")
        if name == "<lambda>":
            self.faults.append(
                f"{path}: {shown(value)} has no name. Use a function defined with `def`."
            )
        self._note(path, name, value)
        return name

    def _note(self, path: str, name: str, meant: Any) -> None:
        other, known = self._meant.setdefault(name, (path, meant))
        if known is not meant and known != meant:
            self.faults.append(
                f"{path}: '{name}' names something else at {other}. Rename one of them: "
                "Agent(it, name='...')."
            )


def _left_out(value: Definition) -> Set[str]:
    """Return the fields that are not written.

    A pipeline has the skills of the agents in it, which would be written again at each level.
    """
    if isinstance(value, PatternPipeline):
        return frozenset(OUTSIDE)
    inner = value.call if isinstance(value, Agent) else None
    is_own = isinstance(inner, PatternPipeline) and value.skills == own_skills(inner)  # type: ignore[attr-defined]
    return value.unwritten | {"skills"} if is_own else value.unwritten
