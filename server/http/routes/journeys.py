"""Routes of journeys and their drawings."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response

from graphs.drawing.mermaid import mermaid
from graphs.drawing.svg import svg
from journeys import JourneySpec
from server.http.deps import KnownJourney, UpToDate
from server.http.routing import ApiRoute, accept_of, preferred
from server.http.schemas.journeys import (
    Graph,
    GraphEdge,
    GraphNode,
    JourneyDetail,
    Journeys,
    JourneySummary,
)

router = APIRouter(prefix="/v1/journeys", tags=["journeys"], route_class=ApiRoute)
_FORMATS = {"text/plain": "mermaid", "image/svg+xml": "svg", "application/json": "json"}


@router.get("")
async def listed(wiring: UpToDate) -> Journeys:
    """List the journeys of this server."""
    specs = (served.journey.spec for served in wiring.journeys.values())
    return Journeys(journeys=[JourneySummary.of(spec) for spec in specs])


@router.get("/{journey_id}")
async def shown(spec: KnownJourney) -> JourneyDetail:
    """Show a journey: its pathways and transitions."""
    return JourneyDetail.of(spec)


@router.get(
    "/{journey_id}/graph",
    response_model=Graph,
    responses={
        200: {
            "description": "The pathway map, by `format` or by the Accept header.",
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                "image/svg+xml": {"schema": {"type": "string"}},
            },
        }
    },
)
async def drawn(
    spec: KnownJourney,
    request: Request,
    format: Literal["mermaid", "svg", "json"] | None = None,
) -> Response | Graph:
    """Draw pathways and transitions: Mermaid text, SVG, or nodes and edges as JSON."""
    wanted = format or _FORMATS[preferred(accept_of(request.scope), [*_FORMATS])]
    if wanted == "json":
        return _as_json(spec)
    if wanted == "svg":
        return Response(svg(spec), media_type="image/svg+xml")
    return Response(mermaid(spec), media_type="text/plain")


def _as_json(spec: JourneySpec) -> Graph:
    nodes = [
        GraphNode(pathway_id=pathway.id, agents=list(pathway.agents), is_detour=pathway.is_detour)
        for pathway in spec.pathways.values()
    ]
    nexts = [
        GraphEdge(from_pathway=pathway.id, to_pathway=pathway.next, kind="next", label="")
        for pathway in spec.pathways.values()
        if pathway.next
    ]
    moves = [
        GraphEdge(from_pathway=source, to_pathway=move.target, kind="transition", label=move.label)
        for move in spec.transitions
        for source in move.sources
    ]
    return Graph(entry_pathway=spec.entry, nodes=nodes, edges=[*nexts, *moves])
