"""What is wrong with journeys that are to be one concierge, and what smells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeys.calls import ToolSpec
from journeys.errors import did_you_mean, shown
from journeys.parts import named
from journeys.spec import JourneySpec, TransitionSpec
from journeys.transitions import HandOver

OTHERWISE = ("ask", "canned", "freeform")
"""What a concierge can do with a message that starts none of its journeys."""

Parts = Mapping[str, JourneySpec]


def journey_faults(owner: str, journeys: Sequence[JourneySpec]) -> Iterator[str]:
    """Yield what keeps journeys from being parts."""
    ids = [part.id for part in journeys]
    for part in journeys:
        if part.is_marked:
            yield f"{owner}: {part.name} is marked __abstract__. Name a journey that inherits it."
        elif not part.entry:
            yield f"{owner}: {part.name} has no pathways, so it is abstract and cannot be started."
        if part.parts:
            yield f"{owner}: {part.name} is a concierge. Name its journeys here instead."
    for id_ in dict.fromkeys(id_ for id_ in ids if ids.count(id_) > 1):
        yield f"{owner}: two of its journeys have the id '{id_}'. Rename one of them."


def outcome_faults(owner: str, otherwise: Any) -> Iterator[str]:
    """Yield what is wrong with what is done with a message that starts none of them."""
    if otherwise not in OTHERWISE:
        hint = did_you_mean(str(otherwise), OTHERWISE)
        yield f"{owner}: otherwise is {shown(otherwise)}.{hint} One of: {', '.join(OTHERWISE)}."


def freeform_faults(
    owner: str, secret: Sequence[str], otherwise: str, degrade: str
) -> Iterator[str]:
    """Yield what would hand messages of sensitive journeys to a model outside of all journeys."""
    for what, value in (("otherwise", otherwise), ("degrade", degrade)):
        if secret and value == "freeform":
            yield (
                f"{owner}: {secret[0]} is sensitive, and {what} is 'freeform', which hands "
                "messages to a model outside of every journey. Choose 'canned'."
            )


def hand_over_faults(
    owner: str, known: Sequence[str], declared: Sequence[HandOver]
) -> Iterator[str]:
    """Yield what is wrong with the journeys that rules lead from and to."""
    for number, rule in enumerate(declared):
        where = f"{owner}: hand_over[{number}]"
        for id_ in (rule.from_journey, rule.to_journey):
            if id_ not in known:
                yield (
                    f"{where} names '{id_}', which is no journey here."
                    f"{did_you_mean(str(id_), known)} Its journeys: {', '.join(known)}."
                )
        if rule.from_journey == rule.to_journey:
            yield f"{where} leads from '{rule.from_journey}' to itself."


def tool_faults(owner: str, parts: Parts) -> Iterator[str]:
    """Yield the tools that two parts declare differently."""
    first: dict[str, tuple[str, ToolSpec]] = {}
    for id_, part in parts.items():
        for name, tool in part.tools.items():
            where, known = first.setdefault(name, (id_, tool))
            if known != tool:
                yield (
                    f"{owner}: the tool '{name}' is declared differently in '{where}' and in "
                    f"'{id_}'. A name is one tool; rename one of them."
                )


def never_started(parts: Parts, between: Sequence[TransitionSpec]) -> Iterator[str]:
    """Yield the parts that no message starts."""
    for part in parts.values():
        if part.activation:
            continue
        led = any(move.target == named(part.id, part.entry) for move in between)
        only = "only a hand-over leads to it" if led else "no hand-over leads to it either"
        yield f"{part.name}: nothing activates it, and {only}."
