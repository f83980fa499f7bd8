"""A pipeline of one of the nine patterns: frozen data, which the runtime builds into a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import ConfigDict, Field, WrapValidator
from pydantic_core import PydanticCustomError

from journeygraph.journeys import door
from journeygraph.journeys.agents.agent import Agent, ModelAgent, Skill
from journeygraph.journeys.config import JourneyConfig
from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.sources import GONE
from journeygraph.journeys.definitions.value_types import AS_GIVEN, Function, Listed
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault, Path
from journeygraph.journeys.pipelines.pipeline import Pipeline
from journeygraph.journeys.pipelines.shapes import (
    MOST_LEVELS,
    SHAPES,
    STEPS,
    ErrorHandling,
    Limits,
    Pattern,
)


def _settings(value: Any, handler: Any, info: Any) -> Any:
    """Return all settings of a pattern as plain data, those that are not given by default."""
    handler(value)
    shape = SHAPES.get(info.data.get("pattern", ""))
    if shape is None:
        return value
    # A source knows by its identity where a dict stands; a program may give other mappings.
    made = shape.read(value if isinstance(value, dict) else dict(value), info.context)
    if made is None or not made.is_whole:
        raise PydanticCustomError(GONE, GONE)
    return MappingProxyType({name: getattr(made, name) for name in shape.keys()})  # noqa: SIM118


def roles_of(value: Any, handler: Any, info: Any) -> Any:
    """Return who has a role; roles that the pattern does not have are noted, and left out."""
    shape = SHAPES.get(info.data.get("pattern", ""))
    if shape is None or not isinstance(value, Mapping):
        return handler(value)
    roles = shape.roles()
    for role in value:
        if role not in roles:
            remedy = f"{did_you_mean(str(role), roles)} Its roles: {', '.join(roles) or 'none'}."
            said = f"'{role}' is not a role of {shape.kind}."
            fault = Fault(said, role, remedy=remedy, at_key=True)
            info.context.note(value, fault)
    return MappingProxyType(handler({role: value[role] for role in roles if role in value}))


class PipelineDefinition(Definition):
    """Declaration of a pipeline, in a program and in data.

    Attributes:
        pattern: Name of the pattern.
        agents: The peers, in declared order.
        roles: Role -> the agent that has it, such as the supervisor.
        settings: The pattern's settings, all of them.
        error_handling: "graceful": what can be had without the agents that failed, and who they
            were; "fail-fast": the first error is raised.
        limits: Of each agent.
        name: Its name among other agents.
        description: Its purpose.
    """

    model_config = ConfigDict(title="Pipeline")
    elsewhere = {
        name: f" Write it in `{part}`."
        for part, names in (
            ("limits", list(Limits.keys())),
            ("settings", [name for shape in SHAPES.values() for name in list(shape.keys())]),
            ("roles", [role for shape in SHAPES.values() for role in shape.roles()]),
        )
        for name in names
    }

    pattern: Pattern
    agents: Listed[Agent]
    roles: Annotated[Mapping[str, Agent], WrapValidator(roles_of)] = Field(
        default_factory=dict, validate_default=True
    )
    settings: Annotated[Mapping[str, Any], WrapValidator(_settings)] = Field(
        default_factory=dict, validate_default=True
    )
    error_handling: ErrorHandling = "graceful"
    limits: Limits = Field(default_factory=Limits)
    name: str = ""
    description: str = ""

    @property
    def _everybody(self) -> list[tuple[Path, Agent]]:
        peers = [(("agents", place), agent) for place, agent in enumerate(self.agents)]
        return [*peers, *((("roles", role), agent) for role, agent in self.roles.items())]

    @rule("pattern", "agents")
    def _has_agents(self) -> Iterator[Fault]:
        if not self.agents:
            peers = SHAPES[self.pattern].peers
            yield Fault(f"{peers} is empty", "agents", remedy="give at least one agent.")

    @rule("pattern", "roles")
    def _has_its_roles(self) -> Iterator[Fault]:
        for role in SHAPES[self.pattern].required:
            if role not in self.roles:
                yield Fault(f"it has no {role}.", "roles")

    @rule("agents", "roles")
    def _names_differ(self) -> Iterator[Fault]:
        taken: set[str] = set()
        for path, agent in self._everybody:
            if agent.name in taken:
                remedy = "Name one of them: Agent(it, name='...')."
                yield Fault(f"two agents are named '{agent.name}'.", *path, remedy=remedy)
            elif agent.name in STEPS:
                said = f"no agent can be named '{agent.name}', which is the name of a step."
                yield Fault(said, *path, remedy="Give it another name.")
            taken.add(agent.name)


class PatternPipeline(PipelineDefinition, Pipeline):
    """Agents that work together in one of the nine patterns; the factories of `Pipeline` make it.

    Attributes:
        model: Answers for its model agents and chooses where a model is to choose, outside of a
            journey; as `model` of a journey. Pipelines within it are answered by it as well.
        config: Settings of its runs outside of a journey, and of those of the pipelines within it;
            None: the defaults.
        embed: Given texts, returns or awaits a vector for each; agents that are chosen by their
            cards are then chosen half by words and half by meaning.

    Source: ADR-018.
    """

    model: Annotated[Any, AS_GIVEN] = None
    embed: Annotated[Callable[[Sequence[str]], Any], Function("texts")] | None = None
    config: Annotated[JourneyConfig | None, AS_GIVEN] = None

    def __init__(
        self,
        pattern: str,
        agents: Sequence[Any],
        roles: Mapping[str, Any] = MappingProxyType({}),
        settings: Mapping[str, Any] = MappingProxyType({}),
        *others: Any,
        **given: Any,
    ) -> None:
        if isinstance(roles, Mapping):
            roles = {role: agent_of(agent, str(role)) for role, agent in roles.items()}
        super().__init__(pattern, _peers(agents, roles), roles, settings, *others, **given)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def model_post_init(self, _: Any) -> None:
        """Name it by its pattern, where it has no other name."""
        self.__dict__["name"] = self.name or self.pattern

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> str:
        """Return how errors name a pipeline."""
        pattern = given["pattern"]
        return f"Pipeline.{pattern}" if pattern in [*SHAPES] else "Pipeline"

    @rule("agents", "roles")
    def _is_not_too_deep(self) -> Iterator[Fault]:
        if self.levels > MOST_LEVELS:
            limit = f"the limit is {MOST_LEVELS}"
            yield Fault(f"it has {self.levels} levels of pipelines; {limit}.")

    def __eq__(self, other: object) -> bool:
        fields = PipelineDefinition.__pydantic_fields__
        return isinstance(other, PatternPipeline) and all(
            getattr(self, name) == getattr(other, name) for name in fields
        )

    def __hash__(self) -> int:
        return hash((self.pattern, self.name, tuple(self.agents)))

    def __repr__(self) -> str:
        names = ", ".join(agent.name for agent in self.agents)
        roles = "".join(f", {role}={agent.name}" for role, agent in self.roles.items())
        return f"Pipeline.{self.pattern}([{names}]{roles})"

    __str__ = __repr__

    def _repr_svg_(self) -> str:
        return door.svg_of_pipeline(self)

    @property
    def members(self) -> dict[str, Agent]:
        """Everybody in it by name: the peers, then those with a role."""
        everybody = [*self.agents, *self.roles.values()]
        return {agent.name: agent for agent in everybody}

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Return the skills of its peers, or their descriptions if they have none."""
        return tuple(
            skill
            for agent in self.agents
            for skill in agent.skills or (Skill(agent.name, agent.description),)
        )

    @property
    def levels(self) -> int:
        """Return the depth of nested pipelines, including itself."""
        inner = (agent.call for agent in self.members.values())
        return 1 + max((p.levels for p in inner if isinstance(p, PatternPipeline)), default=0)

    @property
    def leaves(self) -> Iterator[tuple[str, Agent]]:
        """Everybody that works, at whatever depth, by the path of names that leads there."""
        for name, agent in self.members.items():
            if isinstance(agent.call, PatternPipeline):
                for path, leaf in agent.call.leaves:
                    yield f"{name}/{path}", leaf
            else:
                yield name, agent

    def with_error_handling(self, error_handling: str) -> PatternPipeline:
        """Return it with another way to handle errors: "graceful" or "fail-fast"."""
        return self.changed(error_handling=error_handling)

    def with_limits(self, **limits: Any) -> PatternPipeline:
        """Return it with other limits of its agents; see `Limits`."""
        return self.changed(limits=self.limits.changed(**limits))

    def with_name(self, name: str, description: str = "") -> PatternPipeline:
        """Return it with this name, by which others know it."""
        return self.changed(name=name, description=description or self.description)

    def with_model(self, model: Any) -> PatternPipeline:
        """Return it with a model; see `model`."""
        return self.changed(model=model)

    def with_config(self, config: JourneyConfig) -> PatternPipeline:
        """Return it with settings for its runs outside of a journey; see `config`."""
        return self.changed(config=config)

    def with_embeddings(self, embed: Callable[[Sequence[str]], Any] | None) -> PatternPipeline:
        """Return it with a function that embeds texts, such as `aembed_documents` of LangChain.

        Pipelines in it have their own. Cards are embedded once. What fails, or takes more than 10
        seconds, is flagged `embeddings_failed:<kind>`, and the words of the cards alone count.
        """
        return self.changed(embed=embed)

    async def run(self, **inputs: Any) -> dict[str, Any]:
        """Run it once.

        Args:
            **inputs: Inputs of every agent. `message` is the message of the user, or `task` if
                there is no message; `history` and `context` are as in a journey.

        Returns:
            The outputs, and under `pipeline` how they came about: `status` ("complete", "partial",
            "failed", or "waiting" where agents call LangGraph's `interrupt()`; then `waiting` says
            who asks what), `results` (each agent's own outputs), `failed` (who, and why), and what
            the pattern has to tell. `error` is there where it failed as a whole.

        Raises:
            PathwayExecutionError: An agent failed, under "fail-fast".
            AgentNotRegisteredError: It holds agents that only a journey can register.
            ConfigurationError: An agent is not valid, or needs a model that is not configured.
        """
        outputs: dict[str, Any] = await door.run_pipeline(self, inputs)
        return outputs

    def compile(self, *, checkpointer: Any = None, **options: Any) -> Any:
        """Return it as a compiled LangGraph graph.

        It takes `{"inputs": {...}}` or `{"messages": [...]}`, and gives `outputs`, `results`,
        `progress` and, where it was given messages, the reply among them.

        Args:
            checkpointer: A saver, which keeps each thread's last run and whose turn it is.
            **options: The other arguments of LangGraph's own `compile`: store, cache, name, ...
        """
        return door.compile_pipeline(self, checkpointer=checkpointer, **options)

    def reset(self) -> None:
        """Forget whose turn it is and which agents failed recently."""
        door.reset_pipeline(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; agents are written by their names.

        Its model and embeddings are not written.

        Raises:
            ConfigurationError: A name in it means two things, or a function has none.
        """
        from journeygraph.journeys.pipelines.serialize import pipeline_data  # noqa: PLC0415

        return pipeline_data(self)

    def to_json(self, indent: int | None = None) -> str:
        """Return it as JSON; see `to_dict`."""
        from journeygraph.journeys.pipelines.serialize import pipeline_text  # noqa: PLC0415

        return pipeline_text(self, indent)


def _own_name(given: Any) -> str | None:
    """Return the name that does not depend on the place of something."""
    if isinstance(given, str):
        return given
    if isinstance(given, PatternPipeline) and given.name == given.pattern:
        return None
    return given.name if isinstance(given, (Agent, Pipeline)) else getattr(given, "__name__", None)


def _peers(agents: Any, roles: Any) -> Any:
    """Return what works in a pipeline as agents with names; as it is if it is no list."""
    if isinstance(agents, (str, bytes)) or not isinstance(agents, Sequence):
        return agents
    held = roles.values() if isinstance(roles, Mapping) else ()
    taken = {_own_name(given) for given in [*agents, *held]}
    named: list[Agent] = []
    for place, given in enumerate(agents, 1):
        named.append(agent_of(given, f"agent_{place}", taken))
        taken.add(named[-1].name)
    return tuple(named)


def agent_of(given: Any, place: str, taken: set[str | None] | None = None) -> Agent:
    """Return a part of a pipeline as an agent with a name.

    Args:
        given: An `Agent`, the name of a journey's agent, or anything that can be an agent.
        place: Name for a part that has no name.
        taken: Names that are not free for a pipeline without a name.
    """
    if isinstance(given, Agent):
        return given
    if isinstance(given, str):
        return Agent(name=given)
    if isinstance(given, PatternPipeline) and given.name == given.pattern:
        return Agent(given, name=_free(given.pattern, taken or set()))
    unnamed = isinstance(given, ModelAgent) and given.signature is None
    if unnamed or getattr(given, "__name__", None) == "<lambda>":
        return Agent(given, name=place)
    return Agent(given)


def _free(name: str, taken: set[str | None]) -> str:
    if name not in taken:
        return name
    return next(new for number in range(2, 10**6) if (new := f"{name}_{number}") not in taken)
