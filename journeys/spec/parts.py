"""A journey as a part of a concierge: its pathways, moves and guidelines under the part's name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from journeygraph.journeys.agents.tools import ToolSpec
from journeygraph.journeys.declarations.behaviors import ReturnToPrevious, ReturnToSpecific
from journeygraph.journeys.declarations.guidelines import GuidelineSpec
from journeygraph.journeys.declarations.transitions import BaseTrigger, HandOver
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault, as_where
from journeygraph.journeys.spec.spec import (
    ACTIVATION,
    CANCEL,
    JourneySpec,
    PathwaySpec,
    TransitionSpec,
    Update,
)
from journeygraph.journeys.spec.warning_signs import collected_names

RECEPTION = "concierge"
"""Id of the pathway of a concierge while none of its journeys is active."""


def named(part: str, id_: str) -> str:
    """Return the id that a pathway or a guideline of a part has in the concierge."""
    return f"{part}.{id_}"


def pathways_of(part: JourneySpec, forgets: Sequence[str]) -> Iterator[PathwaySpec]:
    """Yield the pathways of a part; where it ends, they lead to the reception.

    Args:
        forgets: Context names that are removed where it ends.
    """
    for pathway in part.pathways.values():
        ends = pathway.next is None and not pathway.is_detour
        goes_on = named(part.id, pathway.next) if pathway.next else None
        changed = {
            "id": named(part.id, pathway.id),
            "next": RECEPTION if ends else goes_on,
            "returns": _returns(part.id, pathway),
            "journey": part.id,
            "forgets": tuple(forgets) if ends else (),
            "effects": tuple(
                effect.model_copy(update={"change": named(part.id, effect.change)})
                if effect.change
                else effect
                for effect in pathway.effects
            ),
        }
        yield pathway.model_copy(update=changed)


def _returns(part: str, pathway: PathwaySpec) -> ReturnToPrevious | ReturnToSpecific | None:
    returns = pathway.returns
    if isinstance(returns, ReturnToSpecific):
        return returns.model_copy(update={"target_pathway": named(part, returns.target_pathway)})
    return returns


def moves_of(part: JourneySpec) -> Iterator[TransitionSpec]:
    """Yield the transitions within a part; what applies everywhere applies in all of it."""
    for move in part.transitions:
        sources = part.pathways if move.sources == ("*",) else move.sources
        yield replace(
            move,
            id=named(part.id, move.id),
            sources=tuple(named(part.id, source) for source in sources),
            target=named(part.id, move.target),
        )


def activations_of(part: JourneySpec) -> Iterator[TransitionSpec]:
    """Yield what leads from the reception into a part."""
    at = as_where(part.where)
    key = at.key("__activation__", "activation_conditions")
    for number, trigger in enumerate(part.activation):
        again = f"#{number + 1}" if number else ""
        yield TransitionSpec(
            id=f"start:{part.id}{again}",
            trigger=trigger,
            sources=(RECEPTION,),
            target=named(part.id, part.entry),
            where=at.inner(f".{key}[{number}]", key, number),
            kind=ACTIVATION,
        )


def cancel_of(
    part: JourneySpec, trigger: BaseTrigger, forgets: Sequence[str], priority: int, where: str
) -> TransitionSpec:
    """Return the transition that gives up a part, from any of its pathways."""
    return TransitionSpec(
        id=f"cancel:{part.id}",
        trigger=trigger,
        sources=everywhere_in(part),
        target=RECEPTION,
        updates=clearing(forgets),
        priority=priority,
        where=where,
        kind=CANCEL,
    )


def everywhere_in(part: JourneySpec) -> tuple[str, ...]:
    """Return all pathways of a part."""
    return tuple(named(part.id, id_) for id_ in part.pathways)


def clearing(names: Sequence[str]) -> tuple[Update, ...]:
    """Return the updates that forget context names."""
    return tuple(Update(name, "clear", "") for name in names)


def guidelines_of(part: JourneySpec) -> Iterator[GuidelineSpec]:
    """Yield the guidelines of a part, and their relations, under its name."""
    for guideline in part.guidelines:
        at = guideline.pathway
        yield guideline.model_copy(
            update={
                "id": named(part.id, guideline.id),
                "pathway": None if at is None else named(part.id, at),
                "excludes": tuple(named(part.id, other) for other in guideline.excludes),
                "depends_on": tuple(named(part.id, other) for other in guideline.depends_on),
            }
        )


def owned(part: JourneySpec, shared: Collection[str]) -> list[str]:
    """Return the context names that a part makes and does not leave to others.

    These are what its pathways collect and accumulate, its transitions update, and its calls and
    effects save. What a session began with is its own only if it is one of them.
    """
    names = dict.fromkeys(part.strategies) | dict.fromkeys(sorted(collected_names(part)))
    names |= dict.fromkeys(u.target for move in part.transitions for u in move.updates)
    for pathway in part.pathways.values():
        names |= dict.fromkeys(call.save for call in pathway.calls if call.save)
        names |= dict.fromkeys(effect.save or effect.tool for effect in pathway.effects)
        outputs = pathway.signature.outputs if pathway.signature else ()
        names |= dict.fromkeys(field.name for field in outputs if field.name in part.kept)
    return [name for name in names if name not in part.shared and name not in shared]


Parts = Mapping[str, JourneySpec]


def journey_faults(owner: str, journeys: Sequence[JourneySpec]) -> Iterator[Fault]:
    """Yield the faults of journeys that cannot be parts."""
    ids = [part.id for part in journeys]
    for part in journeys:
        if part.is_marked:
            message, remedy = f"{part.name} is marked __abstract__.", "Name a subclass of it."
            yield Fault(message, remedy=remedy, where=owner)
        elif not part.entry:
            message = f"{part.name} has no pathways, so it cannot be started."
            yield Fault(message, where=owner)
        if part.parts:
            message, remedy = f"{part.name} is a concierge.", "Name its journeys instead."
            yield Fault(message, remedy=remedy, where=owner)
    for id_ in dict.fromkeys(id_ for id_ in ids if ids.count(id_) > 1):
        message = f"two of its journeys have the id '{id_}'."
        yield Fault(message, remedy="Rename one of them.", where=owner)


def freeform_faults(
    owner: str, secret: Sequence[str], otherwise: str, degrade: str
) -> Iterator[Fault]:
    """Yield settings that would show messages of sensitive journeys to a model outside of them."""
    at = as_where(owner)
    for name, value in (("__otherwise__", otherwise), ("__degrade__", degrade)):
        if secret and value == "freeform":
            message = f"{secret[0]} is sensitive, and {at.key(name)} is 'freeform', which sends "
            message += "messages to a model outside of every journey."
            yield Fault(message, at.key(name), remedy="Choose 'canned'.", where=at)


def hand_over_faults(owner: str, known: Sequence[str], declared: Any) -> Iterator[Fault]:
    """Yield the faults of the journeys that rules lead from and to."""
    rules = enumerate(declared if isinstance(declared, Sequence) else ())
    for number, rule in ((n, one) for n, one in rules if isinstance(one, HandOver)):
        where = as_where(owner).inner(f": hand_over[{number}]", "hand_over", number)
        for key, id_ in (("from", rule.from_journey), ("to", rule.to_journey)):
            if id_ not in known:
                message = f"'{id_}' is not a journey of this concierge."
                remedy = f"{did_you_mean(str(id_), known)} Its journeys: {', '.join(known)}."
                yield Fault(message, key, remedy=remedy, where=where)
        if rule.from_journey == rule.to_journey:
            yield Fault(f"it leads from '{rule.from_journey}' to itself.", "to", where=where)


def tool_faults(owner: str, parts: Parts) -> Iterator[Fault]:
    """Yield the tools that two parts declare differently."""
    first: dict[str, tuple[str, ToolSpec]] = {}
    for id_, part in parts.items():
        for name, tool in part.tools.items():
            where, known = first.setdefault(name, (id_, tool))
            if known != tool:
                message = f"the tool '{name}' is declared differently in '{where}' and in '{id_}'."
                yield Fault(message, remedy="Rename one of them.", where=owner)


def never_started(parts: Parts, between: Sequence[TransitionSpec]) -> Iterator[Fault]:
    """Warn of parts that no message starts."""
    for part in parts.values():
        if part.activation:
            continue
        led = any(move.target == named(part.id, part.entry) for move in between)
        at = as_where(part.where)
        key = at.key("__activation__", "activation_conditions")
        ways = "only a hand-over leads to it" if led else "no hand-over leads to it either"
        yield Fault(f"it has no {key}, and {ways}.", key, where=at)
