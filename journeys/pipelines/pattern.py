"""A pipeline of one of the nine patterns: frozen data, which the runtime builds into a graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import ConfigDict, Field

from journeygraph.journeys import door
from journeygraph.journeys.agents.agent import Agent, ModelAgent, Skill
from journeygraph.journeys.config import JourneyConfig
from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.value_types import (
    AS_GIVEN,
    AS_WRITTEN,
    As,
    Checked,
    Function,
    Listed,
    OneOf,
    Seconds,
    at_least,
)
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.pipelines.pipeline import Pipeline

MOST_LEVELS = 20
"""Deepest nesting of pipelines."""
LimitInSeconds = Annotated[Seconds, AS_WRITTEN]
ERROR_HANDLING = ("graceful", "fail-fast")
STEPS = ("select", "gather")
"""Names of the patterns' own nodes, which no agent can have."""
ErrorHandling = Annotated[str, OneOf(ERROR_HANDLING)]


def _member(value: Any, info: Any) -> Any:
    """Return an agent; what a class body gives was made one before."""
    return value if isinstance(value, Agent) else info.context.agent(value)


def _perhaps(value: Any, info: Any) -> Any:
    return value if value is None else _member(value, info)


_AGENT, _PERHAPS = (Checked(fit, {"type": "string"}) for fit in (_member, _perhaps))
Role = Annotated[Any, _AGENT]
"""An agent with a role; in a file, the name of one of the pathway's agents."""
OptionalRole = Annotated[Any, _PERHAPS]
Peers = Annotated[Sequence[Any], As(Listed[Annotated[Any, _AGENT]])]
"""The agents without a role."""
_PEERS = ("agents", "workers", "specialists")
OUTSIDE = ("model", "config", "embed")
"""Settings of runs outside of a journey, which are no part of what a pipeline is."""


class Limits(Definition):
    """The limits of each agent of a pipeline.

    Attributes:
        timeout: Longest try in seconds. Default: no limit; in a pathway, its time limit.
        retries: Number of further tries of an agent that failed. Default: none; in a pathway, the
            setting of the journey.
        backoff: Seconds before the second try; doubled before each later one.
        breaker_failures: After this number of failures within `breaker_window`, the agent is not
            called during the cooldown; then it is tried once. Default: no breaker.
        breaker_window: Seconds in which failures are counted.
        breaker_cooldown: Seconds until an agent is tried again; if it fails, it is not called for
            the same time again.
        clock: A function that returns the time in seconds, for tests.

    Raises:
        ConfigurationError: One of them is out of its range.

    Source: ADR-018 section 4 and test category 3.
    """

    unwritten = frozenset({"clock"})

    _: KW_ONLY
    timeout: LimitInSeconds | None = None
    retries: Annotated[int, at_least(0)] | None = None
    backoff: LimitInSeconds = 0.5
    breaker_failures: Annotated[int, at_least(1)] | None = None
    breaker_window: LimitInSeconds = 60.0
    breaker_cooldown: LimitInSeconds = 30.0
    clock: Annotated[Callable[[], float], AS_GIVEN] = Field(
        default_factory=lambda: time.monotonic, repr=False
    )

    @classmethod
    def called(cls) -> str:
        """Return what messages call the limits."""
        return "the limits"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self.data == other.data

    def __hash__(self) -> int:
        return hash(tuple(self.data.values()))

    @property
    def data(self) -> dict[str, float | None]:
        """The limits as plain data, without the clock."""
        return {name: getattr(self, name) for name in self.keys()}


def _no_role(role: str) -> Fault:
    return Fault(f"it has no {role}", remedy=f"write {role}: the name of one of its agents.")


def _title(made: Any) -> str:
    return f"Pipeline of pattern {made.kind()}"


class _Fields(Definition):
    _: KW_ONLY
    pattern: str
    error_handling: ErrorHandling = "graceful"
    limits: Limits = Field(default_factory=Limits)
    name: str = ""
    description: str = ""
    model: Annotated[Any, AS_GIVEN] = None
    config: Annotated[JourneyConfig | None, AS_GIVEN] = None
    embed: Annotated[Callable[[Sequence[str]], Any], Function("texts")] | None = None


class PatternPipeline(_Fields, Pipeline):
    """Agents that work together in one of the nine patterns; the factories of `Pipeline` make it.

    Attributes:
        pattern: Name of the pattern.
        error_handling: "graceful": what can be had without the agents that failed, and who they
            were; "fail-fast": the first error is raised.
        limits: Of each agent.
        name: Its name among other agents. Default: that of the pattern.
        description: Its purpose.
        model: Answers for its model agents and chooses where a model is to choose, outside of a
            journey; as `model` of a journey. Pipelines within it are answered by it as well.
        config: Settings of its runs outside of a journey, and of those of the pipelines within it;
            None: the defaults.
        embed: Given texts, returns or awaits a vector for each; agents that are chosen by their
            cards are then chosen half by words and half by meaning.

    Source: ADR-018.
    """

    model_config = ConfigDict(model_title_generator=_title)
    unwritten = frozenset({*_PEERS, *OUTSIDE, "limits", "name", "description", "handoff_condition"})
    needed = frozenset({"pattern"})
    elsewhere = dict.fromkeys(Limits.keys(), " Write it in `limits`.")

    if TYPE_CHECKING:

        @property
        def agents(self) -> Peers:
            """The agents without a role, in declared order."""

    @classmethod
    def prepared(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with an agent for anything that can be one."""
        roles = {role: given[role] for role in cls.role_names() if given.get(role) is not None}
        given |= {role: agent_of(held, role) for role, held in roles.items()}
        if cls.peers() in given:
            given[cls.peers()] = _named(given[cls.peers()], [*roles.values()])
        return given

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Know what is needed, and what takes its place where it is missing."""
        fields = cls.__pydantic_fields__
        needed = [role for role in cls.role_names() if fields[role].is_required()]
        cls.absent = {role: _no_role(role) for role in needed}
        peers = [name for name in _PEERS if name in fields]
        cls.placeholders = {**dict.fromkeys(peers, ()), **dict.fromkeys(needed, Agent(name="?"))}

    def model_post_init(self, _: Any) -> None:
        """Name it by its pattern, where it has no other name."""
        self.__dict__["name"] = self.name or self.pattern

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> str:
        """Return how errors name a pipeline."""
        return f"Pipeline.{cls.kind()}" if cls.kind() else "Pipeline"

    @classmethod
    def called(cls) -> str:
        """Return what messages call a pipeline of the pattern."""
        kind = f"{cls.kind()} pipeline".strip()
        return f"{'an' if kind[0] == 'e' else 'a'} {kind}"

    @classmethod
    def kind(cls) -> str:
        """Return the name of the pattern."""
        field = cls.__pydantic_fields__["pattern"]
        return "" if field.is_required() else str(field.default)

    @classmethod
    def peers(cls) -> str:
        """Return the name of the argument for the agents without a role."""
        return next(name for name in _PEERS if name in cls.__pydantic_fields__)

    @classmethod
    def role_names(cls) -> list[str]:
        """Return the roles that agents can have in the pattern."""
        fields = cls.__pydantic_fields__.items()
        return [name for name, field in fields if {_AGENT, _PERHAPS} & {*field.metadata}]

    @classmethod
    def setting_names(cls) -> list[str]:
        """Return the settings of the pattern."""
        others = {*PatternPipeline.__pydantic_fields__, *cls.role_names(), cls.peers()}
        return [name for name in cls.__pydantic_fields__ if name not in others]

    @property
    def roles(self) -> dict[str, Agent]:
        """The agents that have a role, by role."""
        found = {role: getattr(self, role) for role in self.role_names()}
        return {role: agent for role, agent in found.items() if agent is not None}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the pattern, by name."""
        return {name: getattr(self, name) for name in self.setting_names()}

    @rule(*_PEERS)
    def _is_sound(self) -> Iterator[Fault]:
        if not self.agents:
            yield Fault(f"{self.peers()} is empty", self.peers(), remedy="give at least one agent.")
        if self.levels > MOST_LEVELS:
            limit = f"the limit is {MOST_LEVELS}"
            yield Fault(f"it has {self.levels} levels of pipelines; {limit}.")
        taken: set[str] = set()
        peers = [((self.peers(), place), agent) for place, agent in enumerate(self.agents)]
        for path, agent in [*peers, *(((role,), agent) for role, agent in self.roles.items())]:
            if agent.name in taken:
                remedy = "Name one of them: Agent(it, name='...')."
                yield Fault(f"two agents are named '{agent.name}'.", *path, remedy=remedy)
            elif agent.name in STEPS:
                said = f"no agent can be named '{agent.name}', which is the name of a step."
                yield Fault(said, *path, remedy="Give it another name.")
            taken.add(agent.name)

    def __eq__(self, other: object) -> bool:
        fields = [name for name in self.__pydantic_fields__ if name not in OUTSIDE]
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in fields
        )

    def __hash__(self) -> int:
        return hash((self.pattern, self.name, tuple(self.agents)))

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        """Return its schema in a pathway, where an agent's failure is that of the turn."""
        schema = super().__get_pydantic_json_schema__(core, handler)
        schema["properties"]["error_handling"]["default"] = "fail-fast"
        return schema

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

    def with_error_handling(self, error_handling: str) -> Self:
        """Return it with another way to handle errors: "graceful" or "fail-fast"."""
        return self.changed(error_handling=error_handling)

    def with_limits(self, **limits: Any) -> Self:
        """Return it with other limits of its agents; see `Limits`."""
        return self.changed(limits=self.limits.changed(**limits))

    def with_name(self, name: str, description: str = "") -> Self:
        """Return it with this name, by which others know it."""
        return self.changed(name=name, description=description or self.description)

    def with_model(self, model: Any) -> Self:
        """Return it with a model; see `model`."""
        return self.changed(model=model)

    def with_config(self, config: JourneyConfig) -> Self:
        """Return it with settings for its runs outside of a journey; see `config`."""
        return self.changed(config=config)

    def with_embeddings(self, embed: Callable[[Sequence[str]], Any] | None) -> Self:
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


def _named(agents: Any, held: Sequence[Any]) -> Any:
    """Return what works in a pipeline as agents with names; as it is if it is no list."""
    if isinstance(agents, (str, bytes)) or not isinstance(agents, Sequence):
        return agents
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
