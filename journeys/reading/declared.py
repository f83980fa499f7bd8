"""Declarations of a whole journey or concierge, from a class body or a file."""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any, TypeVar

from pydantic import Field

from journeys.definitions.definition import Definition, rule
from journeys.definitions.sources import ClassBody
from journeys.definitions.value_types import ContextName, Listed, OneOf, Short, Text
from journeys.faults import Fault, Path, as_where
from journeys.notions.escalation import Escalation
from journeys.notions.knowledge import Knowledge
from journeys.notions.personality import Personality
from journeys.notions.transitions import BaseTrigger, Triggered
from journeys.notions.validation import Validation

DEGRADATIONS = ("canned", "freeform", "refuse")
"""Valid reactions to a failure of the journey itself (DESIGN section 4)."""
Made = TypeVar("Made", bound=Definition)
_NAMES = {"form": "fields", "returns": "return_behavior"}
"""Fields whose attribute in a class body has another name."""


class Declared(Definition):
    """Declarations of a journey or a concierge as a whole.

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
                "a model outside of it.",
                "degrade",
                remedy="Choose 'canned' or 'refuse'.",
            )


class OfJourney(Declared):
    """Declarations of a journey as a whole, without those of a concierge.

    Attributes:
        activation: What starts it among other journeys.
        knowledge: Where questions of users are looked up: the name of a retriever.
    """

    activation: Listed[Annotated[BaseTrigger, Triggered(in_words=True)]] = Field(
        default=(), validation_alias="activation_conditions"
    )
    escalation: Escalation | None = None
    knowledge: Annotated[Knowledge, Short("retriever")] | None = None


def attribute(name: str) -> str:
    """Return the attribute of a class body that a field is read from."""
    return f"__{_NAMES.get(name, name)}__"


class Attributes(ClassBody):
    """The attributes of a class body, as `__name__`."""

    def __init__(self, given: dict[str, Any], owner: str) -> None:
        super().__init__(given)
        self._owner = as_where(owner)

    def named(self, path: Path) -> str:
        """Return what a fault calls a value."""
        return super().named((attribute(str(path[0])), *path[1:]))

    def note(self, held: Any, fault: Fault) -> None:
        """Take down a fault of an attribute."""
        self.faults.append(fault.at(self._owner))

    def note_inner(self, held: Mapping[str, Any], fault: Fault, path: Path) -> None:
        """Take down a fault of a definition that stands in an attribute."""
        at = self._owner.inner(f".{self.named(path)}")
        self.faults.append(fault.at(at, *path))


def read_attributes(
    kind: type[Made], owner: str, cls: type, root: type, faults: list[Fault], **known: Any
) -> Made:
    """Return what the body of a class declares, noting every fault.

    Args:
        kind: Definition whose fields are attributes of the class, as `__name__`.
        owner: How messages name the class.
        cls: The class.
        root: The class that has the defaults.
        faults: Takes every fault.
        known: Fields that are no attributes.
    """
    names = {name: attribute(name) for name in kind.known(is_code=True)}
    given = {name: getattr(cls, at) for name, at in names.items() if hasattr(root, at)}
    set_ = {n: value for n, value in given.items() if value is not getattr(root, names[n])}
    source = Attributes({**set_, **known}, owner)
    made: Made = kind.read(source.given, source)
    faults += source.faults
    return made


def read_declared(owner: str, cls: type, root: type, faults: list[Fault]) -> Declared:
    """Return what the body of a class declares as a whole, noting every fault."""
    return read_attributes(Declared, owner, cls, root, faults)
