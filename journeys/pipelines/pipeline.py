"""Pipelines: agents that work together and are one agent for their callers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import door
from journeygraph.journeys.agents.agent import Agent, Skill
from journeygraph.journeys.errors import ConfigurationError, shown

if TYPE_CHECKING:
    from journeygraph.journeys.pipelines.pattern import PatternPipeline


class Pipeline(ABC):
    """Inputs in, outputs out, by agents that work together; itself an agent to others.

    The nine patterns are made by the static methods. Subclass it for another pattern: write
    `async def run(self, **inputs)`, and it can be used wherever an agent can.

    Source: ADR-018 sections 1 and 3.

    Example:
        >>> def first(given): return {"response": given["message"].upper()}
        >>> def second(given): return {"response": given["response"] + "!"}
        >>> Pipeline.sequential([first, second]).run_sync(message="hello")["response"]
        'HELLO!'
    """

    name: str = ""
    description: str = ""

    @abstractmethod
    async def run(self, **inputs: Any) -> Any:
        """Run it once."""

    def run_sync(self, **inputs: Any) -> Any:
        """Run it once from a script, where no event loop runs.

        Raises:
            ConfigurationError: One runs already; write `await pipeline.run(...)` there.
        """
        import asyncio  # noqa: PLC0415 - it takes longer to load than this whole package

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(**inputs))
        raise ConfigurationError(
            "run_sync() cannot be called in a running event loop. Write `await pipeline.run(...)`."
        )

    def stream(self, **inputs: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Run it once and yield its events as they come; the last is `outputs`, with them."""
        return door.stream_pipeline(self, inputs)

    def compile(self, *, checkpointer: Any = None, **options: Any) -> Any:
        """Return it as a compiled LangGraph graph of `inputs` and `outputs`.

        Args:
            checkpointer: A saver of LangGraph's.
            **options: The other arguments of LangGraph's own `compile`: store, cache, name, ...
        """
        return door.compile_pipeline(self, checkpointer=checkpointer, **options)

    def to_agent(
        self,
        name: str | None = None,
        description: str | None = None,
        skills: Sequence[Skill] = (),
    ) -> Agent:
        """Return it as an agent with a name and a card, for another pipeline or a journey."""
        return Agent(self, name=name or self.name, description=description or "", skills=skills)

    @staticmethod
    def from_dict(data: Mapping[str, Any], agents: Mapping[str, Any]) -> PatternPipeline:
        """Return the pipeline that `to_dict` wrote.

        Args:
            data: Data that it wrote.
            agents: The agents, and functions among the settings, by the names in it. Of an
                `Agent` the card and the weight hold where the data says nothing of them.

        Raises:
            ConfigurationError: Something in it is unknown, missing, misplaced or of the wrong
                kind; every fault is named with its path.
        """
        from journeygraph.journeys.pipelines.serialize import pipeline_of  # noqa: PLC0415

        return pipeline_of(data, agents)

    @staticmethod
    def from_json(text: str, agents: Mapping[str, Any]) -> PatternPipeline:
        """Return the pipeline that `to_json` wrote; see `from_dict`.

        Raises:
            ConfigurationError: As by `from_dict`, or the text is no JSON.
        """
        from journeygraph.journeys.pipelines.serialize import pipeline_of_text  # noqa: PLC0415

        return pipeline_of_text(text, agents)

    @staticmethod
    def sequential(agents: Sequence[Any], *, error_handling: str = "graceful") -> PatternPipeline:
        """One agent after the other; each is given the inputs and the outputs of those before."""
        return _pattern("sequential", agents, error_handling)

    @staticmethod
    def supervisor_worker(
        supervisor: Any,
        workers: Sequence[Any],
        selection_mode: str = "semantic",
        *,
        error_handling: str = "graceful",
    ) -> PatternPipeline:
        """Let a supervisor split the task, workers do the parts, the supervisor compose.

        Args:
            supervisor: Is asked with `phase` "plan" (gives `tasks`), "review" (gives `reassign`, or
                the outputs) and, after a reassignment, "compose" (gives the outputs).
            workers: Do the parts.
            selection_mode: Selection of the worker for a part without a name: "semantic", "llm",
                "round-robin" or "random".
            error_handling: "graceful" or "fail-fast".
        """
        settings = {"selection_mode": selection_mode}
        roles = {"supervisor": supervisor}
        return _pattern("supervisor_worker", workers, error_handling, settings, roles)

    @staticmethod
    def router(
        agents: Sequence[Any],
        routing_strategy: str = "semantic",
        *,
        error_handling: str = "graceful",
    ) -> PatternPipeline:
        """One agent is chosen, and answers.

        Args:
            agents: Agents that may answer.
            routing_strategy: "semantic" (by their cards), "llm", "round-robin" or "random".
            error_handling: "graceful" or "fail-fast".
        """
        settings = {"routing_strategy": routing_strategy}
        return _pattern("router", agents, error_handling, settings)

    @staticmethod
    def ensemble(
        agents: Sequence[Any],
        synthesizer: Any,
        discovery_mode: str = "a2a",
        top_k: int = 3,
        *,
        error_handling: str = "graceful",
    ) -> PatternPipeline:
        """Ask the best agents for the task at once; a synthesizer joins their answers.

        Args:
            agents: Agents that may answer.
            synthesizer: Is given their `perspectives`.
            discovery_mode: "a2a" (by their cards), "llm", or "all".
            top_k: Number of agents that are asked, unless all are.
            error_handling: "graceful" or "fail-fast".
        """
        settings = {"discovery_mode": discovery_mode, "top_k": top_k}
        roles = {"synthesizer": synthesizer}
        return _pattern("ensemble", agents, error_handling, settings, roles)

    @staticmethod
    def blackboard(
        specialists: Sequence[Any],
        controller: Any,
        selection_mode: str = "semantic",
        max_iterations: int = 10,
        *,
        error_handling: str = "graceful",
    ) -> PatternPipeline:
        """Let a controller name the missing information, until none is missing.

        Args:
            specialists: Add to the board, one at a time.
            controller: Is given the `board`; gives `done`, or `need`, or `next` (who).
            selection_mode: Selection of the specialist for a need without a name: "semantic",
                "llm", "round-robin" or "random".
            max_iterations: Most specialists that are asked.
            error_handling: "graceful" or "fail-fast".
        """
        settings = {"selection_mode": selection_mode, "max_iterations": max_iterations}
        roles = {"controller": controller}
        return _pattern("blackboard", specialists, error_handling, settings, roles)

    @staticmethod
    def consensus(
        agents: Sequence[Any],
        threshold: float = 0.5,
        voting_strategy: str = "majority",
        *,
        error_handling: str = "graceful",
    ) -> PatternPipeline:
        """Every agent makes a proposal, then every agent votes.

        Args:
            agents: Agents that propose and vote; one that gives no `vote` votes for its proposal.
            threshold: Share of the votes that is needed: more than it under "majority" and
                "weighted", at least it under "threshold".
            voting_strategy: "majority", "unanimous", "weighted" (by the agents' weights and how
                sure they are) or "threshold".
            error_handling: "graceful" or "fail-fast".
        """
        settings = {"threshold": threshold, "voting_strategy": voting_strategy}
        return _pattern("consensus", agents, error_handling, settings)

    @staticmethod
    def debate(
        agents: Sequence[Any],
        rounds: int = 3,
        judge: Any = None,
        *,
        error_handling: str = "graceful",
    ) -> PatternPipeline:
        """Every agent takes a position and answers the others', round by round.

        Args:
            agents: Agents that debate.
            rounds: Number of times that each of them speaks.
            judge: Is given the `debate` and decides; without one the majority of the agents does.
            error_handling: "graceful" or "fail-fast".
        """
        roles = {} if judge is None else {"judge": judge}
        return _pattern("debate", agents, error_handling, {"rounds": rounds}, roles)

    @staticmethod
    def handoff(
        agents: Sequence[Any],
        handoff_condition: Any = None,
        *,
        error_handling: str = "graceful",
    ) -> PatternPipeline:
        """Let the first agent answer, or hand over to another one.

        Args:
            agents: The first begins.
            handoff_condition: Is given the outputs of the agent that has the word, and may be
                async; True hands over to the next one in order, a name or a `Handoff` to that one,
                any other value hands over to no agent. Without it an agent hands over by its own
                output `handoff`.
            error_handling: "graceful" or "fail-fast".
        """
        settings = {"handoff_condition": handoff_condition}
        return _pattern("handoff", agents, error_handling, settings)

    @staticmethod
    def parallel(
        agents: Sequence[Any],
        aggregator: Any = None,
        max_workers: int = 10,
        *,
        error_handling: str = "graceful",
    ) -> PatternPipeline:
        """All agents at once, each with the same inputs.

        Args:
            agents: Agents that work.
            aggregator: Is given their `results` and makes one of them; without one their outputs
                are joined in declared order.
            max_workers: Most agents that work at the same time.
            error_handling: "graceful" or "fail-fast".
        """
        roles = {} if aggregator is None else {"aggregator": aggregator}
        return _pattern("parallel", agents, error_handling, {"max_workers": max_workers}, roles)


@dataclass(frozen=True, slots=True)
class Handoff:
    """A request that another agent takes over; an agent gives it as its output `handoff`.

    Attributes:
        to: Name of that agent.
        reason: Reason, for the next agent and for the record.
        history: Messages of the talk so far that it is shown, counted from the last one; None
            shows all.

    Raises:
        ConfigurationError: `history` is below 0.
    """

    to: str
    reason: str = ""
    history: int | None = None

    def __post_init__(self) -> None:
        if self.history is not None and (type(self.history) is not int or self.history < 0):
            raise ConfigurationError(
                f"Handoff: history is {shown(self.history)}; it must be a whole number from 0 on."
            )

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return it as plain data, as outputs are kept."""
        return asdict(self)


def _pattern(
    pattern: str,
    agents: Sequence[Any],
    error_handling: str,
    settings: Mapping[str, Any] | None = None,
    roles: Mapping[str, Any] | None = None,
) -> PatternPipeline:
    # A pattern is a pipeline, so this module cannot be the one that needs it first.
    from journeygraph.journeys.pipelines.pattern import PatternPipeline  # noqa: PLC0415

    return PatternPipeline(
        pattern, agents, roles or {}, settings or {}, error_handling=error_handling
    )
