"""Global guidelines in a separate file, and the journeys that they are added to."""

from __future__ import annotations

import pytest

from journeygraph import Guideline, Journey, JourneyDefinitionError, Pathway, Scope, Validation
from journeygraph.journeys.files.loading import read_guidelines_text, read_journey_text
from journeygraph.journeys.reading.rule_reader import with_guidelines
from tests.support.stored_claims import CLAIM, DESK, HOURS


class Shop(Journey):
    """Sell things."""

    __guidelines__ = [Guideline(condition="it rains", action="offer an umbrella", id="rain")]

    class SellPath(Pathway):
        __agents__ = ["clerk"]


def rules(*lines: str):
    return read_guidelines_text("\n  - ".join(["guidelines:", *lines]), "house.yaml")


POLITE = "{id: polite, action: be polite, always: true, tools: [find_policy, pay]}"


def test_they_come_after_those_of_the_journey_with_the_tools_that_it_has() -> None:
    claim = with_guidelines(read_journey_text(CLAIM, "claim.yaml"), rules(POLITE))
    [added] = claim.guidelines
    assert (added.id, added.scope, added.tools) == ("polite", Scope.GLOBAL, ("find_policy",))
    shop = with_guidelines(Shop.spec, rules(POLITE))
    assert [rule.id for rule in shop.guidelines] == ["rain", "polite"]
    assert shop.guidelines[1].tools == ()
    assert [rule.id for rule in Shop.spec.guidelines] == ["rain"]


def test_none_leave_a_journey_as_it_is_and_others_show_in_its_version() -> None:
    assert with_guidelines(Shop.spec, ()) is Shop.spec
    first = with_guidelines(Shop.spec, rules(POLITE)).version
    again = with_guidelines(Shop.spec, rules(POLITE)).version
    other = with_guidelines(Shop.spec, rules(POLITE.replace("polite,", "kind,"))).version
    assert first == again
    assert len({Shop.spec.version, first, other}) == 3
    assert first.startswith(Shop.spec.version)


def test_a_critical_one_has_replies_checked_also_in_the_parts_of_a_concierge() -> None:
    critical = rules("{id: never, always: true, critical: true, forbids: [guarantee]}")
    texts = {"claim.yaml": CLAIM, "hours.yaml": HOURS}
    desk = with_guidelines(read_journey_text(DESK, "desk.yaml", texts.__getitem__), critical)
    assert desk.validation == Validation()
    assert [part.validation for part in desk.parts.values()] == [Validation()] * 2
    assert with_guidelines(Shop.spec, rules(POLITE)).validation is None


def test_an_id_is_taken_once_and_what_is_related_has_to_be_there() -> None:
    with pytest.raises(JourneyDefinitionError, match=r"'rain' is taken in Shop by Shop\.__guid"):
        with_guidelines(Shop.spec, rules("{id: rain, action: be polite, always: true}"))
    with pytest.raises(JourneyDefinitionError, match="excludes contains 'rain'"):
        rules("{id: polite, action: be polite, always: true, excludes: [rain]}")
