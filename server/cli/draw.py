"""`journeygraph draw`: the picture of a journey."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graphs.drawing import mermaid, svg, terminal
from journeys import AgentNotRegisteredError, JourneySpec
from server.cli.edge import CommandError
from server.cli.finding import NAMES, Found, find
from server.cli.rendering import out


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


def draw(
    journey: Annotated[str, typer.Argument(help=NAMES, show_default=False)],
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
    """Draw what leads where in a journey: pathways, transitions, detours, its end.

    No network is used. The SVG opens in any browser; GitHub shows the Mermaid text as a picture.
    """
    wanted = style or _by_ending(output)
    found = find(journey)
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
        raise CommandError(f"{spec.name} is abstract: it has no pathways that could be drawn.")
    return _DRAWN[style](spec)


def _compiled(found: Found, style: Format) -> str:
    if style is not Format.MERMAID:
        raise CommandError("--graph is drawn as Mermaid only.", exit_code=2)
    try:
        graph = found.journey.compile(agents=found.agents)
    except AgentNotRegisteredError as error:
        raise found.without_agents(error) from None
    return str(graph.get_graph(xray=True).draw_mermaid())
