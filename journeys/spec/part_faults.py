"""Faults and warnings of journeys that are joined to one concierge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeys.agents.calls import ToolSpec
from journeys.errors import did_you_mean, shown
from journeys.faults import Fault, as_where
from journeys.notions.transitions import HandOver
from journeys.spec.parts import named
from journeys.spec.spec import JourneySpec, TransitionSpec

OTHERWISE = ("ask", "canned", "freeform")
"""Options of a concierge for a message that starts none of its journeys."""

Parts = Mapping[str, JourneySpec]


def journey_faults(owner: str, journeys: Sequence[JourneySpec]) -> Iterator[Fault]:
    """Yield what keeps journeys from being parts."""
    ids = [part.id for part in journeys]
    for part in journeys:
        if part.is_marked:
            yield Fault(
                f"{part.name} is marked __abstract__.",
                remedy="Name a journey that inherits it.",
                where=owner,
            )
        elif not part.entry:
            yield Fault(
                f"{part.name} has no pathways, so it is abstract and cannot be started.",
                where=owner,
            )
        if part.parts:
            said, remedy = f"{part.name} is a concierge.", "Name its journeys here instead."
            yield Fault(said, remedy=remedy, where=owner)
    for id_ in dict.fromkeys(id_ for id_ in ids if ids.count(id_) > 1):
        said = f"two of its journeys have the id '{id_}'."
        yield Fault(said, remedy="Rename one of them.", where=owner)


def outcome_faults(owner: str, otherwise: Any) -> Iterator[Fault]:
    """Yield what is wrong with what is done with a message that starts none of them."""
    if otherwise not in OTHERWISE:
        hint = did_you_mean(str(otherwise), OTHERWISE)
        yield Fault(
            f"otherwise is {shown(otherwise)}.",
            remedy=f"{hint} One of: {', '.join(OTHERWISE)}.",
            where=owner,
        )


def freeform_faults(
    owner: str, secret: Sequence[str], otherwise: str, degrade: str
) -> Iterator[Fault]:
    """Yield what would hand messages of sensitive journeys to a model outside of all journeys."""
    for what, value in (("otherwise", otherwise), ("degrade", degrade)):
        if secret and value == "freeform":
            yield Fault(
                f"{secret[0]} is sensitive, and {what} is 'freeform', which hands "
                "messages to a model outside of every journey.",
                remedy="Choose 'canned'.",
                where=owner,
            )


def hand_over_faults(
    owner: str, known: Sequence[str], declared: Sequence[HandOver]
) -> Iterator[Fault]:
    """Yield what is wrong with the journeys that rules lead from and to."""
    for number, rule in enumerate(declared):
        where = as_where(owner).inner(f": hand_over[{number}]", "hand_over", number)
        for key, id_ in (("from", rule.from_journey), ("to", rule.to_journey)):
            if id_ not in known:
                hint = did_you_mean(str(id_), known)
                remedy = f"{hint} Its journeys: {', '.join(known)}."
                yield Fault(f"it names '{id_}', no journey here.", key, remedy=remedy, where=where)
        if rule.from_journey == rule.to_journey:
            yield Fault(f"it leads from '{rule.from_journey}' to itself.", "to", where=where)


def tool_faults(owner: str, parts: Parts) -> Iterator[Fault]:
    """Yield the tools that two parts declare differently."""
    first: dict[str, tuple[str, ToolSpec]] = {}
    for id_, part in parts.items():
        for name, tool in part.tools.items():
            where, known = first.setdefault(name, (id_, tool))
            if known != tool:
                yield Fault(
                    f"the tool '{name}' is declared differently in '{where}' and in '{id_}'.",
                    remedy="A name is one tool; rename one of them.",
                    where=owner,
                )


def never_started(parts: Parts, between: Sequence[TransitionSpec]) -> Iterator[Fault]:
    """Yield the parts that no message starts."""
    for part in parts.values():
        if part.activation:
            continue
        led = any(move.target == named(part.id, part.entry) for move in between)
        only = "only a hand-over leads to it" if led else "no hand-over leads to it either"
        yield Fault(f"nothing activates it, and {only}.", where=part.name)
