"""Several journeys in, one frozen spec out: that of a concierge, which begins and ends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from journeygraph.journeys.declarations.behaviors import NEVER
from journeygraph.journeys.declarations.guidelines import GuidelineSpec, Scope
from journeygraph.journeys.declarations.personality import Personality
from journeygraph.journeys.declarations.transitions import BaseTrigger, HandOver, Transition
from journeygraph.journeys.errors import JourneyDefinitionError
from journeygraph.journeys.faults import as_where
from journeygraph.journeys.locale import Locale
from journeygraph.journeys.reading.builder import joined, sources_of
from journeygraph.journeys.reading.declared import OfConcierge, validation_of
from journeygraph.journeys.reading.rule_reader import read_transitions, related
from journeygraph.journeys.spec.checks import field_faults, reference_faults
from journeygraph.journeys.spec.hashing import content_hash
from journeygraph.journeys.spec.parts import (
    RECEPTION,
    Parts,
    activations_of,
    cancel_of,
    clearing,
    everywhere_in,
    freeform_faults,
    guidelines_of,
    hand_over_faults,
    journey_faults,
    moves_of,
    named,
    never_started,
    owned,
    pathways_of,
    tool_faults,
)
from journeygraph.journeys.spec.spec import (
    HAND_OVER,
    MOVED,
    REFUSED,
    JourneySpec,
    PathwaySpec,
    TransitionSpec,
    frozen,
)
from journeygraph.journeys.texts import layered

CANCELS = "wants to give up what we are doing"
"""Description of a cancellation, for a model."""


def compose(
    id: str,
    name: str,
    purpose: str,
    journeys: Sequence[JourneySpec],
    declared: OfConcierge,
    guidelines: Sequence[GuidelineSpec] = (),
) -> JourneySpec:
    """Make one spec of several journeys, which are active one at a time.

    Pathways become `<journey>.<pathway>`, and guidelines `<journey>.<guideline>`. Agents and tools
    keep their names: the same name in two journeys is the same agent, or tool.

    Args:
        journeys: Its journeys, in the order in which they are offered.
        guidelines: Global ones: of all journeys, and of the concierge itself.
    """
    owner, hand_over, cancel = as_where(name), declared.hand_over, declared.cancel
    flow, manner = declared.flow(()), declared.manner()
    places = [owner.inner(f": hand_over[{n}]", "hand_over", n) for n in range(len(hand_over))]
    faults = [
        *journey_faults(name, journeys),
        *hand_over_faults(name, [part.id for part in journeys], hand_over),
    ]
    if faults:  # nothing can be put together of what is not there
        raise JourneyDefinitionError(faults)
    read = read_transitions(zip(places, map(_as_move, hand_over), strict=True), faults)
    spoken = [_spoken(part, **manner) for part in journeys]
    parts = {part.id: _part(part, hand_over, read, declared.model) for part in spoken}
    forgets = {id_: _forgets(part, hand_over, flow["shared"]) for id_, part in parts.items()}
    between = _between(parts, forgets, hand_over, read)
    reception = PathwaySpec(RECEPTION, str(name), purpose=purpose, complete_when=NEVER)
    inner = [p for id_, part in parts.items() for p in pathways_of(part, forgets[id_])]
    pathways = {pathway.id: pathway for pathway in [reception, *inner]}
    moves = [move for part in parts.values() for move in activations_of(part)] + between
    moves += [move for part in parts.values() for move in moves_of(part)]
    moves += _cancels(parts, forgets, cancel, moves, owner.inner(": cancel", "cancel"))
    given = [*guidelines, *(g for part in parts.values() for g in guidelines_of(part))]
    faults += reference_faults(name, RECEPTION, pathways, moves)
    rules = related(given, faults, len(given))
    faults += [*tool_faults(name, parts), *field_faults(pathways)]
    secret = [part.name for part in parts.values() if part.sensitive]
    secret = secret or [name] * declared.sensitive
    faults += freeform_faults(name, secret, declared.otherwise, declared.degrade)
    if faults:
        raise JourneyDefinitionError(faults)
    own = (declared.otherwise, cancel, tuple(between), tuple(guidelines), declared.validation)
    kept = (declared.safe_reply, declared.degrade)
    words = (manner["personality"], manner["texts"], manner["locale"])
    made_of = [*(part.version for part in parts.values()), *words]
    made_of += [declared.silence] if declared.silence else []
    sensitive = declared.sensitive
    hashed = (id, purpose, made_of, (*own, *kept), flow["shared"], declared.model, sensitive)
    everywhere = [rule for rule in rules if rule.scope is Scope.GLOBAL]
    spec = joined(
        RECEPTION,
        pathways,
        moves,
        id=id,
        name=name,
        where=owner,
        purpose=purpose,
        sensitive=sensitive or any(part.sensitive for part in parts.values()),
        version=declared.version or content_hash(*hashed),
        guidelines=rules,
        tools=frozen({name: tool for part in parts.values() for name, tool in part.tools.items()}),
        parts=frozen(parts),
        otherwise=declared.otherwise,
        migrations={old: now for p in parts.values() for old, now in p.migrations.items()},
        stranded=REFUSED if any(p.stranded == REFUSED for p in parts.values()) else MOVED,
        **{**flow, **manner, "validation": validation_of(declared.validation, everywhere)},
    )
    warnings = (*never_started(parts, between), *spec.warnings)
    return replace(spec, judged=(warnings, spec.unset))


def _spoken(
    part: JourneySpec,
    personality: Personality,
    texts: Mapping[str, Mapping[str, str]],
    locale: Locale,
) -> JourneySpec:
    """Return a journey as a part, with the manner of the concierge where it declares none."""
    manner = personality if part.personality == Personality() else part.personality
    said = layered(texts, part.texts)
    return replace(part, personality=manner, locale=part.locale.over(locale), texts=said)


def _part(
    part: JourneySpec,
    declared: Sequence[HandOver],
    read: Sequence[TransitionSpec],
    model: str | None,
) -> JourneySpec:
    """Return a journey as a part, which keeps what hand-overs out of it read."""
    out = [move for rule, move in zip(declared, read, strict=True) if rule.from_journey == part.id]
    return replace(
        part,
        kept=part.kept | sources_of(out),
        model=part.model or model,
        patterns={name: named(part.id, to) for name, to in part.patterns.items()},
        migrations={
            named(part.id, old): named(part.id, now) for old, now in part.migrations.items()
        },
    )


def _forgets(part: JourneySpec, declared: Sequence[HandOver], shared: Sequence[str]) -> list[str]:
    """Return the names that are removed when a part is left: its own, and those handed to it."""
    handed = [
        name
        for rule in declared
        if rule.to_journey == part.id and isinstance(rule.context_update, Mapping)
        for name in rule.context_update
        if name not in (*part.shared, *shared)
    ]
    return list(dict.fromkeys([*owned(part, shared), *handed]))


def _between(
    parts: Parts,
    forgets: Mapping[str, Sequence[str]],
    declared: Sequence[HandOver],
    read: Sequence[TransitionSpec],
) -> list[TransitionSpec]:
    """Return what leads from one part to another, and forgets what was the first one's."""
    return [
        replace(
            move,
            id=move.id.replace(f"{type(rule.trigger).__name__}:*->", "hand_over:"),
            sources=everywhere_in(parts[rule.from_journey]),
            target=named(rule.to_journey, parts[rule.to_journey].entry),
            updates=(*clearing(forgets[rule.from_journey]), *move.updates),
            kind=HAND_OVER,
        )
        for rule, move in zip(declared, read, strict=True)
    ]


def _as_move(rule: HandOver) -> Transition:
    return Transition(
        rule.trigger,
        to_pathway=f"{rule.from_journey}->{rule.to_journey}",
        context_update=rule.context_update,
        priority=rule.priority,
    )


def _cancels(
    parts: Parts,
    forgets: Mapping[str, Sequence[str]],
    trigger: BaseTrigger | None,
    moves: Sequence[TransitionSpec],
    where: str,
) -> list[TransitionSpec]:
    """Return what gives each part up; nothing else comes before it."""
    if trigger is None:
        return []
    first = 1 + max((move.priority for move in moves), default=0)
    return [cancel_of(part, trigger, forgets[id_], first, where) for id_, part in parts.items()]
