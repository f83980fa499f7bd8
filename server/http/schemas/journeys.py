"""HTTP models of journeys; the OpenAPI description is made from these."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, Field

from journeys import JourneySpec


class JourneySummary(BaseModel):
    """A journey in a list."""

    journey_id: str
    name: str
    purpose: str
    version: str
    entry_pathway: str

    @classmethod
    def of(cls, spec: JourneySpec) -> Self:
        """Return the model of a listed journey."""
        return cls(
            journey_id=spec.id,
            name=spec.name,
            purpose=spec.purpose,
            version=spec.version,
            entry_pathway=spec.entry,
        )


class Journeys(BaseModel):
    """The journeys of this server."""

    journeys: list[JourneySummary]


class PathwayDetail(BaseModel):
    """A pathway of a journey."""

    pathway_id: str
    purpose: str
    agents: list[str]
    accumulates: list[str]
    next: str | None
    is_detour: bool


class TransitionDetail(BaseModel):
    """A transition of a journey."""

    trigger: str
    from_pathways: list[str] = Field(description="['*']: from anywhere.")
    to_pathway: str
    priority: int


class JourneyDetail(JourneySummary):
    """A journey with its pathways and transitions."""

    sensitive: bool
    pathways: list[PathwayDetail]
    transitions: list[TransitionDetail]

    @classmethod
    def of(cls, spec: JourneySpec) -> Self:
        """Return the model of a journey."""
        pathways = [
            PathwayDetail(
                pathway_id=pathway.id,
                purpose=pathway.purpose,
                agents=list(pathway.agents),
                accumulates=list(pathway.accumulate),
                next=pathway.next,
                is_detour=pathway.is_detour,
            )
            for pathway in spec.pathways.values()
        ]
        transitions = [
            TransitionDetail(
                trigger=transition.label,
                from_pathways=list(transition.sources),
                to_pathway=transition.target,
                priority=transition.priority,
            )
            for transition in spec.transitions
        ]
        return cls(
            **JourneySummary.of(spec).model_dump(),
            sensitive=spec.sensitive,
            pathways=pathways,
            transitions=transitions,
        )


class GraphNode(BaseModel):
    """A pathway on the map."""

    pathway_id: str
    agents: list[str]
    is_detour: bool = Field(description="A detour: it returns to the pathway that it paused.")


class GraphEdge(BaseModel):
    """An edge from one pathway to another."""

    from_pathway: str = Field(description="'*': from anywhere.")
    to_pathway: str
    kind: Literal["next", "transition"]
    label: str


class Graph(BaseModel):
    """The pathway map: nodes and edges."""

    entry_pathway: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]
