"""`__transitions__` in, transition specs out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from journeys.errors import shown
from journeys.faults import Fault
from journeys.notions.transitions import Transition
from journeys.spec.spec import TransitionSpec, Update


def read_each(declared: Iterable[tuple[str, Any]], faults: list[Fault]) -> list[TransitionSpec]:
    """Read transitions, each with where it is written, noting every fault."""
    specs: list[TransitionSpec] = []
    seen: dict[str, int] = {}
    names: set[str] = set()
    for where, transition in declared:
        if not isinstance(transition, Transition):
            said, remedy = f"it is {shown(transition)}", "it must be a Transition(...)."
            faults.append(Fault(said, remedy=remedy, where=where))
            continue
        faults += [fault.at(where) for fault in transition.faults]
        if transition.name in names:
            said = f"another transition is named '{transition.name}' too."
            faults.append(Fault(said, "name", remedy="Rename one of them.", where=where))
        names |= {transition.name} - {""}
        specs.append(read_transition(where, transition, seen))
    return specs


def read_transition(where: str, transition: Transition, seen: dict[str, int]) -> TransitionSpec:
    """Read one transition; `seen` counts the ids of the journey."""
    given = transition.from_pathway
    sources = (given,) if isinstance(given, str) else ("*",) if "*" in given else tuple(given)
    kind = type(transition.trigger).__name__
    name = f"{kind}:{','.join(sources)}->{transition.to_pathway}"
    seen[name] = seen.get(name, 0) + 1
    return TransitionSpec(
        id=name if seen[name] == 1 else f"{name}#{seen[name]}",
        trigger=transition.trigger,
        sources=sources,
        target=transition.to_pathway,
        updates=updates_of(transition),
        priority=transition.priority,
        where=where,
    )


def updates_of(rule: Transition) -> tuple[Update, ...]:
    """Return what a rule does to the context."""
    return tuple(_update(name, given) for name, given in (rule.context_update or {}).items())


def _update(target: str, given: Any) -> Update:
    if callable(given):
        return Update(target, "call", "", given)
    how, colon, argument = given.partition(":")
    return Update(target, how, argument) if colon else Update(target, "copy", given)
