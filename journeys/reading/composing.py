"""Several journeys in, one frozen spec out: that of a concierge, which begins and ends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from journeys.errors import JourneyDefinitionError
from journeys.faults import as_where
from journeys.locale import NOWHERE, Locale
from journeys.notions.behaviors import NEVER
from journeys.notions.guidelines import GuidelineSpec, Scope, Validation
from journeys.notions.personality import Personality
from journeys.notions.transitions import BaseTrigger, HandOver, Transition
from journeys.reading.declared import validation_of
from journeys.reading.rule_reader import numbered, read_transitions, relation_faults, taken_ids
from journeys.spec.checks import field_faults, reference_faults, strategies_of
from journeys.spec.hashing import content_hash
from journeys.spec.parts import (
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
from journeys.spec.spec import (
    HAND_OVER,
    JourneySpec,
    PathwaySpec,
    TransitionSpec,
    frozen,
    reachable,
)
from journeys.spec.warning_signs import kept_names, unset_names, warnings_of
from journeys.texts import layered

CANCELS = "wants to give up what we are doing"
"""Description of a cancellation, for a model."""
_READS = ("append", "copy")


def compose(
    id: str,
    name: str,
    purpose: str,
    journeys: Sequence[JourneySpec],
    *,
    otherwise: str = "ask",
    cancel: BaseTrigger | None = None,
    hand_over: Sequence[HandOver] = (),
    guidelines: Sequence[GuidelineSpec] = (),
    validation: Validation | None = None,
    safe_reply: str = "",
    degrade: str = "canned",
    shared: Sequence[str] = (),
    model: str | None = None,
    sensitive: bool = False,
    version: str | None = None,
    personality: Personality | None = None,
    texts: Mapping[str, Mapping[str, str]] = frozen({}),
    locale: Locale = NOWHERE,
) -> JourneySpec:
    """Make one spec of several journeys, which are active one at a time.

    Pathways become `<journey>.<pathway>`, and guidelines `<journey>.<guideline>`. Agents and tools
    keep their names: the same name in two journeys is the same agent, or tool.

    Args:
        id: Id of the concierge.
        name: What it is called, also in messages.
        purpose: What it is for.
        journeys: Its journeys, in the order in which they are offered.
        otherwise: What is done with a message that starts none of them: "ask" which one is meant,
            give a "canned" answer, or let a model answer it "freeform", without tools and context.
        cancel: What gives up the active journey.
        hand_over: What leads from one journey to another.
        guidelines: Global ones: of all journeys, and of the concierge itself.
        validation: How replies are checked where a journey does not say it itself; None: before
            they are sent where a global guideline is critical.
        safe_reply: Said in place of a reply that breaks the rules.
        degrade: What is done where the concierge itself fails.
        shared: Context names that no journey forgets when it is left.
        model: OpenAI model of itself, and of journeys that name none.
        sensitive: True if everything that is stored is encrypted; so it is if a journey asks it.
        version: Its version; by default a hash of the definition.
        personality: How it speaks, and each of its journeys that has none itself.
        texts: What it words anew, language -> name -> text; in a journey its own words count more.
        locale: Its locale, and that of each of its journeys for the parts that these leave out.

    Raises:
        JourneyDefinitionError: With every fault.
    """
    owner = as_where(name)
    places = [owner.inner(f": hand_over[{n}]", "hand_over", n) for n in range(len(hand_over))]
    faults = [
        *journey_faults(name, journeys),
        *hand_over_faults(name, [part.id for part in journeys], hand_over),
    ]
    if faults:  # nothing can be put together of what is not there
        raise JourneyDefinitionError(faults)
    read = read_transitions(zip(places, map(_as_move, hand_over), strict=True), faults)
    manner = personality or Personality()
    spoken = [_spoken(part, manner, texts, locale) for part in journeys]
    parts = {part.id: _part(part, hand_over, read, model) for part in spoken}
    forgets = {id_: _forgets(part, hand_over, shared) for id_, part in parts.items()}
    between = _between(parts, forgets, hand_over, read)
    reception = PathwaySpec(RECEPTION, str(name), purpose=purpose, complete_when=NEVER)
    inner = [p for id_, part in parts.items() for p in pathways_of(part, forgets[id_])]
    pathways = {pathway.id: pathway for pathway in [reception, *inner]}
    moves = [move for part in parts.values() for move in activations_of(part)] + between
    moves += [move for part in parts.values() for move in moves_of(part)]
    moves += _cancels(parts, forgets, cancel, moves, owner.inner(": cancel", "cancel"))
    given = [*guidelines, *(g for part in parts.values() for g in guidelines_of(part))]
    rules = numbered(given)
    faults += reference_faults(name, RECEPTION, pathways, moves)
    faults += [*taken_ids(given), *relation_faults(rules), *tool_faults(name, parts)]
    faults += field_faults(pathways)
    secret = [part.name for part in parts.values() if part.sensitive]
    faults += freeform_faults(name, secret or [name] * sensitive, otherwise, degrade)
    if faults:
        raise JourneyDefinitionError(faults)
    own = (otherwise, cancel, tuple(between), tuple(guidelines), validation, safe_reply, degrade)
    patterns = {f"{id_}:{name}": to for id_, p in parts.items() for name, to in p.patterns.items()}
    made_of = [*(part.version for part in parts.values()), manner, texts, locale]
    spec = JourneySpec(
        id=id,
        name=name,
        where=owner,
        purpose=purpose,
        entry=RECEPTION,
        pathways=frozen(pathways),
        transitions=tuple(moves),
        strategies=frozen(strategies_of(pathways)),
        kept=_sources(moves),
        reachable=reachable(RECEPTION, pathways, moves, patterns),
        sensitive=sensitive or any(part.sensitive for part in parts.values()),
        version=version or content_hash(id, purpose, made_of, own, shared, model, sensitive),
        guidelines=rules,
        tools=frozen({name: tool for part in parts.values() for name, tool in part.tools.items()}),
        shared=tuple(shared),
        degrade=degrade,
        safe_reply=safe_reply,
        validation=validation_of(validation, [g for g in rules if g.scope is Scope.GLOBAL]),
        model=model,
        parts=frozen(parts),
        otherwise=otherwise,
        personality=manner,
        locale=locale,
        texts=texts,
        migrations={old: now for p in parts.values() for old, now in p.migrations.items()},
        has_repair=any(part.has_repair for part in parts.values()),
    )
    unset = tuple(unset_names(spec, kept_names(spec)))
    warnings = (*never_started(parts, between), *warnings_of(spec))
    return replace(spec, warnings=warnings, unset=unset)


def _spoken(
    part: JourneySpec,
    whole: Personality,
    texts: Mapping[str, Mapping[str, str]],
    locale: Locale,
) -> JourneySpec:
    """Return a journey as a part, which speaks as the whole does where it says nothing itself."""
    manner = whole if part.personality == Personality() else part.personality
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
        kept=part.kept | _sources(out),
        model=part.model or model,
        patterns={name: named(part.id, to) for name, to in part.patterns.items()},
        migrations={
            named(part.id, old): named(part.id, now) for old, now in part.migrations.items()
        },
    )


def _sources(moves: Sequence[TransitionSpec]) -> frozenset[str]:
    """Return the names that the updates of transitions read."""
    return frozenset(u.argument for move in moves for u in move.updates if u.how in _READS)


def _forgets(part: JourneySpec, declared: Sequence[HandOver], shared: Sequence[str]) -> list[str]:
    """Return what is forgotten when a part is left: its own names, and what was handed to it."""
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
