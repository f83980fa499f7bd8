"""Inspect journey class bodies, and report attributes that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from inspect import isroutine
from typing import Any

from journeys.agents.signature import PYTHON_NAMES
from journeys.faults import Fault

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
    """Return the attribute that a name stands for, or is a slip of; a function is a helper."""
    plain = {name.strip("_"): name for name in known}
    if bare in plain or callable(value) or isinstance(value, (property, staticmethod)):
        return plain.get(bare)
    begun = [name for name in plain if len(bare) > 3 and name.startswith(bare)]
    close = begun or get_close_matches(bare, plain, n=1, cutoff=0.75)
    return plain[close[0]] if close else None
