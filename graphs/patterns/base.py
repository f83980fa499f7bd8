"""What every pattern is built from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.graph import StateGraph
from typing_extensions import TypedDict

from journeys import PathwaySpec
from nodes.state import Output, PathwayState

PathwayGraph = StateGraph[PathwayState, Any, PathwayState, Any]
AddAgent = Callable[[PathwayGraph, str], None]
Builder = Callable[[PathwaySpec, AddAgent], PathwayGraph]


class PathwayOutput(TypedDict):
    """What a pathway gives back to the journey: deltas only, never what it was given."""

    outputs: list[Output]


def pathway_graph() -> PathwayGraph:
    """Return an empty pathway graph, which returns nothing but its agents' outputs."""
    return StateGraph(PathwayState, output_schema=PathwayOutput)
