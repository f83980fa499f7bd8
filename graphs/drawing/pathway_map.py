"""A journey as nodes and edges, to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import (
    NEVER,
    AlwaysTrigger,
    ConditionTrigger,
    IntentTrigger,
    ReturnToSpecific,
)
from journeygraph.journeys.spec.spec import CANCEL

if TYPE_CHECKING:
    from journeygraph.journeys.declarations.escalation import Escalation
    from journeygraph.journeys.declarations.fields import Field
    from journeygraph.journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec

ANYWHERE = "*"
PERSON = "a person"
NOT_ASKED, SENSITIVE = "if given", "sensitive"
_JOINTS = {"sequential": " → ", "parallel": " + "}
_PATTERNS_SHOWN = 3
_SOURCES_SHOWN = 3
_FIELDS_SHOWN = 8
_FIELDS_SHOWN_OF_MANY = 3
_MANY_PATHWAYS = 60
_CHOICES_SHOWN = 24
"""Most characters of choices that are shown instead of their number."""


@dataclass(frozen=True)
class FieldLine:
    """A field of a form in a drawing.

    Attributes:
        title: Its name for users.
        kind: Its type in words.
        when: Its condition in words; empty if it always counts.
        notes: Further facts in words, such as "sensitive".
    """

    name: str
    title: str
    kind: str
    is_required: bool = True
    when: str = ""
    notes: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """Return its type, and whether it is sensitive or never asked for."""
        notes = [note for note in (SENSITIVE, NOT_ASKED) if note in self.notes]
        return ", ".join([self.kind, *notes])

    @property
    def words(self) -> str:
        """Return its type, and all that is special about it."""
        when = [f"only {self.when}"] if self.when else []
        optional = [] if self.is_required or NOT_ASKED in self.notes else ["optional"]
        return ", ".join([self.kind, *optional, *self.notes, *when])


@dataclass(frozen=True)
class EffectLine:
    """An effect in a drawing: its tool, and the pathway that changes it."""

    tool: str
    change: str = ""

    @property
    def words(self) -> str:
        """Return the tool, and the pathway that changes its result."""
        return f"{self.tool} (changed by {self.change})" if self.change else self.tool


@dataclass(frozen=True)
class Handover:
    """A call for a person, by the policies of a journey.

    Attributes:
        source: The pathways in which it applies, in words.
        sources: Their ids; "*" for all.
    """

    source: str
    sources: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Node:
    """A pathway in a drawing.

    Attributes:
        ends: True if the journey ends when this pathway is complete.
        returns: For a detour, its return target in words; otherwise empty.
        mark: "here" or "paused" for the pathways of a session; otherwise empty.
        journey: Id of its journey in a concierge; otherwise empty.
        until: Names of the context that complete it, besides its fields and effects.
        more: The number of further fields, which are left out.
        handover: The reason for which its form calls a person, in words; otherwise empty.
    """

    id: str
    agents: tuple[str, ...] = ()
    pattern: str = "sequential"
    ends: bool = False
    returns: str = ""
    is_detour: bool = False
    mark: str = ""
    journey: str = ""
    calls: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    fields: tuple[FieldLine, ...] = ()
    more: int = 0
    confirms: tuple[str, ...] = ()
    effects: tuple[EffectLine, ...] = ()
    handover: str = ""

    @property
    def work(self) -> str:
        """The agents on one line: an arrow between those in a row, a plus between parallel ones.

        Any other pattern is named before them.
        """
        if self.pattern in _JOINTS or len(self.agents) < 2:
            return _JOINTS.get(self.pattern, "").join(self.agents)
        return f"{self.pattern}: {', '.join(self.agents)}"

    @property
    def inside(self) -> tuple[str, ...]:
        """Its work, line by line: its agents, the tools that it calls, and its end."""
        calls = f"calls {', '.join(self.calls)}" if self.calls else ""
        until = f"until {', '.join(self.until)}" if self.until else ""
        return tuple(line for line in (self.work, calls, until) if line)

    def form_rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield its fields as text: a full dot if it is required, else an empty one; name; type."""
        for one in self.fields:
            when = f", {one.when}" if one.when else ""
            yield "●" if one.is_required else "○", one.title, one.short + when

    def step_rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rest of its form as text: a sign, and the words."""
        if self.more:
            yield "+", f"{self.more} more"
        yield from (("✓", words) for words in self.confirms)
        yield from (("⇒", effect.words) for effect in self.effects)
        if self.handover:
            yield "☎", f"{PERSON} {self.handover}"

    @property
    def about(self) -> str:
        """Everything about it in sentences, for readers who cannot see the drawing."""
        more = [f"{self.more} more"] if self.more else []
        fields = [f"{one.title} ({one.words})" for one in self.fields]
        parts = {
            "Agents": self.work,
            "Calls": ", ".join(self.calls),
            "Complete with": ", ".join(self.until),
            "Collects": ", ".join([*fields, *more]),
            "Confirmed by the user": ", ".join(self.confirms),
            "Effects": ", ".join(effect.words for effect in self.effects),
            "Calls a person": self.handover,
            "Then": self.returns or ("end" if self.ends else ""),
        }
        kind = "Detour" if self.is_detour else "Pathway"
        known = [f"{name}: {words}." for name, words in parts.items() if words]
        return " ".join([f"{kind} {self.id}.", *known])


@dataclass(frozen=True)
class Label:
    """The label of a transition: its trigger, its patterns, its priority.

    `trigger` is its name in the audit.
    """

    what: str
    patterns: str = ""
    priority: int = 0
    trigger: str = ""

    @property
    def words(self) -> str:
        """Return the trigger and its patterns."""
        return ": ".join(part for part in (self.what, self.patterns) if part)


@dataclass(frozen=True)
class Edge:
    """An arrow from one pathway, or from a group of pathways, to another.

    Attributes:
        source: A pathway id, or the words for a group ("any pathway").
        labels: One for each transition; empty for `__next__`.
        crowd: True if `source` is the words for a group.
        sources: The ids of a group; "*" for any pathway.
    """

    source: str
    target: str
    labels: tuple[Label, ...] = ()
    crowd: bool = False
    sources: tuple[str, ...] = ()

    @property
    def ends_at(self) -> str:
        """Its source, or several joined by commas, and its target: the `data-edge` of a drawing."""
        return f"{','.join(self.sources) or self.source} {self.target}"

    @property
    def about(self) -> str:
        """The move in words, for readers who cannot see the drawing."""
        labels = "; ".join(label.words for label in self.labels)
        return f"From {self.source} to {self.target}: {labels or 'next, when complete'}."


@dataclass(frozen=True)
class Diagram:
    """All that a drawing shows, in the order of declaration."""

    name: str
    purpose: str
    entry: str
    stops: dict[str, Node] = field(default_factory=dict)
    moves: tuple[Edge, ...] = ()
    handovers: tuple[Handover, ...] = ()

    @property
    def detours(self) -> list[Node]:
        """The pathways that return."""
        return [stop for stop in self.stops.values() if stop.is_detour]

    def into(self, target: str) -> list[Edge]:
        """Return the moves that lead to a pathway."""
        return [move for move in self.moves if move.target == target]

    def out_of(self, source: str) -> list[Edge]:
        """Return the moves from one pathway, without those from a group."""
        return [move for move in self.moves if move.source == source and not move.crowd]


def sketch(
    spec: JourneySpec,
    here: str = "",
    paused: Sequence[str] = (),
    *,
    full: bool = False,
) -> Diagram:
    """Reduce a spec to the drawn elements, with only the moves that can happen.

    Args:
        paused: Those on its stack.
        full: True: all fields of a long form, instead of the first ones.
    """
    marks = {**dict.fromkeys(paused, "paused"), here: "here"}
    few = _FIELDS_SHOWN_OF_MANY if len(spec.pathways) > _MANY_PATHWAYS else _FIELDS_SHOWN
    most = None if full else few
    stops = (_stop(pathway, spec, most) for pathway in spec.pathways.values())
    return Diagram(
        name=spec.name,
        purpose=spec.purpose,
        entry=spec.entry,
        stops={stop.id: replace(stop, mark=marks.get(stop.id, "")) for stop in stops},
        moves=(*_nexts(spec), *_joined(_transitions(spec))),
        handovers=tuple(_handovers(spec)),
    )


def _stop(pathway: PathwaySpec, spec: JourneySpec, most: int | None) -> Node:
    never = pathway.complete_when is NEVER or pathway.id not in spec.reachable
    fields = pathway.form.fields if pathway.form else ()
    # One line for a single further field takes the place of that field.
    shown = fields if most is None or len(fields) <= most + 1 else fields[:most]
    return Node(
        id=pathway.id,
        agents=tuple(pathway.pipeline.members) if pathway.pipeline else (),
        pattern=pathway.pipeline.pattern if pathway.pipeline else "sequential",
        ends=not (never or pathway.next or pathway.returns),
        returns="" if never else _return_words(pathway),
        is_detour=pathway.is_detour,
        journey=pathway.journey,
        calls=tuple(call.tool for call in pathway.calls),
        until=_until(pathway),
        fields=tuple(_asked(one, spec) for one in shown),
        more=len(fields) - len(shown),
        confirms=tuple(_confirms(pathway)),
        effects=tuple(EffectLine(effect.tool, effect.change) for effect in pathway.effects),
        handover=_refusals(fields, spec.part_of(pathway.id).escalation or spec.escalation),
    )


def _until(pathway: PathwaySpec) -> tuple[str, ...]:
    """Return the names that complete a pathway, without what its form and its effects write."""
    written = {field.name for field in pathway.form.fields} if pathway.form else set()
    written |= {effect.save or effect.tool for effect in pathway.effects}
    return tuple(name for name in pathway.awaited if name not in written)


def _asked(one: Field, spec: JourneySpec) -> FieldLine:
    facts = {
        NOT_ASKED: not one.asked,
        SENSITIVE: one.sensitive,
        "read back": one.confirm,
    }
    return FieldLine(
        name=one.name,
        title=one.title.strip() or one.name,
        kind=_kind(one),
        is_required=one.required,
        when=_when(one.when, spec) if one.when else "",
        notes=tuple(words for words, holds in facts.items() if holds),
    )


def _kind(one: Field) -> str:
    kind = one.items if one.type == "list" else one.type
    choices = " | ".join(one.ways)
    if kind == "enum":
        short = 0 < len(choices) <= _CHOICES_SHOWN
        kind = choices if short else f"one of {len(one.ways)}" if choices else "choice"
    elif kind == "money" and one.currency:
        kind = one.currency
    kind = kind.replace("_", " ") if kind == "full_name" else kind
    return f"list of {kind}" if one.type == "list" else kind


def _when(condition: Callable[..., Any], spec: JourneySpec) -> str:
    """Return a condition in words: its expression, its name, or the values that it reads."""
    name = getattr(condition, "__name__", "")
    if name and name != "<lambda>":
        return f"if {_plain(name)}"
    code = getattr(condition, "__code__", None)
    read = [one for one in code.co_consts if isinstance(one, str)] if code else []
    fields = {f.name: f.title for p in spec.pathways.values() if p.form for f in p.form.fields}
    known = dict.fromkeys(fields[one] for one in read if one in fields)
    return f"depending on {', '.join(known)}" if known else "in some cases"


def _plain(name: str) -> str:
    return name.replace("_", " ") if name.isidentifier() else name


def _confirms(pathway: PathwaySpec) -> Iterator[str]:
    if pathway.form is None:
        return
    if read_back := [field.title for field in pathway.form.fields if field.confirm]:
        yield f"reads back {', '.join(read_back)}"
    if pathway.form.confirm_corrections:
        yield "confirms corrections"


def _refusals(fields: Sequence[Field], policy: Escalation | None) -> str:
    """Return the number of refused values after which a form calls a person; empty: never."""
    limits = sorted({field.max_attempts for field in fields if field.asked})
    if not limits or not (policy and policy.attempts_exhausted):
        return ""
    number = f"{limits[0]} to {limits[-1]}" if len(limits) > 1 else f"{limits[0]}"
    return f"after {number} refused value{'s' * (limits != [1])}"


def _handovers(spec: JourneySpec) -> Iterator[Handover]:
    for id_, part in spec.parts.items():
        if part.escalation:
            sources = tuple(p.id for p in spec.pathways.values() if p.journey == id_)
            yield Handover(f"all of {id_}", sources, tuple(_reasons(part.escalation)))
    if spec.escalation:
        yield Handover("any pathway", (ANYWHERE,), tuple(_reasons(spec.escalation)))


def _reasons(policy: Escalation) -> Iterator[str]:
    name = getattr(policy.when, "__name__", "<lambda>")
    failures = f"{policy.failures} failure{'s' * (policy.failures != 1)} in a row"
    condition = "a condition of the context" if name == "<lambda>" else f"when {_plain(name)}"
    reasons = {
        "asks for a person": policy.on_request,
        _quoted(policy.keywords): policy.keywords,
        policy.sentiment: policy.sentiment,
        "too many refused values": policy.attempts_exhausted,
        failures: policy.failures,
        condition: policy.when,
        f"after {policy.after_seconds or 0:g} seconds": policy.after_seconds,
        "all values are collected": policy.when_collected,
    }
    yield from (words for words, holds in reasons.items() if holds)


def _return_words(pathway: PathwaySpec) -> str:
    if isinstance(pathway.returns, ReturnToSpecific):
        return f"back to {pathway.returns.target_pathway}"
    return "back to where it was" if pathway.returns else ""


def _nexts(spec: JourneySpec) -> Iterable[Edge]:
    for pathway in spec.pathways.values():
        never = pathway.complete_when is NEVER or pathway.id not in spec.reachable
        if pathway.next and not never:
            yield Edge(pathway.id, pathway.next)


def _transitions(spec: JourneySpec) -> Iterable[Edge]:
    for transition in spec.transitions:
        label, target = _label(transition), transition.target
        label = replace(label, trigger=transition.label)
        sources = tuple(source for source in transition.sources if source in spec.reachable)
        crowd = _crowd(spec, transition, sources)
        if not crowd and len(sources) > _SOURCES_SHOWN:
            crowd = ", ".join(sources)
        if crowd:
            named = (ANYWHERE,) if ANYWHERE in transition.sources else sources
            yield Edge(crowd, target, (label,), crowd=True, sources=named)
        else:
            yield from (Edge(source, target, (label,)) for source in sources)


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


def _joined(moves: Iterable[Edge]) -> list[Edge]:
    arrows: dict[tuple[str, str], Edge] = {}
    for move in moves:
        ends = (move.source, move.target)
        before = arrows[ends].labels if ends in arrows else ()
        labels = tuple(dict.fromkeys(before + move.labels))
        arrows[ends] = replace(move, labels=labels)
    return list(arrows.values())


def _label(transition: TransitionSpec) -> Label:
    trigger, priority = transition.trigger, transition.priority
    if isinstance(trigger, IntentTrigger):
        return Label(trigger.description, _quoted(trigger.patterns), priority)
    if isinstance(trigger, AlwaysTrigger):
        return Label("otherwise", priority=priority)
    when = "when " if isinstance(trigger, ConditionTrigger) else ""
    return Label(when + trigger.label, priority=priority)


def _quoted(phrases: Sequence[str]) -> str:
    shown = ", ".join(f"“{phrase}”" for phrase in phrases[:_PATTERNS_SHOWN])
    return f"{shown}, …" if len(phrases) > _PATTERNS_SHOWN else shown
