"""What every pattern is built from: a stage, which adds agents to a graph as its nodes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, Send
from typing_extensions import TypedDict

from graphs.binding import bind, services_in
from journeys import Agent, PathwaySpec, PatternPipeline
from nodes.agent import After, noted
from nodes.patterns.seat import Seat
from nodes.services import Services
from nodes.state import Output, Update

PatternGraph = StateGraph[Any, Any, Any, Any]
Goal = str | Sequence[str] | Sequence[Send]
Route = Callable[[Any], Awaitable[Goal]]
"""Decides from the state what runs next: nodes by name, or what is sent to one several times."""


class PathwayOutput(TypedDict):
    """What a pathway gives back to the journey: deltas only, never what it was given."""

    results: list[Output]
    progress: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
    """Where a node leads: to one node, or wherever a route decides, among known ones."""

    route: Route | str
    targets: Sequence[str] = ()

    async def onward(self, state: Any) -> Goal:
        """Return what runs next."""
        return self.route if isinstance(self.route, str) else await self.route(state)


class MakeNode(Protocol):
    """Makes the node of an agent."""

    def __call__(self, seat: Seat, after: After | None) -> Any:
        """Return the node of the agent in a seat."""


class Failed(Protocol):
    """Makes a result of what an agent failed at."""

    def __call__(self, seat: Seat, error: NodeError, services: Services) -> Output:
        """Return the result of an agent that failed."""


@dataclass(slots=True)
class Stage:
    """A graph that a pattern is being built in.

    Attributes:
        graph: The graph.
        pipeline: Whose pattern it is.
        pathway: Where it stands.
        make: Makes the nodes of agents.
        failed: Makes results of failures; where there is none, they are raised.
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
    failed: Failed | None = None
    default: Services | None = None
    begin: str = START
    end: str = END
    prefix: str = ""
    has_word: bool = True
    timeout: float | None = None
    retries: RetryPolicy | None = None
    _ways: dict[str, tuple[Seat, Way, After | None]] = field(default_factory=dict)

    @property
    def peers(self) -> list[str]:
        """Names of the agents without a role, in declared order."""
        return [agent.name for agent in self.pipeline.agents]

    def role(self, role: str) -> str:
        """Return the name of the agent in a role."""
        agent: Agent = self.pipeline.roles[role]
        return agent.name

    def add(
        self, name: str, way: Way, *, has_word: bool = False, after: After | None = None
    ) -> None:
        """Add an agent as a node.

        Args:
            name: Its name in the pipeline.
            way: Where it leads, also when it fails and the work goes on without it.
            has_word: Whether what it says is surely the pipeline's reply.
            after: Decides what its result leads to.
        """
        seat = Seat(
            self.pathway, self.pipeline, name, self.prefix, self.has_word and has_word, self.timeout
        )
        self._ways[name] = (seat, way, after)
        node = self.make(seat, after)
        self.graph.add_node(name, node, retry_policy=self.retries, timeout=self.timeout)
        self._lead(name, way)

    def step(self, name: str, run: Callable[[Any, Services], Awaitable[Update]], way: Way) -> None:
        """Add a step of the pattern's own."""
        run.__name__ = name
        self.graph.add_node(name, bind(run, self.default))
        self._lead(name, way)

    def start(self, way: Way) -> None:
        """Say where the pattern begins."""
        self._lead(self.begin, way)

    def unless_failed(self, following: str) -> Way:
        """Return the way to a node, or to the end for an agent that failed and was forgiven."""
        if self.failed is None:
            return Way(following)

        async def route(state: Any) -> Goal:
            return self.end if state["results"][-1].get("error") else following

        return Way(route, [following, self.end])

    def forgive(self) -> None:
        """Let the work go on without an agent that failed: by LangGraph's own error handler."""
        if self.failed is not None:
            self.graph.set_node_defaults(error_handler=self._handler(self.failed))

    def _handler(self, failed: Failed) -> Any:
        async def handler(state: Any, error: NodeError, runtime: Runtime[Any]) -> Any:
            if error.node not in self._ways:  # a step of our own, whose fault is no agent's
                raise error.error
            seat, way, after = self._ways[error.node]
            services = services_in(runtime, self.default)
            update = await noted(state, services, seat, failed(seat, error, services), after)
            results = [*(state.get("results") or []), *update["results"]]
            progress = {**(state.get("progress") or {}), **update.get("progress", {})}
            goal = await way.onward({**state, "results": results, "progress": progress})
            return Command(update=update, goto=goal)

        return handler

    def _lead(self, name: str, way: Way) -> None:
        if isinstance(way.route, str):
            self.graph.add_edge(name, way.route)
        else:
            self.graph.add_conditional_edges(name, _unnamed(way), list(way.targets))


def _unnamed(way: Way) -> Any:
    async def route(state: Any) -> Any:  # without a type, or LangGraph would take it for a schema
        return await way.onward(state)

    return route


def to(name: str) -> Way:
    """Return the way to one node."""
    return Way(name)


def sent(name: str, state: Any, part: Any) -> Send:
    """Return a run of a node for one part of the work; several of one node can run at once."""
    return Send(name, {**state, "part": part})


def each(names: Sequence[str], state: Any) -> list[Send]:
    """Return a run of each of some nodes at once; their results come in this order."""
    return [Send(name, state) for name in names]
