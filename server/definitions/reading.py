"""Read stored definitions into journeys; a fault in one does not stop the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphs.records.definitions import Draft
from journeys import GuidelineSpec, JourneyDefinitionError, JourneySpec
from journeys.faults import Fault
from journeys.files import read_guidelines_text, read_journey_text
from journeys.reading.global_guidelines import with_guidelines


@dataclass(slots=True)
class Read:
    """Result of reading definitions.

    Attributes:
        specs: Journeys and concierges by id, the global guidelines among them.
        faults: The fault of each definition that has one, by id.
    """

    specs: dict[str, JourneySpec] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)


def read_all(drafts: Sequence[Draft]) -> Read:
    """Read definitions together: global guidelines apply to every journey."""
    read = Read()
    journeys = [draft for draft in drafts if draft.kind != "guidelines"]
    rules = _rules([draft for draft in drafts if draft.kind == "guidelines"], read)
    for draft in journeys:
        try:
            read.specs[draft.id] = with_guidelines(spec_of(draft), rules)
        except JourneyDefinitionError as error:
            read.faults[draft.id] = [fault.alone() for fault in error.faults]
    return read


def spec_of(draft: Draft) -> JourneySpec:
    """Return the journey, or the concierge, of a draft.

    Raises:
        JourneyDefinitionError: With every fault.
    """

    def beside(name: str) -> str:
        try:
            return draft.beside[name]
        except KeyError:
            raise FileNotFoundError(name) from None

    return read_journey_text(draft.text, draft.name, beside)


def _rules(drafts: Iterable[Draft], read: Read) -> list[GuidelineSpec]:
    rules: dict[str, GuidelineSpec] = {}
    for draft in drafts:
        try:
            found = read_guidelines_text(draft.text, draft.name)
        except JourneyDefinitionError as error:
            read.faults[draft.id] = [fault.alone() for fault in error.faults]
            continue
        twice = [rule for rule in found if rule.id in rules]
        if twice:
            read.faults[draft.id] = [
                Fault(
                    f"the id '{rule.id}' is already used by {rules[rule.id].where}.",
                    where=rule.where,
                )
                for rule in twice
            ]
            continue
        rules |= {rule.id: rule for rule in found}
    return list(rules.values())
