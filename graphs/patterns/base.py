"""What every pattern is built from: a stage, which adds agents to a graph as its nodes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send
from typing_extensions import TypedDict

from graphs.binding import bind
from journeys import Agent, PathwaySpec, PatternPipeline
from nodes.agent import After
from nodes.patterns.work import Seat
from nodes.services import Services
from nodes.state import Output, Update

PatternGraph = StateGraph[Any, Any, Any, Any]
Goal = str | Sequence[str] | Sequence[Send]
Route = Callable[[Any], Awaitable[Goal]]
"""Decides from the state what runs next: nodes by their names, or one that is sent to."""


class PathwayOutput(TypedDict):
    """What a pathway gives back to the journey: deltas only, never what it was given."""

    results: list[Output]
    progress: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
    """Where a node leads: wherever a route decides, among known nodes."""

    route: Route
    targets: Sequence[str]


class MakeNode(Protocol):
    """Makes the node of an agent."""

    def __call__(self, seat: Seat, after: After | None) -> Any:
        """Return the node of the agent in a seat."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A graph that a pattern is being built in.

    Attributes:
        graph: The graph.
        pipeline: Whose pattern it is.
        pathway: Where it stands.
        make: Makes the nodes of agents.
        default: Services for runs that bring none.
        begin: Where the pattern begins: LangGraph's start, or a node of the graph around it.
        end: Where the pattern ends: LangGraph's end, or a node of the graph around it.
        prefix: Path of the pipeline within the pathway's, with "/" at its end; empty at the top.
        has_word: Whether its reply is surely what the user hears.
        timeout: Longest try of an agent, in seconds; None for no limit.
        retries: How an agent is tried again; None: never.
    """

    graph: PatternGraph
    pipeline: PatternPipeline
    pathway: PathwaySpec
    make: MakeNode
    default: Services | None = None
    begin: str = START
    end: str = END
    prefix: str = ""
    has_word: bool = True
    timeout: float | None = None
    retries: RetryPolicy | None = None

    @property
    def peers(self) -> list[str]:
        """Names of the agents without a role, in declared order."""
        return [agent.name for agent in self.pipeline.agents]

    @property
    def forgives(self) -> bool:
        """Whether the work goes on without an agent that failed."""
        return self.pipeline.error_handling == "graceful"

    def role(self, role: str) -> str:
        """Return the name of the agent in a role."""
        agent: Agent = self.pipeline.roles[role]
        return agent.name

    def seat(self, name: str, *, has_word: bool = False) -> Seat:
        """Return the place of an agent, or of a step of the pattern's own."""
        word = self.has_word and has_word
        return Seat(self.pathway, self.pipeline, name, self.prefix, word, self.timeout)

    def add(
        self, name: str, way: Way | str, *, has_word: bool = False, after: After | None = None
    ) -> None:
        """Add an agent as a node.

        Args:
            name: Its name in the pipeline.
            way: Where it leads.
            has_word: Whether what it says is surely the pipeline's reply.
            after: Decides what its result leads to.
        """
        node = self.make(self.seat(name, has_word=has_word), after)
        # A try that is forgiven is timed where it is forgiven.
        timeout = None if self.forgives else self.timeout
        self.graph.add_node(name, node, retry_policy=self.retries, timeout=timeout)
        self._lead(name, way)

    def step(self, name: str, run: Callable[[Any, Services], Awaitable[Update]], way: Way) -> None:
        """Add a step of the pattern's own."""
        self.graph.add_node(name, bind(run, self.default))
        self._lead(name, way)

    def start(self, *first: str) -> None:
        """Say what the pattern begins with; several nodes begin at once."""
        for name in first:
            self._lead(self.begin, name)

    def _lead(self, name: str, way: Way | str) -> None:
        if isinstance(way, str):
            self.graph.add_edge(name, way)
        else:
            self.graph.add_conditional_edges(name, _unnamed(way), list(way.targets))


def _unnamed(way: Way) -> Any:
    async def route(state: Any) -> Any:  # without a type, or LangGraph would take it for a schema
        return await way.route(state)

    return route


def sent(name: str, state: Any, part: Any) -> Send:
    """Return a run of a node for one part of the work; several of one node can run at once."""
    return Send(name, {**state, "part": part})
