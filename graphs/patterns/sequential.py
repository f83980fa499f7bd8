"""One agent after the other; each sees the outputs of those before.

START -> first -> second -> ... -> END
"""

from __future__ import annotations

from langgraph.graph import END, START

from graphs.patterns.base import AddAgent, PathwayGraph, pathway_graph
from journeys import PathwaySpec


def sequential(pathway: PathwaySpec, add_agent: AddAgent) -> PathwayGraph:
    """Return the graph of a pathway whose agents run in declared order."""
    graph = pathway_graph()
    before = START
    for name in pathway.agents:
        add_agent(graph, name)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph
