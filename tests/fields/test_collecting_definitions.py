"""What a journey declares of collecting is judged when its class is made."""

from __future__ import annotations

import pytest

from journeys import Field, Pathway
from tests.rules.test_definitions import faults, pathway


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("__fields__", "email", "__fields__ is 'email'; it must be a list."),
        ("__fields__", ["email"], "__fields__[0] is 'email'; it must be Field(...)."),
        ("__fields__", [Field("a"), Field("a")], "the field 'a' is declared twice."),
        ("__effects__", "book", "__effects__ is 'book'; it must be a list."),
        ("__effects__", ["book", "book"], "__effects__ names 'book' twice."),
        ("__interruptible__", ["a"], "'a' is no field of it. It has no fields."),
    ],
    ids=["text", "no_field", "twice", "name", "effect_twice", "no_such_field"],
)
def test_what_a_pathway_collects_is_judged_at_import(name: str, given: object, told: str) -> None:
    (fault,) = faults(type("StartPath", (Pathway,), {name: given}))

    assert fault.startswith(f"Trip.StartPath: {told}")


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("__escalation__", True, "is True; it must be Escalation(...)."),
        ("__personality__", "warm", "is 'warm'; it must be Personality(...)."),
        (
            "__texts__",
            {"wat": "x"},
            "['wat']: 'wat' is no text of the runtime. Did you mean 'wait'?",
        ),
        ("__patterns__", {"wat": "start"}, ": 'wat' is no repair pattern. Did you mean 'wait'?"),
        ("__migrations__", {"old": "strt"}, "['old'] leads to 'strt', which is no pathway."),
    ],
    ids=["escalation", "personality", "texts", "patterns", "migrations"],
)
def test_how_a_journey_talks_is_judged_at_import(name: str, given: object, told: str) -> None:
    (fault,) = faults(pathway(), **{name: given})

    assert fault.startswith(f"Trip: {name}{'' if told[0] in '[:' else ' '}{told}")
