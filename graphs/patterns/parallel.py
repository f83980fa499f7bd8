"""All agents at once, each with the same inputs.

      .-> first --.
START --> second ---> END
      '-> ... ----'
"""

from __future__ import annotations

from langgraph.graph import END, START

from graphs.patterns.base import AddAgent, PathwayGraph, pathway_graph
from journeys import PathwaySpec


def parallel(pathway: PathwaySpec, add_agent: AddAgent) -> PathwayGraph:
    """Return the graph of a pathway whose agents run concurrently."""
    graph = pathway_graph()
    for name in pathway.agents:
        add_agent(graph, name)
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph
