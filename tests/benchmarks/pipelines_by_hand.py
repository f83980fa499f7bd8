"""The nine patterns as LangGraph graphs written by hand, with nothing but what they need.

All agents are functions of a payload; each node records the agent of each output.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from rapidfuzz import fuzz
from typing_extensions import TypedDict

Agent = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
Agents = Mapping[str, Agent]


class State(TypedDict):
    inputs: dict[str, Any]
    results: Annotated[list[dict[str, Any]], operator.add]
    notes: Annotated[dict[str, Any], operator.or_]


def node(name: str, agent: Agent, extra: Callable[[Any], dict[str, Any]] = lambda state: {}) -> Any:
    async def run(state: Any) -> dict[str, Any]:
        asked = extra(state)
        outputs = await agent({**state["inputs"], **asked})
        return {"results": [{"agent": name, "phase": asked.get("phase"), "outputs": outputs}]}

    return run


def new() -> Any:
    return StateGraph(State)


def gave(state: Any) -> dict[str, Any]:
    return {k: v for result in state["results"] for k, v in result["outputs"].items()}


def listed(state: Any) -> list[dict[str, Any]]:
    return [{"agent": r["agent"], "outputs": r["outputs"]} for r in state["results"]]


def sequential(agents: Agents) -> Any:
    graph, before = new(), START
    for name, agent in agents.items():
        graph.add_node(name, node(name, agent, gave))
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile()


def parallel(agents: Agents) -> Any:
    graph = new()
    for name, agent in agents.items():
        graph.add_node(name, node(name, agent))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph.compile()


def _selecting(graph: Any, cards: Mapping[str, str], k: int) -> None:
    async def select(state: Any) -> dict[str, Any]:
        said = state["inputs"]["message"]
        scores = {name: fuzz.token_set_ratio(said, text) for name, text in cards.items()}
        best = sorted(scores, key=lambda name: -scores[name])[:k]
        return {"notes": {"selected": best}}

    async def chosen(state: Any) -> Sequence[str]:
        selected: list[str] = state["notes"]["selected"]
        return selected

    graph.add_node("select", select)
    graph.add_edge(START, "select")
    graph.add_conditional_edges("select", chosen, list(cards))


def router(agents: Agents, cards: Mapping[str, str]) -> Any:
    graph = new()
    _selecting(graph, cards, 1)
    for name, agent in agents.items():
        graph.add_node(name, node(name, agent))
        graph.add_edge(name, END)
    return graph.compile()


def ensemble(agents: Agents, cards: Mapping[str, str], synthesizer: Agent) -> Any:
    graph = new()
    _selecting(graph, cards, 3)
    for name, agent in agents.items():
        graph.add_node(name, node(name, agent))
        graph.add_edge(name, "synthesizer")
    seen = node("synthesizer", synthesizer, lambda state: {"perspectives": listed(state)})
    graph.add_node("synthesizer", seen)
    graph.add_edge("synthesizer", END)
    return graph.compile()


def supervisor_worker(agents: Agents, supervisor: Agent) -> Any:
    graph = new()

    def asked(state: Any) -> dict[str, Any]:
        phase = "review" if state["results"] else "plan"
        return {"phase": phase, "results": listed(state)}

    async def parts(state: Any) -> Any:
        last = state["results"][-1]
        if last["phase"] == "review":
            return END
        tasks = last["outputs"]["tasks"]
        return [Send(part["worker"], {**state, "task": part["task"]}) for part in tasks]

    graph.add_node("supervisor", node("supervisor", supervisor, asked))
    graph.add_edge(START, "supervisor")
    graph.add_conditional_edges("supervisor", parts, [*agents, END])
    for name, agent in agents.items():
        graph.add_node(name, node(name, agent, lambda state: {"task": state.get("task", "")}))
        graph.add_edge(name, "supervisor")
    return graph.compile()


def blackboard(agents: Agents, controller: Agent) -> Any:
    graph = new()

    def board(state: Any) -> dict[str, Any]:
        return {"board": [r for r in listed(state) if r["agent"] != "controller"]}

    async def wanted(state: Any) -> str:
        outputs = state["results"][-1]["outputs"]
        return END if outputs.get("done") else str(outputs["next"])

    graph.add_node("controller", node("controller", controller, board))
    graph.add_edge(START, "controller")
    graph.add_conditional_edges("controller", wanted, [*agents, END])
    for name, agent in agents.items():
        graph.add_node(name, node(name, agent, board))
        graph.add_edge(name, "controller")
    return graph.compile()


def consensus(agents: Agents) -> Any:
    graph = new()

    def asked(state: Any) -> dict[str, Any]:
        if not state["results"]:
            return {"phase": "propose"}
        return {"phase": "vote", "proposals": listed(state)}

    async def gather(state: Any) -> dict[str, Any]:
        votes = [r["outputs"].get("vote") for r in state["results"] if r["phase"] == "vote"]
        tally = {vote: votes.count(vote) for vote in votes}
        return {"notes": {"tally": tally}}

    async def voters(state: Any) -> Any:
        return END if state["notes"]["tally"] else list(agents)

    graph.add_node("gather", gather)
    for name, agent in agents.items():
        graph.add_node(name, node(name, agent, asked))
        graph.add_edge(START, name)
        graph.add_edge(name, "gather")
    graph.add_conditional_edges("gather", voters, [*agents, END])
    return graph.compile()


def debate(agents: Agents, judge: Agent, rounds: int) -> Any:
    graph = new()

    def asked(state: Any) -> dict[str, Any]:
        number = state["notes"].get("round", 1)
        phase = "position" if number == 1 else "rebuttal"
        return {"phase": phase, "round": number, "debate": listed(state)}

    async def gather(state: Any) -> dict[str, Any]:
        return {"notes": {"round": state["notes"].get("round", 1) + 1}}

    async def following(state: Any) -> Any:
        return "judge" if state["notes"]["round"] > rounds else list(agents)

    graph.add_node("gather", gather)
    for name, agent in agents.items():
        graph.add_node(name, node(name, agent, asked))
        graph.add_edge(START, name)
        graph.add_edge(name, "gather")
    graph.add_node("judge", node("judge", judge, lambda state: {"debate": listed(state)}))
    graph.add_conditional_edges("gather", following, [*agents, "judge"])
    graph.add_edge("judge", END)
    return graph.compile()


def handoff(agents: Agents) -> Any:
    graph = new()

    async def holder(state: Any) -> str:
        asked = state["results"][-1]["outputs"].get("handoff")
        return asked["to"] if asked else END

    for name, agent in agents.items():
        graph.add_node(name, node(name, agent, lambda state: {"before": listed(state)[-1:]}))
        graph.add_conditional_edges(name, holder, [*agents, END])
    graph.add_edge(START, next(iter(agents)))
    return graph.compile()
