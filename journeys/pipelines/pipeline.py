"""Pipelines: agents that work together and are one agent for their callers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, cast

from journeygraph.journeys import door
from journeygraph.journeys.agents.agent import Agent, Skill
from journeygraph.journeys.errors import ConfigurationError, shown

if TYPE_CHECKING:
    from journeygraph.journeys.pipelines import pattern_kinds
    from journeygraph.journeys.pipelines.pattern import PatternPipeline

P = ParamSpec("P")


class PatternClass(Generic[P]):
    """The class of a pattern; as an attribute of `Pipeline`, its factory.

    Args:
        made: Returns the class; only its type is read, as a pattern is itself a `Pipeline`.
    """

    def __init__(self, made: Callable[[], Callable[P, Any]]) -> None:
        self._made = made

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, pipeline: Any, owner: type) -> Callable[P, PatternPipeline]:
        from journeygraph.journeys.pipelines.pattern_kinds import PATTERNS  # noqa: PLC0415

        return cast("Callable[P, PatternPipeline]", PATTERNS[self._name])


class Pipeline(ABC):
    """Inputs in, outputs out, by agents that work together; itself an agent to others.

    Its nine attributes are the patterns, as in the example. Subclass it for another pattern: write
    `async def run(self, **inputs)`, and it can be used wherever an agent can.

    Source: ADR-018 sections 1 and 3.

    Example:
        >>> def first(given): return {"response": given["message"].upper()}
        >>> def second(given): return {"response": given["response"] + "!"}
        >>> Pipeline.sequential([first, second]).run_sync(message="hello")["response"]
        'HELLO!'
    """

    name = ""
    description = ""

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

    sequential = PatternClass(lambda: pattern_kinds.Sequential)
    supervisor_worker = PatternClass(lambda: pattern_kinds.SupervisorWorker)
    router = PatternClass(lambda: pattern_kinds.Router)
    ensemble = PatternClass(lambda: pattern_kinds.Ensemble)
    blackboard = PatternClass(lambda: pattern_kinds.Blackboard)
    consensus = PatternClass(lambda: pattern_kinds.Consensus)
    debate = PatternClass(lambda: pattern_kinds.Debate)
    handoff = PatternClass(lambda: pattern_kinds.HandingOver)
    parallel = PatternClass(lambda: pattern_kinds.Parallel)


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
