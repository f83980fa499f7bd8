"""What a drawing of a pipeline shows, before it is Mermaid, SVG or text: agents, steps, ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphs.pipelines import BEGIN, CONCLUDE, compile_pipeline
from journeys import Agent, PatternPipeline, Pipeline

START, END = "__start__", "__end__"


@dataclass(frozen=True)
class Station:
    """A node of a pipeline as it is drawn.

    Attributes:
        path: Names that lead to it from the top, with "/" between them.
        purpose: What an agent is for; empty for a step of the pattern's own.
        is_step: Whether it is such a step, and no agent.
    """

    path: str
    purpose: str = ""
    is_step: bool = False


@dataclass(frozen=True)
class Way:
    """A line from one node to another; `is_choice` where it is one of several, or of none."""

    source: str
    target: str
    is_choice: bool = False


@dataclass(frozen=True)
class Chart:
    """All that a drawing shows.

    Attributes:
        name: The pipeline's.
        purpose: What it is for, and in which pattern.
        stations: By their paths, in declared order; start and end are not among them.
        ways: Between stations, `START` and `END`.
    """

    name: str
    purpose: str
    stations: Mapping[str, Station]
    ways: tuple[Way, ...]


def chart(pipeline: Pipeline, purpose: str = "") -> Chart:
    """Reduce the compiled graph of a pipeline to what is drawn.

    Start and end of pipelines within it are left out, and lines lead through them.

    Args:
        pipeline: Its agents need not be there: neither models nor those of a journey.
        purpose: Said instead of its description.
    """
    drawn = compiled(pipeline)
    own = Agent(pipeline)
    known = dict(pipeline.leaves) if isinstance(pipeline, PatternPipeline) else {own.name: own}
    ways = {(_path(edge.source), _path(edge.target)): edge.conditional for edge in drawn.edges}
    for node in drawn.nodes:
        if (path := _path(node)).endswith((START, END)) and path not in (START, END):
            ways = _through(path, ways)
    stations = {
        path: Station(path, known[path].description if path in known else "", path not in known)
        for path in map(_path, drawn.nodes)
        if not path.endswith((START, END))
    }
    said = purpose or pipeline.description
    return Chart(own.name, said, stations, tuple(_in_order(ways, list(stations))))


def _in_order(ways: Mapping[tuple[str, str], bool], paths: list[str]) -> list[Way]:
    """Return the lines in the order of what they begin at and lead to, loops left out."""
    place = {path: number for number, path in enumerate([START, *paths, END])}
    ends = sorted(ways, key=lambda ends: (place[ends[0]], place[ends[1]]))
    return [Way(*pair, ways[pair]) for pair in ends if pair[0] != pair[1]]


def compiled(pipeline: Pipeline) -> Any:
    """Return LangGraph's own picture of a compiled pipeline; its agents need not be there."""
    return compile_pipeline(_hollow(pipeline)).get_graph(xray=True)


def _hollow(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline with the same places, for which nobody is needed."""
    if not isinstance(pipeline, PatternPipeline):
        return pipeline
    roles = {role: _place(agent) for role, agent in pipeline.roles.items()}
    return replace(pipeline, agents=[_place(agent) for agent in pipeline.agents], roles=roles)


def _place(agent: Agent) -> Agent:
    inner = isinstance(agent.call, PatternPipeline)
    return replace(agent, call=_hollow(agent.call) if inner else _nobody)


def _nobody(given: Mapping[str, Any]) -> None:
    raise NotImplementedError("a place in a picture does no work")


def _path(node: str) -> str:
    """Return where a node is, start and end of the graph around the pattern as its own."""
    path = node.replace(":", "/")
    return {BEGIN: START, CONCLUDE: END}.get(path, path)


def _through(path: str, ways: Mapping[tuple[str, str], bool]) -> dict[tuple[str, str], bool]:
    """Lead every line to a node on to all that it leads to."""
    into = [(source, choice) for (source, target), choice in ways.items() if target == path]
    out = [(target, choice) for (source, target), choice in ways.items() if source == path]
    kept = {ends: choice for ends, choice in ways.items() if path not in ends}
    joined = {(a, b): one or other for a, one in into for b, other in out}
    return {**kept, **joined}


def targets(ways: Iterable[Way], source: str) -> list[Way]:
    """Return the lines out of one node."""
    return [way for way in ways if way.source == source]
