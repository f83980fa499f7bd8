"""Inspect class bodies: what bases declare for a journey, and what nothing reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import isroutine
from typing import Any

from journeygraph.journeys.agents.signature import PYTHON_NAMES
from journeygraph.journeys.declarations.guidelines import Guideline
from journeygraph.journeys.declarations.transitions import Transition
from journeygraph.journeys.errors import did_you_mean, shown
from journeygraph.journeys.faults import Fault

TRANSITIONS, GUIDELINES = "__transitions__", "__guidelines__"
_KINDS: dict[str, tuple[type, str]] = {
    TRANSITIONS: (Transition, "name"),
    GUIDELINES: (Guideline, "id"),
}
"""Attribute -> what its list holds, and by what that is named."""


@dataclass(frozen=True, slots=True)
class DeclaredEntry:
    """One entry of a list that a journey declares, or has from a base."""

    where: str
    item: Any
    name: str
    body: type


def is_abstract(body: type) -> bool:
    """Return whether a class is marked abstract itself; its subclasses are not by that."""
    return vars(body).get("__abstract__") is True


def in_order(cls: type, root: type) -> list[type]:
    """Return the bodies that count, the child first."""
    return list(reversed(bodies(cls, root)))


def declared(cls: type, root: type, attribute: str, faults: list[Fault]) -> list[DeclaredEntry]:
    """Return the entries of a list that count for a journey, its own first.

    What abstract bases declare is added, the nearest first. Of the other bodies the nearest counts
    alone, as attributes of Python do. An entry that the child has as well, or has one of the same
    name in place of, is taken once; what a `__without__` names is omitted.
    """
    order = in_order(cls, root)
    dropped = [
        (place, name)
        for place, body in enumerate(order)
        for name in _names(vars(body).get("__without__", ()))
    ]
    kept: list[DeclaredEntry] = []
    for entry in _all(cls, root, attribute, faults):
        place = order.index(entry.body)
        if any(entry.name == name and below < place for below, name in dropped):
            continue
        above = [one for one in kept if one.body is not entry.body]
        if not any(one.item is entry.item or one.name == entry.name != "" for one in above):
            kept.append(entry)
    return kept


def without_faults(cls: type, root: type) -> Iterator[Fault]:
    """Yield what is wrong with `__without__`: what it names has to be declared by a base."""
    order = in_order(cls, root)
    entries = [entry for attribute in _KINDS for entry in _all(cls, root, attribute, [])]
    for place, body in enumerate(order):
        written = vars(body).get("__without__", ())
        if isinstance(written, str) or not isinstance(written, Sequence):
            message, remedy = f"__without__ is {shown(written)}", "it must be a list of names."
            yield Fault(message, "__without__", remedy=remedy, where=body.__name__)
            continue
        below = order[place + 1 :]
        known = list(dict.fromkeys(e.name for e in entries if e.body in below and e.name))
        for name in written:
            if name not in known:
                message = (
                    f"__without__ names {shown(name)}, which is not a transition or guideline "
                )
                message += "of a base."
                remedy = f"{did_you_mean(str(name), known)} Names in its bases: "
                remedy += f"{', '.join(known) or 'none'}."
                yield Fault(message, "__without__", remedy=remedy, where=body.__name__)


def _all(cls: type, root: type, attribute: str, faults: list[Fault]) -> Iterator[DeclaredEntry]:
    kind, named_by = _KINDS[attribute]
    found_own = False
    for body in in_order(cls, root):
        shared = is_abstract(body)
        if attribute not in vars(body) or (found_own and not shared):
            continue
        found_own = found_own or not shared
        owner = body.__name__ if shared else cls.__name__
        for where, item in listed(owner, attribute, vars(body)[attribute], faults):
            name = getattr(item, named_by) if isinstance(item, kind) else ""
            yield DeclaredEntry(where, item, name if isinstance(name, str) else "", body)


def listed(
    owner: str, attribute: str, value: Any, faults: list[Fault]
) -> Iterator[tuple[str, Any]]:
    """Yield the entries of an attribute that is a list, each with its place."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        remedy = f"it must be a list of {_KINDS[attribute][0].__name__}(...)."
        faults.append(
            Fault(f"{attribute} is {shown(value)}", attribute, remedy=remedy, where=owner)
        )
        return
    for number, item in enumerate(value):
        yield f"{owner}.{attribute}[{number}]", item


def _names(written: Any) -> list[str]:
    listed = isinstance(written, Sequence) and not isinstance(written, str)
    return [name for name in written if isinstance(name, str) and name] if listed else []


_ALLOWED = {"__abstractmethods__", "__aenter__", "__aexit__", "__class_getitem__"}
_METHODS = (property, staticmethod, classmethod)


def bodies(cls: type, root: type) -> list[type]:
    """Return the classes whose bodies count, base first; a plain mixin is one of them."""
    return [klass for klass in reversed(cls.__mro__) if klass not in root.__mro__]


def unknown(owner: str, body: type, root: type, known: Sequence[str]) -> Iterator[Fault]:
    """Yield what a body sets that nothing reads, and that was meant to be read."""
    shared = not issubclass(body, root)  # a plain mixin, which may have a life of its own
    mangled = f"_{body.__name__.lstrip('_')}__"
    for name, value in vars(body).items():
        if shared and (isroutine(value) or isinstance(value, _METHODS)):
            continue
        bare = name.removeprefix(mangled).strip("_")
        meant = _meant(bare, value, known)
        if name.startswith("__") and name.endswith("__"):
            if (meant or not shared) and name not in (*known, *PYTHON_NAMES, *_ALLOWED):
                hint = f" Did you mean '{meant}'?" if meant else ""
                remedy = f"{hint} Known: {', '.join(known)}."
                yield Fault(f"{name} is unknown.", name, remedy=remedy, where=owner, at_key=True)
        elif meant and not _serves(name, value, vars(body), meant):
            written = name.removeprefix(mangled.rstrip("_"))
            message, remedy = f"{written} is not a known attribute.", f"Did you mean '{meant}'?"
            yield Fault(message, written, remedy=remedy, where=owner, at_key=True)


def _serves(name: str, value: Any, body: Mapping[str, Any], meant: str) -> bool:
    """Return whether a name is a helper next to the attribute that it resembles."""
    return meant in body and (name != meant.strip("_") or body[meant] is value)


def _meant(bare: str, value: Any, known: Sequence[str]) -> str | None:
    """Return the attribute that a name means, or is a slip of; a function is a helper."""
    plain = {name.strip("_"): name for name in known}
    if bare in plain or callable(value) or isinstance(value, (property, staticmethod)):
        return plain.get(bare)
    begun = [name for name in plain if len(bare) > 3 and name.startswith(bare)]
    close = begun or get_close_matches(bare, plain, n=1, cutoff=0.75)
    return plain[close[0]] if close else None
