"""Suspicious definitions: they run, and `spec.warnings` names the probable mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import (
    BaseTrigger,
    ConditionTrigger,
    InputField,
    IntentTrigger,
    OutputField,
    Signature,
    Transition,
)
from tests.rules.test_definitions import Ask, journey, pathway


def warnings(*rules: Transition) -> tuple[str, ...]:
    """The warnings of a journey with these transitions."""
    places = (pathway(next="other"), pathway("OtherPath", next="third"), pathway("ThirdPath"))
    return journey(*places, __transitions__=list(rules)).spec.warnings


def intent(*patterns: str, to: str, source: Any = "*", **fields: Any) -> Transition:
    return Transition(IntentTrigger(patterns), from_pathway=source, to_pathway=to, **fields)


def test_a_sound_journey_has_no_warnings() -> None:
    spec = journey(
        pathway(signature=Ask, accumulate=["name"], complete_when=["name"], next="other"),
        pathway("OtherPath"),
    ).spec

    assert spec.warnings == ()


def test_a_pathway_that_nothing_leads_to() -> None:
    (warning,) = journey(pathway(), pathway("OtherPath")).spec.warnings

    assert warning == "Trip.OtherPath: nothing leads to 'other'."


def test_an_input_that_nothing_fills() -> None:
    class Order(Signature):
        heard: str = InputField(desc="by source as well", source="message")
        said: str = InputField(desc="gets the message")
        doctor: dict = InputField(desc="nobody gives it")
        kept: list = InputField(desc="accumulated")
        earlier: list = InputField(desc="by source", source="history")
        optional: str = InputField(desc="has a default", default="")

    (warning,) = journey(pathway(signature=Order, accumulate=["kept"])).spec.warnings

    assert warning == (
        "Trip.StartPath: no value is set for the required input 'doctor'. Accumulate it elsewhere, "
        "give it a default, or pass it to start()."
    )


def test_waiting_for_a_name_that_nobody_accumulates() -> None:
    (warning,) = journey(pathway(complete_when=["name"])).spec.warnings

    assert warning == (
        "Trip.StartPath: __complete_when__ needs 'name', which no pathway accumulates. "
        "Accumulate it, or pass it to start()."
    )


def test_a_name_that_a_transition_sets_is_not_waited_for_in_vain() -> None:
    rule = Transition(IntentTrigger(["yes"]), to_pathway="start", context_update={"ok": "set:yes"})

    assert journey(pathway(complete_when=["ok"]), __transitions__=[rule]).spec.warnings == ()


def test_a_pathway_without_agents() -> None:
    (warning,) = journey(pathway(agents=[])).spec.warnings

    assert warning == "Trip.StartPath: it has no agents, so it never replies."


def test_several_models_where_one_call_serves_the_turn() -> None:
    rules = [
        Transition(IntentTrigger(["a"], llm_model="small"), to_pathway="start"),
        Transition(IntentTrigger(["b"], llm_model="large"), to_pathway="start"),
    ]

    (warning,) = journey(pathway(), __transitions__=rules).spec.warnings

    assert warning.startswith("Trip: its transitions name several models (large, small)")


# Inputs and outputs.


def test_a_message_that_goes_to_a_name_of_the_context() -> None:
    class Order(Signature):
        name: str = InputField(desc="accumulated")
        question: str = InputField(desc="meant for the message")

    (warning,) = journey(pathway(signature=Order, accumulate=["name"])).spec.warnings

    assert warning == (
        "Trip.StartPath: no value is set for the required input 'question'. The user's "
        "message goes "
        "to 'name', which the context also has. If 'question' is for the message, give it "
        "source='message'."
    )


def test_texts_that_both_come_from_the_context_are_fine() -> None:
    class Order(Signature):
        name: str = InputField(desc="accumulated")
        town: str = InputField(desc="accumulated as well")

    assert journey(pathway(signature=Order, accumulate=["name", "town"])).spec.warnings == ()


def test_an_accumulated_name_that_is_a_slip_of_an_output() -> None:
    class Order(Signature):
        patient_info: str = OutputField(desc="what was told")
        doctor: str = OutputField(desc="who is meant")

    (warning,) = journey(pathway(signature=Order, accumulate=["patient_infos"])).spec.warnings

    assert warning.endswith("an output of its signature. Did you mean 'patient_info'?")
    both = pathway(signature=Order, accumulate=["patient_info", "patient_infos", "fee"])
    assert journey(both).spec.warnings == ()


# Transitions.


def test_an_update_that_reads_a_name_which_nobody_declares() -> None:
    (warning,) = warnings(intent("hi", to="other", context_update={"state": "open"}))

    assert warning == (
        "Trip.__transitions__[0]: context_update['state'] reads 'open', which no pathway "
        "accumulates and no update sets. For the text itself write 'set:open'."
    )


def test_an_update_may_read_what_is_accumulated_set_or_an_output() -> None:
    class Order(Signature):
        chosen: str = OutputField(desc="an output")

    update = {"a": "append:kept", "b": "set:x", "c": "copy:b", "d": "append:chosen", "e": "clear:"}
    start = pathway(signature=Order, accumulate=["kept"])
    rule = intent("hi", to="start", context_update=update)

    assert journey(start, __transitions__=[rule]).spec.warnings == ()


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        (IntentTrigger(), "it has no patterns and no description, so it never fires."),
        (
            IntentTrigger([], description="x", use_llm_fallback=False),
            "no patterns and no model, so it never fires.",
        ),
        (ConditionTrigger(), "it has no condition, so it never fires."),
    ],
)
def test_a_trigger_that_can_never_fire(trigger: BaseTrigger, said: str) -> None:
    (warning,) = warnings(Transition(trigger, to_pathway="other"))

    assert said in warning


def test_an_intent_with_a_description_alone_is_put_to_the_model() -> None:
    assert warnings(Transition(IntentTrigger(description="is cross"), to_pathway="other")) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [("*", "*"), ("*", "start"), ("start", "*"), (["start", "other"], ["other", "third"])],
)
def test_a_pattern_that_another_transition_has_taken(first: Any, second: Any) -> None:
    (warning,) = warnings(
        intent("Help  me", to="other", source=first),
        intent("x", "help ME", to="third", source=second),
    )

    assert warning == (
        "Trip.__transitions__[1]: the pattern 'help me' already leads to 'other', by "
        "Trip.__transitions__[0], which comes first where both apply. Give one of them another "
        "priority or other sources."
    )


class Calls(BaseTrigger):
    def evaluate(self, message: str, context: Any) -> bool:
        return False


def test_the_same_pattern_elsewhere_ranked_or_to_the_same_place_is_fine() -> None:
    assert (
        warnings(
            intent("help", to="other", source="start"),
            intent("help", to="third", source="other"),
            intent("help", to="other", source="start"),
            intent("help", to="third", source="start", priority=1),
            Transition(Calls(), to_pathway="third"),
        )
        == ()
    )
