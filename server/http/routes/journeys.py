"""Routes of journeys and their drawings, and their models."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from journeygraph.graphs.drawing import pipelines
from journeygraph.graphs.drawing.mermaid import mermaid
from journeygraph.graphs.drawing.pathway_map import sketch
from journeygraph.graphs.drawing.pipelines import chart
from journeygraph.graphs.drawing.svg import svg
from journeygraph.journeys import JourneySpec
from journeygraph.journeys.locale import NOWHERE, Locale, in_force
from journeygraph.nodes.forms.openings import openings_of
from journeygraph.nodes.json_data import now
from journeygraph.nodes.services import setting_at
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.deps import JourneyVersion, UpToDate, known_version
from journeygraph.server.http.problems import Problem
from journeygraph.server.http.routing import ApiRoute, accept_of, preferred


class _OfSpec(BaseModel):
    """A part of a journey, as its spec has it."""

    model_config = ConfigDict(from_attributes=True, validate_by_name=True)


class JourneySummary(_OfSpec):
    """A journey in a list."""

    journey_id: str = Field(validation_alias="id")
    name: str
    purpose: str
    version: str
    entry_pathway: str = Field(validation_alias="entry")


class JourneyListed(JourneySummary):
    """A journey with its served versions, and the sample context of its module."""

    versions: list[str] = Field(
        default=[],
        description="The served versions, first the one in which new sessions begin. A session "
        "continues in its own.",
    )
    sample_context: dict[str, Any] = Field(
        default={}, description="`SAMPLE_CONTEXT` of its module; empty if it has none."
    )


class Journeys(BaseModel):
    """The journeys of this server."""

    journeys: list[JourneyListed]


class PathwayDetail(_OfSpec):
    """A pathway of a journey."""

    pathway_id: str = Field(validation_alias="id")
    purpose: str
    agents: list[str]
    accumulates: Annotated[list[str], BeforeValidator(list)] = Field(validation_alias="accumulate")
    next: str | None
    is_detour: bool


class TransitionDetail(_OfSpec):
    """A transition of a journey."""

    trigger: str = Field(validation_alias="label")
    from_pathways: list[str] = Field(
        description="['*']: from anywhere.", validation_alias="sources"
    )
    to_pathway: str = Field(validation_alias="target")
    priority: int


def _values(parts: Mapping[str, Any]) -> list[Any]:
    return list(parts.values())


class JourneyDetail(JourneySummary):
    """A journey with its pathways and transitions."""

    sensitive: bool
    pathways: Annotated[list[PathwayDetail], BeforeValidator(_values)]
    transitions: list[TransitionDetail]
    examples: list[str] = Field(
        default=[],
        description="Sentences that a user can begin with, from its patterns and first fields.",
    )


def _detail(spec: JourneySpec, locale: Locale) -> JourneyDetail:
    detail = JourneyDetail.model_validate(spec)
    detail.examples = openings_of(spec, setting_at(now(), in_force(spec.locale, NOWHERE, locale)))
    return detail


class GraphField(_OfSpec):
    """A field of a form."""

    name: str
    title: str = Field(description="Its name for users.")
    kind: str = Field(description="Its type in words.")
    is_required: bool
    when: str = Field(description="Its condition in words; empty: it always counts.")
    notes: list[str] = Field(description="Further facts in words, such as 'sensitive'.")


class GraphEffect(_OfSpec):
    """An effect of a pathway."""

    tool: str
    change: str = Field(description="The pathway that changes its result; empty: none.")


class GraphNode(_OfSpec):
    """A pathway on the map."""

    pathway_id: str = Field(validation_alias="id")
    agents: list[str] = []
    is_detour: bool = Field(description="A detour: it returns to the pathway that it paused.")
    calls: list[str] = Field(description="Tools that are called before its agents.")
    fields: list[GraphField]
    effects: list[GraphEffect]
    confirms: list[str] = Field(description="Confirmations by the user, in words.")
    about: str = Field(description="All of it in words, for readers who cannot see the drawing.")


class GraphEdge(BaseModel):
    """An edge from one pathway to another."""

    from_pathway: str = Field(description="'*': from anywhere.")
    to_pathway: str
    kind: Literal["next", "transition"]
    label: str


class GraphHandover(_OfSpec):
    """A call for a person."""

    sources: list[str] = Field(description="The pathways in which it applies; ['*']: all.")
    reasons: list[str] = Field(description="Its reasons, in words.")


class Graph(BaseModel):
    """The pathway map: nodes and edges."""

    entry_pathway: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    handovers: list[GraphHandover]


router = APIRouter(prefix="/v1/journeys", tags=["journeys"], route_class=ApiRoute)
_FORMATS = {"text/plain": "mermaid", "image/svg+xml": "svg", "application/json": "json"}


@router.get("")
async def listed(app_state: UpToDate) -> Journeys:
    """List the journeys of this server."""
    return Journeys(journeys=[_listed(served, app_state) for served in app_state.journeys.values()])


def _listed(served: Served, app_state: AppState) -> JourneyListed:
    listed = JourneyListed.model_validate(served.journey.spec)
    listed.versions = app_state.versions_of(listed.journey_id)
    if served.found:
        listed.sample_context = served.found.sample_context
    return listed


@router.get("/{journey_id}")
async def shown(
    journey_id: str, app_state: UpToDate, version: JourneyVersion = None
) -> JourneyDetail:
    """Show a journey: its pathways and transitions, and sentences to begin with."""
    spec = (await known_version(app_state, journey_id, version)).journey.spec
    # In a thread: the examples of a phone number load a library.
    return await asyncio.to_thread(_detail, spec, app_state.config.locale)


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
    journey_id: str,
    app_state: UpToDate,
    request: Request,
    version: JourneyVersion = None,
    format: Literal["mermaid", "svg", "json"] | None = None,
    full: Annotated[
        bool, Query(description="Draw all fields of long forms; JSON always has all.")
    ] = False,
    pathway: Annotated[
        str | None, Query(description="Draw the agents of this pathway instead; not as JSON.")
    ] = None,
) -> Response | Graph:
    """Draw pathways and transitions: Mermaid text, SVG, or nodes and edges as JSON."""
    spec = (await known_version(app_state, journey_id, version)).journey.spec
    wanted = format or _FORMATS[preferred(accept_of(request.scope), [*_FORMATS])]
    if pathway is not None:
        return await _agents(spec, pathway, wanted)
    if wanted == "json":
        return _as_json(spec)
    if wanted == "svg":
        drawing = await asyncio.to_thread(svg, spec, full=full)
        return Response(drawing, media_type="image/svg+xml")
    return Response(mermaid(spec, full=full), media_type="text/plain")


async def _agents(spec: JourneySpec, pathway_id: str, wanted: str) -> Response:
    known = spec.pathways.get(pathway_id)
    if known is None or known.pipeline is None:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "pathway_not_found",
            "The journey has no pathway with this id and with agents. GET .../graph?format=json "
            "lists them.",
        )
    drawn = await asyncio.to_thread(chart, known.pipeline, known.purpose)
    if wanted == "svg":
        return Response(pipelines.svg(drawn), media_type="image/svg+xml")
    return Response(pipelines.mermaid(drawn), media_type="text/plain")


def _as_json(spec: JourneySpec) -> Graph:
    drawn = sketch(spec, full=True)
    nodes = [GraphNode.model_validate(stop) for stop in drawn.stops.values()]
    for node in nodes:
        node.agents = list(spec.pathways[node.pathway_id].agents)
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
    handovers = [GraphHandover.model_validate(handover) for handover in drawn.handovers]
    return Graph(entry_pathway=spec.entry, nodes=nodes, edges=[*nexts, *moves], handovers=handovers)
