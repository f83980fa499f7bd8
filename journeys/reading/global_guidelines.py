"""Guidelines that stand by themselves, added to journeys that know nothing of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from journeys.errors import JourneyDefinitionError
from journeys.faults import Fault
from journeys.notions.guidelines import GuidelineSpec
from journeys.reading.declared import validation_of
from journeys.reading.guideline_reader import relation_faults
from journeys.spec.hashing import content_hash
from journeys.spec.spec import JourneySpec, frozen

_MARK = 12


def with_guidelines(spec: JourneySpec, extra: Sequence[GuidelineSpec]) -> JourneySpec:
    """Return a journey to which global guidelines apply as well.

    Of their tools it has those that it declares itself. Its version says that they belong to it,
    and replies are checked if one of them is critical.

    Args:
        spec: The journey, or the concierge.
        extra: Guidelines of global scope; with none, the journey stays as it is.

    Raises:
        JourneyDefinitionError: One has the id of a guideline of the journey, or is related to one
            that is not there; all faults are named.
    """
    if not extra:
        return spec
    added = tuple(
        rule.model_copy(update={"tools": tuple(t for t in rule.tools if t in spec.tools)})
        for rule in extra
    )
    known = {rule.id: rule.where for rule in spec.guidelines}
    faults = [
        Fault(
            f"the id '{rule.id}' is taken in {spec.name} by {known[rule.id]}.",
            "id",
            where=rule.where,
        )
        for rule in added
        if rule.id in known
    ]
    if faults := faults or list(relation_faults([*spec.guidelines, *added])):
        raise JourneyDefinitionError(faults)
    checked = spec.validation or validation_of(None, added)
    return replace(
        spec,
        guidelines=(*spec.guidelines, *added),
        validation=checked,
        version=f"{spec.version}+{content_hash(*added)[:_MARK]}",
        parts=frozen(
            {
                id_: replace(part, validation=part.validation or checked)
                for id_, part in spec.parts.items()
            }
        ),
    )
