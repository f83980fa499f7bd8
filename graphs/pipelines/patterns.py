"""The patterns in which several agents work together, built on a stage.

All have one signature: a stage, to which they add agents and edges.
"""

from __future__ import annotations

from typing import Any

from journeygraph.graphs.pipelines.stage import Goal, Stage, StageEdge, sent
from journeygraph.nodes.pipelines.rules import blackboard as blackboard_rule
from journeygraph.nodes.pipelines.rules import consensus as consensus_rule
from journeygraph.nodes.pipelines.rules import debate as debate_rule
from journeygraph.nodes.pipelines.rules import handoff as handoff_rule
from journeygraph.nodes.pipelines.rules import supervisor_worker as supervisor_rule
from journeygraph.nodes.pipelines.rules.consensus import VOTE
from journeygraph.nodes.pipelines.rules.debate import JUDGE, JUDGING, OVER
from journeygraph.nodes.pipelines.rules.simple import AGGREGATOR, SYNTHESIZER
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import Update
from journeygraph.nodes.turn.run_agent import chooser_of, work_of


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
    stage.step("select", selecting(stage, 1, mode), StageEdge(chosen, stage.peers))
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
    stage.step("select", select, StageEdge(chosen, stage.peers))
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
    stage.add(supervisor, StageEdge(parts, [*stage.peers, stage.end]), after=supervisor_rule.after)
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
    stage.add(controller, StageEdge(wanted, [*stage.peers, stage.end]), after=blackboard_rule.after)
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
    stage.step("gather", gather, StageEdge(voters, [*stage.peers, stage.end]))


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
    stage.step("gather", gather, StageEdge(next_steps, [*targets, stage.end]))
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
        stage.add(name, StageEdge(holder, [*stage.peers, stage.end]), after=handoff_rule.after)
