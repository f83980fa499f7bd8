"""The stage on which a pattern adds its agents as nodes, and the simplest pattern on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send
from typing_extensions import TypedDict

from journeygraph.graphs.steps import bind
from journeygraph.journeys import Agent, PathwaySpec, PatternPipeline
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.pipelines.work import Member
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import AgentOutput, Update

if TYPE_CHECKING:
    from journeygraph.nodes.turn.run_agent import After

PatternGraph = StateGraph[Any, Any, Any, Any]
Goal = str | Sequence[str] | Sequence[Send]
Route = Callable[[Any], Awaitable[Goal]]
"""Chooses the next nodes from the state: names, or a send."""


class PathwayOutput(TypedDict):
    """Output of a pathway: deltas only, never its input."""

    results: list[AgentOutput]
    progress: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StageEdge:
    """Edge of a node: a route decides among known nodes."""

    route: Route
    targets: Sequence[str]


class MakeNode(Protocol):
    """Creates the node of an agent."""

    def __call__(self, member: Member, after: After | None) -> Any:
        """Return the node of a member."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A graph that a pattern is being built in.

    Attributes:
        default: Services for runs without their own.
        begin: Start of the pattern: LangGraph's start, or a node of the outer graph.
        end: End of the pattern: LangGraph's end, or a node of the outer graph.
        prefix: Path of the pipeline within the pathway's, with "/" at its end; empty at the top.
        has_word: True if its reply is certainly the reply to the user.
        timeout: Longest try of an agent, in seconds; None for no limit.
        retries: Retry policy of an agent; None: no retries.
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
        """Return whether the work continues without a failed agent."""
        return self.pipeline.error_handling == "graceful"

    def role(self, role: str) -> str:
        """Return the name of the agent in a role."""
        agent: Agent = self.pipeline.roles[role]
        return agent.name

    def member(self, name: str, *, has_word: bool = False) -> Member:
        """Return the node name of an agent, or of a step of the pattern."""
        word = self.has_word and has_word
        return Member(self.pathway, self.pipeline, name, self.prefix, word, self.timeout)

    def add(
        self, name: str, way: StageEdge | str, *, has_word: bool = False, after: After | None = None
    ) -> None:
        """Add an agent as a node."""
        node = self.make(self.member(name, has_word=has_word), after)
        # A try that is forgiven is timed where it is forgiven.
        timeout = None if self.forgives else self.timeout
        self.graph.add_node(name, node, retry_policy=self.retries, timeout=timeout)
        self._lead(name, way)

    def step(
        self, name: str, run: Callable[[Any, Services], Awaitable[Update]], way: StageEdge
    ) -> None:
        """Add a step of the pattern."""
        self.graph.add_node(name, bind(run, self.default))
        self._lead(name, way)

    def start(self, *first: str) -> None:
        """Connect the start to nodes; several nodes start at once."""
        for name in first:
            self._lead(self.begin, name)

    def _lead(self, name: str, way: StageEdge | str) -> None:
        if isinstance(way, str):
            self.graph.add_edge(name, way)
        else:
            self.graph.add_conditional_edges(name, _unnamed(way), list(way.targets))


def _unnamed(way: StageEdge) -> Any:
    async def route(state: Any) -> Any:  # without a type, or LangGraph would take it for a schema
        return await way.route(state)

    return route


def sent(name: str, state: Any, part: Any) -> Send:
    """Return a run of a node for one part of the work; several of one node can run at once."""
    return Send(name, {**state, "part": part})


def sequential(stage: Stage) -> None:
    """Run the agents in declared order; a failure ends the pattern.

    START -> first -> second -> ... -> END
    """
    last = stage.peers[-1]
    stage.start(stage.peers[0])
    for name, following in zip(stage.peers, [*stage.peers[1:], stage.end], strict=True):
        stage.add(name, following, has_word=name == last)


def build(stage: Stage) -> None:
    """Build the pattern of a stage's pipeline."""
    pattern = stage.pipeline.pattern
    if pattern == "sequential":
        sequential(stage)
    else:
        getattr(part("patterns"), pattern)(stage)
