"""Declarations of a whole journey or concierge, from a class body or a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Annotated, Any

from journeys.definitions.definition import Definition, rule
from journeys.definitions.sources import ClassBody
from journeys.definitions.value_types import ContextName, Listed, OneOf, Text
from journeys.faults import Fault, Path
from journeys.notions.personality import Personality
from journeys.notions.validation import Validation

DEGRADATIONS = ("canned", "freeform", "refuse")
"""What is done for a user when the journey itself fails (DESIGN section 4)."""


class Declared(Definition):
    """What a journey or a concierge declares as a whole.

    Attributes:
        version: Default: a hash of the definition.
        model: Name of a model for its agents.
        personality: How it speaks.
        validation: How replies are checked.
        safe_reply: Said in place of a reply that breaks a rule.
        degrade: What is done when the journey itself fails.
        shared: What it leaves to other journeys.
        sensitive: true: everything stored is encrypted.
    """

    _: KW_ONLY
    version: Text | None = None
    model: Text | None = None
    personality: Personality | None = None
    validation: Validation | None = None
    safe_reply: Text = ""
    degrade: Annotated[str, OneOf(DEGRADATIONS)] = "canned"
    shared: Listed[ContextName] = ()
    sensitive: bool = False

    @rule("degrade", "sensitive")
    def _is_closed(self) -> Iterator[Fault]:
        if self.sensitive and self.degrade == "freeform":
            yield Fault(
                "it is __sensitive__, and __degrade__ is 'freeform', which hands messages to "
                "a model outside of it. Choose 'canned' or 'refuse'.",
                "degrade",
            )


class _Attributes(ClassBody):
    """The attributes of a class, as `__name__`."""

    def __init__(self, cls: type, owner: str) -> None:
        named = {name: f"__{name}__" for name in Declared.keys()}  # noqa: SIM118 - no mapping
        super().__init__({key: getattr(cls, name) for key, name in named.items()})
        self._owner = owner

    def named(self, path: Path) -> str:
        """Return what a fault calls a value."""
        return super().named((f"__{path[0]}__", *path[1:]))

    def note(self, held: Any, fault: Fault) -> None:
        """Take down a fault of an attribute."""
        self.faults.append(fault.at(self._owner))


def read_declared(owner: str, cls: type, faults: list[Fault]) -> Declared:
    """Return what the body of a class declares as a whole, noting every fault."""
    source = _Attributes(cls, owner)
    declared: Declared = Declared.read(source.given, source)
    faults += source.faults
    return declared
