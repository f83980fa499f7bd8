"""Faults and warnings of journeys that are joined to one concierge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeys.agents.tools import ToolSpec
from journeys.errors import did_you_mean
from journeys.faults import Fault, as_where
from journeys.notions.transitions import HandOver
from journeys.spec.parts import named
from journeys.spec.spec import JourneySpec, TransitionSpec

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
