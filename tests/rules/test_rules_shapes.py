"""The shapes of ADR-025, which declare no completion criterion, held against our rules.

DESIGN.md section 4, When is a pathway complete: a run that a transition or a return entered does
not complete its pathway, so booking is not left at "show me who there is".
"""

from __future__ import annotations

from typing import Any

from journeygraph import NEVER, ConditionTrigger, Journey, Pathway, ReturnToPrevious, Transition
from tests.support.clerks import clerk, gives, said, staff


class Referral(Journey):
    """Five pathways as ADR-025 shapes them, with the confirmation on arrival."""

    __entry_pathway__ = "intake"

    class IntakePath(Pathway):
        __agents__ = ["document_processor", "eligibility_checker"]
        __accumulate__ = ["patient_info", "eligibility_status"]
        __next__ = "booking"

    class BookingPath(Pathway):
        __agents__ = ["slot_finder", "doctor_matcher", "preference_analyzer"]
        __pipeline__ = "parallel"
        __accumulate__ = ["rejected_doctors", "preferences", "selected_doctor"]
        __next__ = "confirmation"

    class FAQPath(Pathway):
        __agents__ = ["rag_faq_agent"]
        __return_behavior__ = ReturnToPrevious()

    class PersuasionPath(Pathway):
        __agents__ = ["persuasion_agent"]
        __next__ = "booking"

    class ConfirmationPath(Pathway):
        __agents__ = ["confirmation_agent"]
        __runs_on_arrival__ = True

    class EscalationPath(Pathway):
        __agents__ = ["person"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(said("question", "what is", "why"), to_pathway="faq", priority=10),
        Transition(
            said("different doctor", "another option", "don't want"),
            "booking",
            "booking",
            context_update={"rejected_doctors": "append:selected_doctor"},
            priority=5,
        ),
        Transition(said("not sure", "let me think"), "booking", "persuasion", priority=5),
        Transition(
            ConditionTrigger(lambda context: context.get("escalation_count", 0) >= 3),
            to_pathway="escalation",
            priority=100,
        ),
    ]


def doctor(payload: dict[str, Any]) -> dict[str, Any]:
    """Suggest the first doctor who was not rejected."""
    gone = payload["context"].get("rejected_doctors", [])
    name = next(name for name in ("Ames", "Brandt", "Costa") if name not in gone)
    return {"response": f"Dr. {name} has time.", "selected_doctor": name}


async def referred(talk: Any, url: str) -> Any:
    agents = staff(Referral, doctor_matcher=doctor, slot_finder=gives(response="Tuesday at two."))
    agents["preference_analyzer"] = lambda payload: {}
    agents["confirmation_agent"] = clerk("booked")
    return await talk(Referral, agents, url, context={"insurance_id": "INS-1"})


async def test_the_shapes_of_the_seeds_end_at_the_fifth_turn_and_not_before(talk, memory_url):
    """DESIGN, "When is a pathway complete", undeclared: booking is not left at "show me"."""
    chat = await referred(talk, memory_url)
    offers = []
    for words in (
        "Hello, I need a heart specialist, here is my letter.",
        "Before that, what is the fee?",
        "All right, show me who there is.",
        "I don't want Ames, is there another option?",
        "Good, take that one on Tuesday.",
    ):
        offers.append(await chat.says(words))
        chat = await chat.restored()

    assert chat.path == ["booking", "faq", "booking", "booking", "confirmation"]
    assert [reply.is_journey_complete for reply in chat.replies] == [False] * 4 + [True]
    assert offers[2] == "Tuesday at two.\n\nDr. Ames has time."
    assert offers[3] == "Tuesday at two.\n\nDr. Brandt has time."
    assert offers[4].endswith("booked: Good, take that one on Tuesday.")
    assert chat.context["rejected_doctors"] == ["Ames"]


async def test_the_shapes_of_the_seeds_also_hold_for_a_patient_in_doubt(talk, memory_url):
    """DESIGN, "When is a pathway complete", undeclared, off the script."""
    chat = await referred(talk, memory_url)
    for words in (
        "my letter",
        "what is a referral?",
        "why do I need one?",
        "a different doctor than Ames",
        "I am not sure",
        "what is good about it?",
        "you are right",
        "so be it",
        "yes, book it",
    ):
        await chat.says(words)

    assert chat.path == [
        *("booking", "faq", "faq", "booking", "persuasion"),
        *("faq", "persuasion", "booking", "confirmation"),
    ]
    assert [reply.is_journey_complete for reply in chat.replies] == [False] * 8 + [True]
