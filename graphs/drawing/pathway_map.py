"""A journey as nodes and edges, to be drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from journeys import NEVER, AlwaysTrigger, ConditionTrigger, IntentTrigger, ReturnToSpecific
from journeys.spec.spec import CANCEL

if TYPE_CHECKING:
    from journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec

ANYWHERE = "*"
_JOINTS = {"sequential": " → ", "parallel": " + "}
_PATTERNS_SHOWN = 3
_SOURCES_SHOWN = 3


@dataclass(frozen=True)
class Stop:
    """A pathway in a drawing.

    Attributes:
        id: The pathway's id.
        agents: Names of its agents, in order.
        pattern: The pattern in which they work together.
        ends: True if the journey ends when this pathway is complete.
        returns: For a detour, its return target in words; otherwise empty.
        is_detour: True if it is drawn in the detours' lane.
        mark: "here" or "paused" for the pathways of a session, "used" or "missed" in a picture of
            what conversations used; otherwise empty.
        journey: Id of its journey in a concierge; otherwise empty.
    """

    id: str
    agents: tuple[str, ...] = ()
    pattern: str = "sequential"
    ends: bool = False
    returns: str = ""
    is_detour: bool = False
    mark: str = ""
    journey: str = ""

    @property
    def work(self) -> str:
        """The agents on one line: an arrow between those in a row, a plus between parallel ones.

        Any other pattern is named before them.
        """
        if self.pattern in _JOINTS or len(self.agents) < 2:
            return _JOINTS.get(self.pattern, "").join(self.agents)
        return f"{self.pattern}: {', '.join(self.agents)}"


@dataclass(frozen=True)
class Label:
    """The label of a transition: its trigger, its patterns, its priority; `mark` as of a stop."""

    what: str
    patterns: str = ""
    priority: int = 0
    mark: str = ""


@dataclass(frozen=True)
class Move:
    """An arrow from one pathway, or from a group of pathways, to another.

    Attributes:
        source: A pathway id, or the words for a group ("any pathway").
        target: A pathway id.
        labels: One for each transition; empty for `__next__`.
        crowd: True if `source` is the words for a group.
        mark: As of a stop, for `__next__`.
    """

    source: str
    target: str
    labels: tuple[Label, ...] = ()
    crowd: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Sketch:
    """All that a drawing shows, in the order of declaration."""

    name: str
    purpose: str
    entry: str
    stops: dict[str, Stop] = field(default_factory=dict)
    moves: tuple[Move, ...] = ()

    @property
    def detours(self) -> list[Stop]:
        """The pathways that return."""
        return [stop for stop in self.stops.values() if stop.is_detour]

    def into(self, target: str) -> list[Move]:
        """Return the moves that lead to a pathway."""
        return [move for move in self.moves if move.target == target]

    def out_of(self, source: str) -> list[Move]:
        """Return the moves from one pathway, without those from a group."""
        return [move for move in self.moves if move.source == source and not move.crowd]


def sketch(
    spec: JourneySpec,
    here: str = "",
    paused: Sequence[str] = (),
    used: Collection[str] | None = None,
) -> Sketch:
    """Reduce a spec to the drawn elements, with only the moves that can happen.

    `here` is the current pathway of a session, `paused` those on its stack. `used` are the ids of
    pathways and transitions, and the moves by `__next__` as `a → b`, that conversations used.
    """
    marks = {**dict.fromkeys(paused, "paused"), here: "here"}
    if used is not None:
        marks = {id_: _use(id_, used) for id_ in spec.pathways}
    stops = (_stop(pathway, spec) for pathway in spec.pathways.values())
    return Sketch(
        name=spec.name,
        purpose=spec.purpose,
        entry=spec.entry,
        stops={stop.id: replace(stop, mark=marks.get(stop.id, "")) for stop in stops},
        moves=(*_nexts(spec, used), *_joined(_transitions(spec, used))),
    )


def _stop(pathway: PathwaySpec, spec: JourneySpec) -> Stop:
    never = pathway.complete_when is NEVER or pathway.id not in spec.reachable
    return Stop(
        id=pathway.id,
        agents=tuple(pathway.pipeline.members) if pathway.pipeline else (),
        pattern=pathway.pipeline.pattern if pathway.pipeline else "sequential",
        ends=not (never or pathway.next or pathway.returns),
        returns="" if never else _return_words(pathway),
        is_detour=pathway.is_detour,
        journey=pathway.journey,
    )


def _return_words(pathway: PathwaySpec) -> str:
    if isinstance(pathway.returns, ReturnToSpecific):
        return f"back to {pathway.returns.target_pathway}"
    return "back to where it was" if pathway.returns else ""


def _use(name: str, used: Collection[str] | None) -> str:
    return "" if used is None else "used" if name in used else "missed"


def _nexts(spec: JourneySpec, used: Collection[str] | None) -> Iterable[Move]:
    for pathway in spec.pathways.values():
        never = pathway.complete_when is NEVER or pathway.id not in spec.reachable
        if pathway.next and not never:
            mark = _use(f"{pathway.id} → {pathway.next}", used)
            yield Move(pathway.id, pathway.next, mark=mark)


def _transitions(spec: JourneySpec, used: Collection[str] | None) -> Iterable[Move]:
    for transition in spec.transitions:
        label, target = _label(transition), transition.target
        label = replace(label, mark=_use(transition.id, used))
        sources = [source for source in transition.sources if source in spec.reachable]
        if crowd := _crowd(spec, transition, sources):
            yield Move(crowd, target, (label,), crowd=True)
        elif len(sources) > _SOURCES_SHOWN:
            yield Move(", ".join(sources), target, (label,), crowd=True)
        else:
            yield from (Move(source, target, (label,)) for source in sources)


def _crowd(spec: JourneySpec, transition: TransitionSpec, sources: Sequence[str]) -> str:
    """Return the words for the sources of a transition from several pathways, or ""."""
    if ANYWHERE in transition.sources:
        return "any pathway"
    if transition.kind == CANCEL:
        return "any journey"
    journeys = {spec.pathways[source].journey for source in sources}
    everywhere = [id_ for id_ in spec.reachable if spec.pathways[id_].journey in journeys]
    in_one = len(journeys) == 1 and "" not in journeys and len(sources) > 1
    return f"all of {journeys.pop()}" if in_one and len(everywhere) == len(sources) else ""


def _joined(moves: Iterable[Move]) -> list[Move]:
    """Merge the transitions between the same two ends into one arrow."""
    arrows: dict[tuple[str, str], Move] = {}
    for move in moves:
        ends = (move.source, move.target)
        before = arrows[ends].labels if ends in arrows else ()
        labels = tuple(dict.fromkeys(before + move.labels))
        arrows[ends] = Move(move.source, move.target, labels, move.crowd)
    return list(arrows.values())


def _label(transition: TransitionSpec) -> Label:
    trigger, priority = transition.trigger, transition.priority
    if isinstance(trigger, IntentTrigger):
        return Label(trigger.description, _patterns(trigger), priority)
    if isinstance(trigger, AlwaysTrigger):
        return Label("otherwise", priority=priority)
    when = "when " if isinstance(trigger, ConditionTrigger) else ""
    return Label(when + trigger.label, priority=priority)


def _patterns(trigger: IntentTrigger) -> str:
    shown = ", ".join(f"“{pattern}”" for pattern in trigger.patterns[:_PATTERNS_SHOWN])
    return f"{shown}, …" if len(trigger.patterns) > _PATTERNS_SHOWN else shown
