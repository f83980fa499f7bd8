"""The reception of a concierge as a graph: one step, for messages that start no journey."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from graphs.binding import bind
from graphs.patterns import PathwayOutput, PatternGraph
from nodes.reception import receive
from nodes.services import Services
from nodes.state import PathwayState


def reception_subgraph(default: Services | None) -> PatternGraph:
    """Return the graph of the pathway in which a concierge stands between its journeys.

    What starts a journey leads out of it before it runs, as every transition does.
    """
    graph: PatternGraph = StateGraph(PathwayState, output_schema=PathwayOutput)
    graph.add_node("answer", bind(receive, default))
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph
