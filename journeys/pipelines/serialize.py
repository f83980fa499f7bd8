"""Pipelines as plain data and as JSON: agents by their names, never code.

Schema 1 of a pipeline: `schema` (at the top alone), `pattern`, `name`, `description`, `agents`,
`roles`, `settings`, `error_handling` and `limits`. Schema 1 of an agent: `name`, its card
(`description`, `skills`, `input_modes`, `output_modes`), `weight`, and where it comes from:
`pipeline` holds one that is nested in it, `registered_by` is "journey" for one that the journey
registers; without either it is looked up by its name. A function among the settings is written by
its name, too. Models, embeddings and clocks are not written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WrapValidator

from journeygraph.journeys.agents.agent import Agent, own_skills
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.sources import Made, Source, refused
from journeygraph.journeys.definitions.value_types import Listed, pattern
from journeygraph.journeys.errors import ConfigurationError, did_you_mean, shown
from journeygraph.journeys.faults import Fault, Path, Where
from journeygraph.journeys.pipelines.pattern import PatternPipeline, PipelineDefinition, roles_of
from journeygraph.journeys.pipelines.shapes import MOST_LEVELS

SCHEMA = 1
"""Version of what is written and read."""
MOST_AGENTS = 10_000
"""Most agents of one pipeline, at all its levels together, that are read."""
MOST_DEPTH = 100
"""Deepest nesting of objects and lists; a pipeline in another one takes three levels."""
JOURNEY: Literal["journey"] = "journey"
"""Owner of the registration for an agent without its own function."""
_MOST_FAULTS = 100
_MOST_SHOWN = 60
_STEPS_SHOWN = 10
_BEYOND = 2**63
_LONGEST_NUMBER = 40
"""Digits of a whole number that are worth reading; longer ones are out of every range."""


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
    """Return a pipeline as JSON.

    Raises:
        ConfigurationError: As `pipeline_data`, or one of its texts holds half of a character.
    """
    text = json.dumps(pipeline_data(pipeline), ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ConfigurationError(
            f"{pipeline!r}: a text contains half of a character, which UTF-8 cannot encode: "
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
        raise ConfigurationError(f"The agents are {_told(agents)}; give a dict of them by name.")
    source = PipelineData(data, agents)
    made = source.pipeline()
    if source.faults or not isinstance(made, PatternPipeline):
        listed = list(dict.fromkeys(source.faults))
        more = [f"... and {len(listed) - _MOST_FAULTS} more."] if listed[_MOST_FAULTS:] else []
        raise ConfigurationError("\n".join([*listed[:_MOST_FAULTS], *more]), source.faults)
    return made


def pipeline_of_text(text: str, agents: Mapping[str, Any]) -> PatternPipeline:
    """Return the pipeline that a JSON text describes; see `pipeline_of`.

    Raises:
        ConfigurationError: It is no JSON, or as by `pipeline_of`.
    """
    if not isinstance(text, str):
        raise ConfigurationError(f"A pipeline's JSON is {_told(text)}; it must be text.")
    try:
        data = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ConfigurationError(
            f"JSON syntax error at line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    except RecursionError:
        raise ConfigurationError("The JSON has too many levels.") from None
    return pipeline_of(data, agents)


class _Repeated(dict[str, Any]):
    """An object of a JSON text in which names are given twice: `names`."""

    names: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(plain := dict(pairs)) == len(pairs):
        return plain
    ambiguous = _Repeated(plain)
    times = Counter(name for name, _ in pairs)
    ambiguous.names = tuple(name for name, count in times.items() if count > 1)
    return ambiguous


def _whole(digits: str) -> float:
    # Python itself refuses to read very long ones, without a word of where they stand.
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)


_DECODER = json.JSONDecoder(parse_int=_whole, object_pairs_hook=_object)


class WrittenAgent(Agent):
    """An agent in data: its card, and where it comes from.

    Attributes:
        pipeline: The pipeline that it is.
        registered_by: "journey" for one that the journey registers. Without either it is looked up
            by its name.
    """

    model_config = ConfigDict(title="Agent")
    elsewhere = PipelineDefinition.elsewhere

    _: KW_ONLY
    name: Annotated[str, pattern("(?s).", "it must not be empty.")]
    pipeline: WrittenPipeline | None = None
    registered_by: Any = None


class WrittenPipeline(PipelineDefinition):
    """A pipeline in data."""

    elsewhere = {**PipelineDefinition.elsewhere, "schema": " Write it only at the top."}

    agents: Listed[WrittenAgent]
    roles: Annotated[Mapping[str, WrittenAgent], WrapValidator(roles_of)] = Field(
        default_factory=dict, validate_default=True
    )


class PipelineDocument(WrittenPipeline):
    """A pipeline at the top of data."""

    elsewhere = PipelineDefinition.elsewhere

    _: KW_ONLY
    schema_: Literal[1] = Field(alias="schema")


class _TooMuchError(Exception):
    """There is more than is read."""


class PipelineData(Source):
    """A pipeline as plain data, of which each part is read into its definition.

    Args:
        data: The data.
        registry: Agents and functions by name.
    """

    words = {"string_type": "text", **dict.fromkeys(("model_type", "dict_type"), "an object")}

    def __init__(self, data: Any, registry: Mapping[str, Any]) -> None:
        super().__init__()
        self._data = data
        self._registry = registry
        self._paths: dict[int, Path] = {}
        self._unreadable: set[Path] = set()
        self._agents = 0

    def pipeline(self) -> Any:
        """Return the pipeline; what is wrong is noted."""
        if not isinstance(self._data, Mapping):
            return self._fault(f"it is {_told(self._data)}", remedy="it must be an object.")
        schema = self._data.get("schema", SCHEMA)
        if type(schema) is not int or schema != SCHEMA:  # no fault of another one could be told
            remedy = f"this version reads schema {SCHEMA}."
            return self._fault(f"it is {_told(schema)}", "schema", remedy=remedy)
        try:
            data = self._plain(self._data, ())
        except _TooMuchError:
            return None
        return PipelineDocument.read(data, self)

    def named(self, path: Path) -> str:
        """Return the word for a value in a fault that begins with its path."""
        return "it"

    def shown(self, value: Any, held: Any, path: Path) -> str:
        """Return a value in few characters."""
        return _told(value)

    def note(self, held: Any, fault: Fault) -> None:
        """Take down a fault of an object, unless nothing could be read there."""
        path = (*self._paths.get(id(held), ()), *fault.path)
        if not any(path[:size] in self._unreadable for size in range(len(path) + 1)):
            self._fault(fault.message, *path, remedy=fault.remedy)

    def function(self, value: Any, variables: tuple[str, ...]) -> Any:
        """Return the function that is registered under a name."""
        if not isinstance(value, str):
            raise refused(f"it is {_told(value)}", "it must be text.")
        found = self._registry.get(value)
        if found is None:
            raise refused(*self._unknown(value))
        if not callable(found):
            raise refused(f"{_told(value)} is not registered as a function.")
        return found

    def _sound(self, cls: type[Made], value: dict[str, Any], handler: Callable[[Any], Made]) -> Any:
        """Return what a program would hold; what is faulty stays as it was written."""
        made: Any = super()._sound(cls, value, handler)
        try:
            if isinstance(made, WrittenAgent):
                return self._agent(value, made)
            if isinstance(made, WrittenPipeline) and made.is_whole:
                fields = {name: getattr(made, name) for name in PipelineDefinition.keys()}  # noqa: SIM118
                everybody = [*made.agents, *made.roles.values()]
                is_sound = not any(isinstance(agent, WrittenAgent) for agent in everybody)
                return PatternPipeline(**fields) if is_sound else made
        except ConfigurationError as error:
            self.note(value, Fault(str(error)))
        return made

    def _agent(self, data: Mapping[str, Any], made: WrittenAgent) -> Agent:
        """Return an agent with what it calls: a pipeline in it, nothing, or what is registered."""
        origin: Any = made.pipeline
        fault = None
        if "registered_by" in data and "pipeline" in data:
            fault = Fault("it has both `pipeline` and `registered_by`", remedy="keep one of them.")
        elif "registered_by" in data and made.registered_by != JOURNEY:
            said, remedy = f"it is {_told(made.registered_by)}", f"it can only be '{JOURNEY}'."
            fault = Fault(said, "registered_by", remedy=remedy)
        elif not {"pipeline", "registered_by"} & data.keys() and made.has_sound("name"):
            origin = self._registry.get(made.name)
            if origin is None:
                said, remedy = self._unknown(made.name)
                fault = Fault(said, remedy=remedy)
            elif isinstance(origin, (str, bytes, int, float)):
                said = (
                    f"{_told(made.name)} is registered as {_told(origin)}, which is not an agent."
                )
                fault = Fault(said)
        if fault is not None:
            self.note(data, fault)
        if fault is not None or not made.is_whole or isinstance(origin, WrittenPipeline):
            return made
        card = {name: getattr(made, name) for name in made.model_fields_set & Agent.keys().keys()}
        return origin.changed(**card) if isinstance(origin, Agent) else Agent(origin, **card)

    def _unknown(self, name: str) -> tuple[str, str]:
        hint = did_you_mean(name[:_MOST_SHOWN], [str(each) for each in self._registry])
        return f"{_told(name)} is not registered.", hint

    def _fault(self, said: str, *path: str | int, remedy: str = "") -> None:
        self.faults.append(Fault(said, *path, remedy=remedy, where=Where(_written(path))))

    def _unread(self, said: str, path: Path) -> None:
        """Note why nothing is read there."""
        self._fault(said, *path)
        self._unreadable.add(path)

    def _plain(self, value: Any, path: Path, level: int = 1) -> Any:
        """Return a copy of a value without shared parts; an unreadable value is None.

        Raises:
            _TooMuchError: There are too many agents, or it is nested too deep.
        """
        if isinstance(value, (Mapping, list, tuple)):
            if level > MOST_LEVELS:
                said = f"it has more than {MOST_LEVELS} levels of pipelines."
                return self._unread(said, path)
            self._count(path)
            return self._copied(value, path, level)
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                return self._unread(
                    f"it is {_told(value)}, which contains half of a character.", path
                )
        if isinstance(value, (int, float)) and not abs(value) < _BEYOND:  # which NaN is not, either
            return self._unread(f"it is {_told(value)}; it must be an ordinary number.", path)
        return value

    def _copied(self, value: Any, path: Path, level: int) -> Any:
        steps = value.items() if isinstance(value, Mapping) else enumerate(value)
        copied = {}
        for step, part in steps:
            if isinstance(value, Mapping) and not _may_be_key(step):
                self._fault("this key is unknown.", *path, step)
                continue
            copied[step] = self._plain(part, (*path, step), level + (step == "pipeline"))
        found: Any = copied if isinstance(value, Mapping) else list(copied.values())
        self._paths[id(found)] = path
        for name in value.names if isinstance(value, _Repeated) else ():
            self._unread("it occurs more than once.", (*path, name))
        return found

    def _count(self, path: Path) -> None:
        self._agents += path[-2:-1] in (("agents",), ("roles",))
        if self._agents > MOST_AGENTS:
            self._fault(f"the pipeline has more than {MOST_AGENTS} agents.", *path)
            raise _TooMuchError
        if len(path) > MOST_DEPTH:
            self._fault(f"it has more than {MOST_DEPTH} levels.", *path[:_STEPS_SHOWN])
            raise _TooMuchError


def _may_be_key(step: Any) -> bool:
    return isinstance(step, str) and step.isprintable() and len(step) <= _MOST_SHOWN


def _written(path: Path) -> str:
    return "$" + "".join(map(_step, path))


def _step(step: Any) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _may_be_key(step) and step.isidentifier() else f"[{_told(step)}]"


def _told(value: Any) -> str:
    """Return a value as errors show it: whatever was sent, in few characters."""
    if isinstance(value, str):
        return shown(value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}...")
    if value is None or isinstance(value, (bool, float)):
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < _BEYOND else "a number beyond 64 bits"
    return {"dict": "an object", "list": "a list"}.get(type(value).__name__, type(value).__name__)


class _Writer:
    """Writes pipelines, and notes the meaning of each name."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._meant: dict[str, tuple[str, Any]] = {}

    def plain(self, path: str, value: Any) -> Any:
        if isinstance(value, Agent):
            return {**self._parts(path, value, _card_of(value)), **self._origin(path, value)}
        if isinstance(value, Definition):
            of = PipelineDefinition if isinstance(value, PatternPipeline) else type(value)
            return self._parts(path, value, of.keys())
        if isinstance(value, Mapping):
            return {name: self.plain(f"{path}.{name}", part) for name, part in value.items()}
        if isinstance(value, tuple):
            return [self.plain(f"{path}[{place}]", part) for place, part in enumerate(value)]
        return self._function(path, value) if callable(value) else value

    def _parts(self, path: str, value: Definition, names: Iterable[str]) -> dict[str, Any]:
        return {name: self.plain(f"{path}.{name}", getattr(value, name)) for name in names}

    def _origin(self, path: str, agent: Agent) -> dict[str, Any]:
        if agent.call is None:
            return {"registered_by": JOURNEY}
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


def _card_of(agent: Agent) -> list[str]:
    """Return what is written of an agent.

    A pipeline has the skills of the agents in it, which would be written again at each level.
    """
    own = isinstance(agent.call, PatternPipeline) and agent.skills == own_skills(agent.call)
    return [name for name in Agent.keys() if not (own and name == "skills")]  # noqa: SIM118
