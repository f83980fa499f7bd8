"""`journeygraph draw`: the picture of a journey, or of a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from journeygraph.graphs.drawing import mermaid, pipelines, svg, terminal
from journeygraph.graphs.drawing.pipelines import Chart, chart, compiled
from journeygraph.journeys import AgentNotRegisteredError, JourneySpec
from journeygraph.server.cli.terminal.rendering import out
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.discover.journeys import FoundJourney, find
from journeygraph.server.discover.pipelines import FoundPipeline, pipeline_meant

_DRAWN: dict[str, Callable[..., str]] = {
    "mermaid": mermaid.mermaid,
    "svg": svg.svg,
    "text": terminal.text,
}
_SUFFIXES = {
    ".svg": "svg",
    ".txt": "text",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
}


_DRAWN_PIPELINE: dict[str, Callable[[Chart], str]] = {
    "mermaid": pipelines.mermaid,
    "svg": pipelines.svg,
    "text": pipelines.text,
}


def draw(
    target: str,
    style: str | None,
    output: Path | None,
    *,
    graph: bool = False,
    full: bool = False,
) -> None:
    """Draw a journey or a pipeline, to a file or to the terminal."""
    wanted = style or _by_ending(output)
    if pipeline := pipeline_meant(target):
        drawing = drawn_pipeline(pipeline, wanted, graph=graph)
    else:
        found = find(target)
        spec = found.journey.spec
        drawing = _compiled(found, wanted) if graph else drawn(spec, wanted, full=full)
    if output is None:
        out.raw(drawing, end="")
        return
    output.write_text(drawing, encoding="utf-8")
    out.print(f"Written: {output}", markup=False)


def _by_ending(output: Path | None) -> str:
    ending = output.suffix.lower() if output else ""
    if ending and ending not in _SUFFIXES:
        raise CommandError(
            f"'{ending}' is not a format of pictures. Use one of {', '.join(_SUFFIXES)}, or "
            f"give --format.",
            exit_code=2,
        )
    return _SUFFIXES.get(ending, "mermaid")


def drawn(spec: JourneySpec, style: str, *, full: bool = False) -> str:
    """Draw the pathway map; `full`: with all fields of long forms."""
    if not spec.pathways:
        raise CommandError(f"{spec.why_abstract} There is nothing to draw.")
    return _DRAWN[style](spec, full=full)


def drawn_pipeline(found: FoundPipeline, style: str, *, graph: bool = False) -> str:
    """Draw the agents of a pipeline and the edges between them.

    Args:
        graph: True to draw the compiled LangGraph graph instead.
    """
    if graph:
        _only_mermaid(style)
        return str(compiled(found.pipeline).draw_mermaid())
    return _DRAWN_PIPELINE[style](chart(found.pipeline, found.purpose))


def _only_mermaid(style: str) -> None:
    if style != "mermaid":
        raise CommandError("--graph writes only Mermaid.", exit_code=2)


def _compiled(found: FoundJourney, style: str) -> str:
    _only_mermaid(style)
    try:
        graph = found.journey.compile(
            agents=found.agents, tools=found.checked_tools(), model=found.model
        )
    except AgentNotRegisteredError as error:
        raise found.without_agents(error) from None
    return str(graph.get_graph(xray=True).draw_mermaid())
