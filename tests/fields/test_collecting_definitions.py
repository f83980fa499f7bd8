"""Checks of the declarations for collecting, when the class is made."""

from __future__ import annotations

import pytest

from journeygraph import Field, Pathway
from tests.rules.test_definitions import faults, pathway


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("__fields__", "email", "__fields__ is 'email'; it must be a list."),
        ("__fields__", ["email"], "__fields__[0] is 'email'; it must be Field(...)."),
        ("__fields__", [Field("a"), Field("a")], "the field 'a' is declared twice."),
        ("__effects__", "book", "__effects__ is 'book'; it must be a list."),
        ("__effects__", ["book", "book"], "'book' occurs twice in effects."),
        ("__interruptible__", ["a"], "'a' is not a field of it. It has no fields."),
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
        ("__patterns__", {"wat": "start"}, ": 'wat' is not a repair pattern. Did you mean 'wait'?"),
        (
            "__migrations__",
            {"old": "strt"},
            "['old'] is 'strt', which is not a pathway of this journey.",
        ),
    ],
    ids=["escalation", "personality", "patterns", "migrations"],
)
def test_how_a_journey_talks_is_judged_at_import(name: str, given: object, told: str) -> None:
    (fault,) = faults(pathway(), **{name: given})

    assert fault.startswith(f"Trip: {name}{'' if told[0] in '[:' else ' '}{told}")


def test_a_text_that_the_runtime_does_not_have_is_refused() -> None:
    (fault,) = faults(pathway(), __texts__={"wat": "x"})

    assert fault == "Trip: the runtime has no text 'wat'. Did you mean 'wait'?"
