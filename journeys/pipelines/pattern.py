"""A pipeline of one of the nine patterns: frozen data, which the runtime builds into a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from journeys import door
from journeys.agents.agent_card import Agent, Skill
from journeys.agents.model_agent import ModelAgent
from journeys.errors import ConfigurationError, shown
from journeys.pipelines.limits import Limits
from journeys.pipelines.pipeline import Pipeline
from journeys.pipelines.shapes import (
    MOST_LEVELS,
    SHAPES,
    STEPS,
    error_handling_faults,
    setting_faults,
)

if TYPE_CHECKING:
    from journeys.config import JourneyConfig


@dataclass(frozen=True, eq=True, repr=False)
class PatternPipeline(Pipeline):
    """Agents that work together in one of the nine patterns; the factories of `Pipeline` make it.

    Attributes:
        pattern: Name of the pattern.
        agents: The peers, in declared order.
        roles: Role -> the agent that has it, such as the supervisor.
        settings: The pattern's settings, all of them.
        error_handling: "graceful": what can be had without the agents that failed, and who they
            were; "fail-fast": the first error is raised.
        limits: Of each agent.
        name: Its name where it stands among other agents.
        description: What it is for.
        model: Answers for its model agents and chooses where a model is to choose, outside of a
            journey; as `model` of a journey. Pipelines within it are answered by it as well.
        config: Settings of its runs outside of a journey, and of those of the pipelines within it;
            None: the defaults.
        embed: Given texts, returns or awaits a vector for each; agents that are chosen by their
            cards are then chosen half by words and half by meaning.

    Source: ADR-018.
    """

    pattern: str
    agents: Sequence[Agent]
    roles: Mapping[str, Agent] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    error_handling: str = "graceful"
    limits: Limits = field(default_factory=Limits)
    name: str = ""
    description: str = ""
    model: Any = field(default=None, compare=False)
    embed: Callable[[Sequence[str]], Any] | None = field(default=None, compare=False)
    config: JourneyConfig | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.pattern not in SHAPES:
            raise ConfigurationError(
                f"Pipeline: there is no pattern {shown(self.pattern)}. One of: {', '.join(SHAPES)}."
            )
        shape = SHAPES[self.pattern]
        own = {name: setting.default for name, setting in shape.settings.items()}
        object.__setattr__(self, "name", self.name or self.pattern)
        object.__setattr__(self, "settings", MappingProxyType({**own, **self.settings}))
        roles = {
            role: agent_of(self.roles[role], role) for role in shape.roles if role in self.roles
        }
        object.__setattr__(self, "roles", MappingProxyType(roles))
        object.__setattr__(self, "agents", self._peers(shape.peers))
        self._check()

    def __hash__(self) -> int:
        return hash((self.pattern, self.name, tuple(self.agents)))

    def __repr__(self) -> str:
        names = ", ".join(agent.name for agent in self.agents)
        roles = "".join(f", {role}={agent.name}" for role, agent in self.roles.items())
        return f"Pipeline.{self.pattern}([{names}]{roles})"

    @property
    def members(self) -> dict[str, Agent]:
        """Everybody in it by name: the peers, then those with a role."""
        everybody = [*self.agents, *self.roles.values()]
        return {agent.name: agent for agent in everybody}

    @property
    def skills(self) -> tuple[Skill, ...]:
        """What its peers can do: their skills, or what they are for where they have none."""
        return tuple(
            skill
            for agent in self.agents
            for skill in agent.skills or (Skill(agent.name, agent.description),)
        )

    @property
    def levels(self) -> int:
        """How deep pipelines stand in it, itself counted."""
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
        return replace(self, error_handling=error_handling)

    def with_limits(self, **limits: Any) -> PatternPipeline:
        """Return it with other limits of its agents; see `Limits`."""
        return replace(self, limits=replace(self.limits, **limits))

    def with_name(self, name: str, description: str = "") -> PatternPipeline:
        """Return it under a name of its own, by which others know it."""
        return replace(self, name=name, description=description or self.description)

    def with_model(self, model: Any) -> PatternPipeline:
        """Return it with a model; see `model`."""
        return replace(self, model=model)

    def with_config(self, config: JourneyConfig) -> PatternPipeline:
        """Return it with settings for its runs outside of a journey; see `config`."""
        return replace(self, config=config)

    def with_embeddings(self, embed: Callable[[Sequence[str]], Any] | None) -> PatternPipeline:
        """Return it with a function that embeds texts, such as `aembed_documents` of LangChain.

        Pipelines in it have their own. Cards are embedded once. What fails, or takes more than 10
        seconds, is flagged `embeddings_failed:<kind>`, and the words of the cards alone count.
        """
        return replace(self, embed=embed)

    async def run(self, **inputs: Any) -> dict[str, Any]:
        """Run it once.

        Args:
            **inputs: What every agent is given. `message` is what the user said, or `task` where
                there is none; `history` and `context` are as in a journey.

        Returns:
            The outputs, and under `pipeline` how they came about: `status` ("complete", "partial",
            "failed", or "waiting" where agents call LangGraph's `interrupt()`; then `waiting` says
            who asks what), `results` (each agent's own outputs), `failed` (who, and why), and what
            the pattern has to tell. `error` is there where it failed as a whole.

        Raises:
            PathwayExecutionError: An agent failed, under "fail-fast".
            AgentNotRegisteredError: It holds agents that only a journey can register.
            ConfigurationError: An agent is none, or needs a model that is not there.
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
        """Forget whose turn it is and which agents failed of late."""
        door.reset_pipeline(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; agents are written by their names.

        Its model and embeddings are not written.

        Raises:
            ConfigurationError: A name in it stands for two things, or a function has none.
        """
        from journeys.pipelines.files import pipeline_data  # noqa: PLC0415

        return pipeline_data(self)

    def to_json(self, indent: int | None = None) -> str:
        """Return it as JSON; see `to_dict`."""
        from journeys.pipelines.files import pipeline_text  # noqa: PLC0415

        return pipeline_text(self, indent)

    def _peers(self, called: str) -> tuple[Agent, ...]:
        where = f"Pipeline.{self.pattern}"
        if isinstance(self.agents, (str, bytes)) or not isinstance(self.agents, Sequence):
            raise ConfigurationError(f"{where}: {called} is {shown(self.agents)}; give a list.")
        if not self.agents:
            raise ConfigurationError(f"{where}: {called} is empty; give at least one agent.")
        taken = {_own_name(given) for given in [*self.agents, *self.roles.values()]}
        agents: list[Agent] = []
        for place, given in enumerate(self.agents, 1):
            agents.append(agent_of(given, f"agent_{place}", taken))
            taken.add(agents[-1].name)
        return tuple(agents)

    def _check(self) -> None:
        names = [agent.name for agent in [*self.agents, *self.roles.values()]]
        faults = [
            f"two agents are named '{name}'. Name one of them: Agent(it, name='...')."
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        ]
        faults += [
            f"no agent can be named '{name}', which is a step of its own. Name it otherwise."
            for name in names
            if name in STEPS
        ]
        missing = [role for role in SHAPES[self.pattern].required if role not in self.roles]
        faults += [f"it has no {role}." for role in missing]
        if self.embed is not None and not callable(self.embed):
            faults.append(f"embed is {shown(self.embed)}; it must be a function of texts.")
        faults += setting_faults(self.pattern, self.settings)
        faults += error_handling_faults(self.error_handling)
        if faults:
            raise ConfigurationError("\n".join(f"Pipeline.{self.pattern}: {f}" for f in faults))
        if self.levels > MOST_LEVELS:
            raise ConfigurationError(
                f"Pipeline.{self.pattern}: pipelines stand {self.levels} levels deep in it; the "
                f"limit is {MOST_LEVELS}."
            )


def _own_name(given: Any) -> str | None:
    """Return the name that cannot be changed by where something stands."""
    if isinstance(given, str):
        return given
    if isinstance(given, PatternPipeline) and given.name == given.pattern:
        return None
    return given.name if isinstance(given, (Agent, Pipeline)) else getattr(given, "__name__", None)


def agent_of(given: Any, place: str, taken: set[str | None] | None = None) -> Agent:
    """Return what stands in a pipeline as an agent with a name.

    Args:
        given: An `Agent`, the name of a journey's agent, or anything that can be an agent.
        place: Names what has no name of its own.
        taken: Names that are not free for a pipeline without one of its own.
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
