"""Draw pipelines: their graphs as charts, as SVG and as Mermaid."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from journeygraph.graphs.drawing.layout import Arrangement
from journeygraph.graphs.drawing.lettering import Card, TextStyle, broken, element, rectangle
from journeygraph.graphs.drawing.mermaid import escaped, title_of
from journeygraph.graphs.drawing.svg import FOOT, MARGIN, document, heading, legend
from journeygraph.graphs.pipelines.run import BEGIN, CONCLUDE, compile_pipeline
from journeygraph.journeys import Agent, PatternPipeline, Pipeline

START, END = "__start__", "__end__"


@dataclass(frozen=True)
class PipelineNode:
    """A node of a pipeline in a drawing.

    Attributes:
        path: Names that lead to it from the top, with "/" between them.
        purpose: Purpose of an agent; empty for a step of the pattern.
    """

    path: str
    purpose: str = ""
    is_step: bool = False


@dataclass(frozen=True)
class DrawnLine:
    """A line from one node to another; `is_choice` if it is optional or one of several."""

    source: str
    target: str
    is_choice: bool = False


@dataclass(frozen=True)
class Chart:
    """All that a drawing shows.

    Attributes:
        purpose: Its purpose and its pattern.
        stations: By their paths, in declared order; start and end are not among them.
        ways: Between stations, `START` and `END`.
    """

    name: str
    purpose: str
    stations: Mapping[str, PipelineNode]
    ways: tuple[DrawnLine, ...]


def chart(pipeline: Pipeline, purpose: str = "") -> Chart:
    """Reduce the compiled graph of a pipeline to the drawn elements.

    Start and end of inner pipelines are omitted: lines pass through them.

    Args:
        pipeline: The pipeline; its agents and models need not exist.
        purpose: Text that replaces its description.
    """
    drawn = compiled(pipeline)
    own = Agent(pipeline)
    known = dict(pipeline.leaves) if isinstance(pipeline, PatternPipeline) else {own.name: own}
    ways = {(_path(edge.source), _path(edge.target)): edge.conditional for edge in drawn.edges}
    for node in drawn.nodes:
        if (path := _path(node)).endswith((START, END)) and path not in (START, END):
            ways = _through(path, ways)
    stations = {
        path: PipelineNode(
            path, known[path].description if path in known else "", path not in known
        )
        for path in map(_path, drawn.nodes)
        if not path.endswith((START, END))
    }
    said = purpose or pipeline.description
    return Chart(own.name, said, stations, tuple(_in_order(ways, list(stations))))


def _in_order(ways: Mapping[tuple[str, str], bool], paths: list[str]) -> list[DrawnLine]:
    place = {path: number for number, path in enumerate([START, *paths, END])}
    ends = sorted(ways, key=lambda ends: (place[ends[0]], place[ends[1]]))
    return [DrawnLine(*pair, ways[pair]) for pair in ends if pair[0] != pair[1]]


def compiled(pipeline: Pipeline) -> Any:
    """Return LangGraph's own picture of a compiled pipeline; its agents need not exist."""
    return compile_pipeline(_hollow(pipeline)).get_graph(xray=True)


def _hollow(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline with the same seats and placeholder agents."""
    if not isinstance(pipeline, PatternPipeline):
        return pipeline
    roles = {role: _place(agent) for role, agent in pipeline.roles.items()}
    peers = [_place(agent) for agent in pipeline.agents]
    return pipeline.changed(**{pipeline.peers(): peers, **roles})


def _place(agent: Agent) -> Agent:
    inner = isinstance(agent.call, PatternPipeline)
    return agent.changed(call=_hollow(agent.call) if inner else _nobody)


def _nobody(given: Mapping[str, Any]) -> None:
    raise NotImplementedError("a placeholder agent of a drawing cannot run")


def _path(node: str) -> str:
    """Return the path of a node; start and end of the outer graph count as its own."""
    path = node.replace(":", "/")
    return {BEGIN: START, CONCLUDE: END}.get(path, path)


def _through(path: str, ways: Mapping[tuple[str, str], bool]) -> dict[tuple[str, str], bool]:
    """Replace a node: connect its incoming lines to its targets."""
    into = [(source, choice) for (source, target), choice in ways.items() if target == path]
    out = [(target, choice) for (source, target), choice in ways.items() if source == path]
    kept = {ends: choice for ends, choice in ways.items() if path not in ends}
    joined = {(a, b): one or other for a, one in into for b, other in out}
    return {**kept, **joined}


def targets(ways: Iterable[DrawnLine], source: str) -> list[DrawnLine]:
    """Return the lines out of one node."""
    return [way for way in ways if way.source == source]


_NAME = TextStyle("name", 14, 19, bold=True, columns=30)
_WORK = TextStyle("work", 10.5, 14, columns=30, rows=3)
_STEP = TextStyle("what", 11, 15, bold=True, columns=30)
_ARROWS = {False: "──▶", True: "┄┄▷"}


def mermaid(drawn: Chart) -> str:
    """Draw it as a Mermaid flowchart, with dashed lines for choices."""
    names = {path: f"n{number}" for number, path in enumerate(drawn.stations)}
    names |= {START: "begin", END: "finish"}
    lines = ['begin(["start"]):::mark', *(_node(s, names) for s in drawn.stations.values())]
    lines += ['finish(["end"]):::mark']
    lines += [f"{names[w.source]} {_arrow(w)} {names[w.target]}" for w in drawn.ways]
    lines += [
        "classDef agent fill:#eef4ff,stroke:#3b66b0,color:#14213d",
        "classDef step fill:#f4f4f5,stroke:#8b8b93,color:#333",
        "classDef mark fill:#14213d,stroke:#14213d,color:#fff",
    ]
    head = ["---", f"title: {title_of(drawn.name)}", "---", "flowchart TD"]
    return "\n".join([*head, *(f"    {line}" for line in lines)]) + "\n"


def _node(station: PipelineNode, names: dict[str, str]) -> str:
    name = names[station.path]
    if station.is_step:
        return f'{name}(["{escaped(station.path)}"]):::step'
    return f'{name}["{escaped(station.path)}"]:::agent'


def _arrow(way: DrawnLine) -> str:
    return "-.->" if way.is_choice else "-->"


def svg(drawn: Chart) -> str:
    """Draw it as a whole SVG document, in layers from the start down."""
    part = Arrangement()
    part.mark(START)
    for station in drawn.stations.values():
        part.add(station.path, _card(station))
    for way in drawn.ways:
        target = way.target
        if target == END:  # one for each line: lines that meet in one dot hide one another
            part.mark(target := f"{END} {way.source}")
        part.link(way.source, target, "" if way.is_choice else "next")
    part.arranged()
    over = heading(drawn.name, drawn.purpose)
    inner = max(MARGIN + part.width, over.right)
    key = legend(_key(drawn), inner)
    top, width = over.bottom + 14, max(inner, key.right) + MARGIN
    height = top + part.height + FOOT + key.bottom
    body = [
        rectangle("paper", 0, 0, width, height, 12),
        *over.rows,
        part.drawn(MARGIN, top),
        element("g", {"transform": f"translate(0 {height - 18 - key.bottom:.1f})"}, key.rows),
    ]
    about = f"Agents of the pipeline {drawn.name}: " + ", ".join(drawn.stations)
    return document(drawn.name, about, width, height, body)


def _card(station: PipelineNode) -> Card:
    if station.is_step:
        return Card(tuple(broken(station.path, _STEP)), "pill crowd", 12, _marks(station))
    purpose = station.purpose.partition(". ")[0]
    rows = (*broken(station.path, _NAME), *broken(purpose, _WORK))
    return Card(rows, "box", 8, _marks(station), f"Agent {station.path}. {station.purpose}".strip())


def _marks(station: PipelineNode) -> dict[str, str]:
    return {"class": "step" if station.is_step else "agent", "data-agent": station.path}


def _key(drawn: Chart) -> list[tuple[str, str]]:
    there = {way.is_choice for way in drawn.ways}
    meanings = {False: ("line next", "always"), True: ("line", "if it is chosen")}
    return [meanings[is_choice] for is_choice in (False, True) if is_choice in there]


def text(drawn: Chart, width: int = 80) -> str:
    """Draw it as boxes and arrows of plain characters, none wider than `width` columns."""
    heading = f"{drawn.name}: {drawn.purpose}" if drawn.purpose else drawn.name
    lines = [*textwrap.wrap(heading, width), "", " ● start", *_exits(drawn, START)]
    for path, station in drawn.stations.items():
        lines += [*_box(station, width), *_exits(drawn, path)]
    return "\n".join(lines) + "\n"


def _box(station: PipelineNode, width: int) -> list[str]:
    if station.is_step:
        return [f"( {station.path} )"]
    inside = [station.path, *textwrap.wrap(station.purpose, width - 4)]
    wide = max(map(len, inside))
    edge = "─" * (wide + 2)
    return [f"┌{edge}┐", *(f"│ {line.ljust(wide)} │" for line in inside), f"└{edge}┘"]


def _exits(drawn: Chart, source: str) -> Iterator[str]:
    for way in targets(drawn.ways, source):
        yield f" {_ARROWS[way.is_choice]} {'◉ end' if way.target == END else way.target}"
