"""The same conversation as a LangGraph graph written by hand, with nothing but what it needs.

START -> ingest -(route)-> one of five subgraphs -> settle -> END
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

Agent = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

PATTERNS = {
    "copay": "faq",
    "parking": "faq",
    "book a visit": "booking",
    "slot": "booking",
    "invoice": "billing",
    "bill": "billing",
    "start over": "intake",
    "a person": "human",
}
ROLES = {"human": "user", "ai": "assistant"}
PHASES = ("intake", "booking", "faq", "billing", "human")


def window(old: list[dict[str, str]], new: list[dict[str, str]]) -> list[dict[str, str]]:
    return [*old, *new][-40:]


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return {**old, **new}


class State(TypedDict):
    messages: Annotated[list[dict[str, str]], window]
    context: Annotated[dict[str, Any], merged]
    position: dict[str, Any]
    outputs: dict[str, Any]


def bounded(old: list[AnyMessage], new: Any) -> Any:
    return add_messages(old, new)[-40:]  # type: ignore[arg-type,index]


class WithMessages(State):
    """The same with messages of LangChain, as LangGraph's own `MessagesState` has them."""

    messages: Annotated[list[AnyMessage], bounded]  # type: ignore[misc]


class Phase(TypedDict):
    messages: list[Any]
    context: dict[str, Any]
    outputs: dict[str, Any]


class Deltas(TypedDict):
    outputs: dict[str, Any]


async def ingest(state: Any) -> dict[str, Any]:
    text = _told(state["messages"][-1])["content"].casefold()
    here = (state.get("position") or {"phase": "intake"})["phase"]
    said = next((phase for pattern, phase in PATTERNS.items() if pattern in text), here)
    return {"position": {"phase": said}}


async def route(state: Any) -> str:
    phase: str = state["position"]["phase"]
    return phase


async def settle(state: Any) -> dict[str, Any]:
    outputs = state["outputs"]
    reply = {"role": "assistant", "content": outputs["response"]}
    return {"messages": [reply], "context": {"topic": outputs["topic"]}, "outputs": {}}


def _told(message: Any) -> dict[str, str]:
    if isinstance(message, dict):
        return message
    return {"role": ROLES[message.type], "content": str(message.content)}


def phase_graph(agent: Agent) -> Any:
    async def run(state: Phase) -> dict[str, Any]:
        *history, last = map(_told, state["messages"])
        payload = {"message": last["content"], "context": state["context"], "history": history}
        return {"outputs": await agent(payload)}

    graph = StateGraph(Phase, output_schema=Deltas)
    graph.add_node("run", run)
    graph.add_edge(START, "run")
    graph.add_edge("run", END)
    return graph.compile()


def by_hand(
    agent: Agent, saver: Any = None, state: Any = State
) -> CompiledStateGraph[Any, Any, Any, Any]:
    graph = StateGraph(state)
    graph.add_node("ingest", ingest)
    graph.add_node("settle", settle)
    for phase in PHASES:
        graph.add_node(phase, phase_graph(agent))
        graph.add_edge(phase, "settle")
    graph.add_edge(START, "ingest")
    graph.add_conditional_edges("ingest", route, list(PHASES))
    graph.add_edge("settle", END)
    return graph.compile(checkpointer=saver)
