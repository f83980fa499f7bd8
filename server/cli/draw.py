"""`journeygraph draw`: the picture of a journey, or of a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graphs.drawing import mermaid, pipelines, svg, terminal
from graphs.drawing.pipelines import Chart, chart, compiled
from journeys import AgentNotRegisteredError, JourneySpec
from server.cli.edge import CommandError
from server.cli.finding import Found, find
from server.cli.pipelines import FoundPipeline, pipeline_meant
from server.cli.rendering import out
from server.cli.targets import TARGETS


class Format(StrEnum):
    """What a picture is written as."""

    MERMAID = "mermaid"
    SVG = "svg"
    TEXT = "text"


_DRAWN: dict[Format, Callable[[JourneySpec], str]] = {
    Format.MERMAID: mermaid.mermaid,
    Format.SVG: svg.svg,
    Format.TEXT: terminal.text,
}
_SUFFIXES = {
    ".svg": Format.SVG,
    ".txt": Format.TEXT,
    ".mmd": Format.MERMAID,
    ".mermaid": Format.MERMAID,
}


_DRAWN_PIPELINE: dict[Format, Callable[[Chart], str]] = {
    Format.MERMAID: pipelines.mermaid,
    Format.SVG: pipelines.svg,
    Format.TEXT: pipelines.text,
}


def draw(
    target: Annotated[
        str, typer.Argument(metavar="JOURNEY|PIPELINE", help=TARGETS, show_default=False)
    ],
    style: Annotated[
        Format | None,
        typer.Option(
            "--format", "-f", help="Default: by the ending of --output (.svg, .txt, .mmd)."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of the terminal."),
    ] = None,
    graph: Annotated[
        bool,
        typer.Option("--graph", help="Draw the compiled LangGraph graph instead (Mermaid)."),
    ] = False,
) -> None:
    """Draw what leads where: the pathways of a journey, or the agents of a pipeline.

    No network is used. The SVG opens in any browser; GitHub shows the Mermaid text as a picture.
    """
    wanted = style or _by_ending(output)
    if pipeline := pipeline_meant(target):
        drawing = drawn_pipeline(pipeline, wanted, graph=graph)
    else:
        found = find(target)
        drawing = _compiled(found, wanted) if graph else drawn(found.journey.spec, wanted)
    if output is None:
        out.print(drawing, end="", markup=False, soft_wrap=True)
        return
    output.write_text(drawing, encoding="utf-8")
    out.print(f"Written: {output}", markup=False, soft_wrap=True)


def _by_ending(output: Path | None) -> Format:
    ending = output.suffix.lower() if output else ""
    if ending and ending not in _SUFFIXES:
        raise CommandError(
            f"A picture cannot be written as '{ending}'. Endings: {', '.join(_SUFFIXES)}; "
            "or say which with --format.",
            exit_code=2,
        )
    return _SUFFIXES.get(ending, Format.MERMAID)


def drawn(spec: JourneySpec, style: Format) -> str:
    """Draw the pathway map.

    Raises:
        CommandError: The journey has no pathways.
    """
    if not spec.pathways:
        raise CommandError(f"{spec.why_abstract} There is nothing to draw.")
    return _DRAWN[style](spec)


def drawn_pipeline(found: FoundPipeline, style: Format, *, graph: bool = False) -> str:
    """Draw who works in a pipeline, and what leads from one to the other.

    Args:
        found: The pipeline.
        style: How.
        graph: Whether to draw the compiled LangGraph graph as it is.
    """
    if graph:
        _only_mermaid(style)
        return str(compiled(found.pipeline).draw_mermaid())
    return _DRAWN_PIPELINE[style](chart(found.pipeline, found.purpose))


def _only_mermaid(style: Format) -> None:
    if style is not Format.MERMAID:
        raise CommandError("--graph is drawn as Mermaid only.", exit_code=2)


def _compiled(found: Found, style: Format) -> str:
    _only_mermaid(style)
    try:
        graph = found.journey.compile(
            agents=found.agents, tools=found.checked_tools(), model=found.model
        )
    except AgentNotRegisteredError as error:
        raise found.without_agents(error) from None
    return str(graph.get_graph(xray=True).draw_mermaid())
