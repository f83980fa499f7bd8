"""The nine patterns in which agents work together, built on a stage that adds agents as nodes.

All have one signature: a stage, to which they add agents and edges.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send
from typing_extensions import TypedDict

from journeygraph.graphs.steps import bind
from journeygraph.journeys import Agent, PathwaySpec, PatternPipeline
from journeygraph.nodes.pipelines.rules import blackboard as blackboard_rule
from journeygraph.nodes.pipelines.rules import consensus as consensus_rule
from journeygraph.nodes.pipelines.rules import debate as debate_rule
from journeygraph.nodes.pipelines.rules import handoff as handoff_rule
from journeygraph.nodes.pipelines.rules import supervisor_worker as supervisor_rule
from journeygraph.nodes.pipelines.rules.consensus import VOTE
from journeygraph.nodes.pipelines.rules.debate import JUDGE, JUDGING, OVER
from journeygraph.nodes.pipelines.rules.simple import AGGREGATOR, SYNTHESIZER
from journeygraph.nodes.pipelines.work import Member
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import Output, Update
from journeygraph.nodes.turn.run_agent import After, chooser_of, work_of

PatternGraph = StateGraph[Any, Any, Any, Any]
Goal = str | Sequence[str] | Sequence[Send]
Route = Callable[[Any], Awaitable[Goal]]
"""Chooses the next nodes from the state: names, or a send."""


class PathwayOutput(TypedDict):
    """Output of a pathway: deltas only, never its input."""

    results: list[Output]
    progress: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
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
        graph: The graph.
        pipeline: The pipeline of the pattern.
        pathway: The pathway of the pipeline.
        make: Creates the nodes of agents.
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
        self, name: str, way: Way | str, *, has_word: bool = False, after: After | None = None
    ) -> None:
        """Add an agent as a node.

        Args:
            name: Its name in the pipeline.
            way: Its target.
            has_word: True if its reply is certainly the pipeline's reply.
            after: Chooses the next node from its result.
        """
        node = self.make(self.member(name, has_word=has_word), after)
        # A try that is forgiven is timed where it is forgiven.
        timeout = None if self.forgives else self.timeout
        self.graph.add_node(name, node, retry_policy=self.retries, timeout=timeout)
        self._lead(name, way)

    def step(self, name: str, run: Callable[[Any, Services], Awaitable[Update]], way: Way) -> None:
        """Add a step of the pattern."""
        self.graph.add_node(name, bind(run, self.default))
        self._lead(name, way)

    def start(self, *first: str) -> None:
        """Connect the start to nodes; several nodes start at once."""
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


def sequential(stage: Stage) -> None:
    """Run the agents in declared order; a failure ends the pattern.

    START -> first -> second -> ... -> END
    """
    last = stage.peers[-1]
    stage.start(stage.peers[0])
    for name, following in zip(stage.peers, [*stage.peers[1:], stage.end], strict=True):
        stage.add(name, following, has_word=name == last)


def parallel(stage: Stage) -> None:
    """Run the agents concurrently, as many at a time as `max_workers` allows.

          .-> first --.
    START --> second ---> aggregator, if there is one -> END
          '-> ... ----'
    """
    has_aggregator = AGGREGATOR in stage.pipeline.roles
    after_all = stage.role(AGGREGATOR) if has_aggregator else stage.end

    stage.start(*stage.peers)
    for name in stage.peers:
        stage.add(name, after_all)
    if has_aggregator:
        stage.add(after_all, stage.end, has_word=True)


def selecting(stage: Stage, k: int, mode: str) -> Any:
    """Return the step that selects up to `k` agents of a stage's pipeline."""
    member = stage.member("select")
    names = [agent.name for agent in stage.pipeline.agents]

    async def select(state: Any, services: Services) -> Update:
        chooser = chooser_of(state, services, member)
        agents = work_of(state, member, services).agents
        selection = await chooser.choose(chooser.task, agents, k, mode)
        noted = {
            "selected": list(selection.chosen),
            "flags": list(selection.flags),
            # A thread that a saver keeps goes on in turn from here.
            "turn": names.index(selection.names[0]),
        }
        return {"progress": noted}

    return select


def router(stage: Stage) -> None:
    """Choose an agent by the routing strategy, and run it.

                     .-> first --.
    START -> select ---> second ---> END
                     '-> ... ----'
    """
    mode = stage.pipeline.settings["routing_strategy"]

    async def chosen(state: Any) -> Goal:
        return str(state["progress"]["selected"][0]["agent"])

    stage.start("select")
    stage.step("select", selecting(stage, 1, mode), Way(chosen, stage.peers))
    for name in stage.peers:
        stage.add(name, stage.end, has_word=True)


def ensemble(stage: Stage) -> None:
    """Select the top k agents, or all; run them; pass their results to the synthesizer.

                     .-> first --.
    START -> select ---> second ---> synthesizer -> END
                     '-> ... ----'
    """
    settings = stage.pipeline.settings
    synthesizer = stage.role(SYNTHESIZER)

    async def chosen(state: Any) -> Goal:
        return [item["agent"] for item in state["progress"]["selected"]]

    stage.start("select")
    select = selecting(stage, settings["top_k"], settings["discovery_mode"])
    stage.step("select", select, Way(chosen, stage.peers))
    for name in stage.peers:
        stage.add(name, synthesizer)
    stage.add(synthesizer, stage.end, has_word=True)


def supervisor_worker(stage: Stage) -> None:
    """Alternate between the supervisor and the workers of the parts that are open.

                         .-> first worker ---.
    START -> supervisor ---> second worker ---> supervisor -> ... -> END
                         '-> ... ------------'
    """
    supervisor = stage.role(supervisor_rule.SUPERVISOR)

    async def parts(state: Any) -> Goal:
        progress = state["progress"]
        plan = progress.get("plan", [])
        return [
            sent(plan[place]["worker"], state, {"part": place + 1, "task": plan[place]["task"]})
            for place in progress["open"]
        ] or stage.end

    stage.start(supervisor)
    stage.add(supervisor, Way(parts, [*stage.peers, stage.end]), after=supervisor_rule.after)
    for name in stage.peers:
        stage.add(name, supervisor)


def blackboard(stage: Stage) -> None:
    """Alternate between the controller and the specialist that it chooses.

    START -> controller <-> first, second, ... specialist
                       '-> END
    """
    controller = stage.role(blackboard_rule.CONTROLLER)

    async def wanted(state: Any) -> Goal:
        return state["progress"]["next"] or stage.end

    stage.start(controller)
    stage.add(controller, Way(wanted, [*stage.peers, stage.end]), after=blackboard_rule.after)
    for name in stage.peers:
        stage.add(name, controller)


def consensus(stage: Stage) -> None:
    """Have all agents propose, and the proposers vote.

          .-> first --.
    START --> second ---> gather -(once again, to vote)-> END
          '-> ... ----'
    """
    member = stage.member("gather")

    async def gather(state: Any, services: Services) -> Update:
        return {"progress": consensus_rule.following(work_of(state, member, services))}

    async def voters(state: Any) -> Goal:
        voting = state["progress"]["voters"]
        return voting or stage.end

    stage.start(*stage.peers)
    for name in stage.peers:
        stage.add(name, "gather")
    stage.step("gather", gather, Way(voters, [*stage.peers, stage.end]))


def debate(stage: Stage) -> None:
    """Run the rounds, then the decision.

          .-> first --.
    START --> second ---> gather -(round by round)-> judge, or a vote -> END
          '-> ... ----'
    """
    judge = stage.role(JUDGE) if JUDGE in stage.pipeline.roles else None
    member = stage.member("gather")

    async def gather(state: Any, services: Services) -> Update:
        return {"progress": debate_rule.following(work_of(state, member, services))}

    async def next_steps(state: Any) -> Goal:
        phase = state["progress"].get("phase")
        if phase in (OVER, JUDGING):
            return judge if phase == JUDGING and judge else stage.end
        if phase == VOTE:
            return list(state["progress"]["voters"])
        return stage.peers

    stage.start(*stage.peers)
    for name in stage.peers:
        stage.add(name, "gather")
    targets = [*stage.peers, judge] if judge else stage.peers
    stage.step("gather", gather, Way(next_steps, [*targets, stage.end]))
    if judge:
        stage.add(judge, stage.end, has_word=True)


def handoff(stage: Stage) -> None:
    """Run the active agent until an agent does not hand over.

    START -> first <-> second <-> ...
              '-> END    '-> END
    """

    async def holder(state: Any) -> Goal:
        return state["progress"]["next"] or stage.end

    stage.start(stage.peers[0])
    for name in stage.peers:
        stage.add(name, Way(holder, [*stage.peers, stage.end]), after=handoff_rule.after)


def build(stage: Stage) -> None:
    """Build the pattern of a stage's pipeline, by the function of its name."""
    globals()[stage.pipeline.pattern](stage)
