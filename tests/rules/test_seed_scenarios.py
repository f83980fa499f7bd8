"""The test scenarios of the two founding documents, held with real agents on the real graph.

ADR-025 is document 000, the paper on PathwayManager and ContextAccumulator document 001. Where we
read them differently, the docstring names the row of DESIGN.md section 4 that decides.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    ConditionTrigger,
    ContextSizeExceededError,
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyError,
    MaxPathwayDepthError,
    MergeStrategy,
    OutputField,
    Pathway,
    PathwayNotFoundError,
    ReturnToPrevious,
    SessionNotStartedError,
    Signature,
    Transition,
)
from journeygraph.graphs.session.manager import PathwayManager

Payload = dict[str, Any]


class IntakeSignature(Signature):
    """Take in who the patient is."""

    patient_message: str = InputField(description="what the patient says")
    documents: str = InputField(description="papers handed in", default="")
    response: str = OutputField(description="what happens next")
    patient_info: dict = OutputField(description="what is known of the patient")
    eligibility_status: str = OutputField(description="eligible, pending or ineligible")


class BookingSignature(Signature):
    """Find a doctor and a time."""

    patient_message: str = InputField(description="what the patient says")
    preferences: dict = InputField(description="what the patient likes", default={})
    rejected_doctors: list = InputField(description="who was turned down", default=[])
    response: str = OutputField(description="who is suggested")
    selected_doctor: dict = OutputField(description="the doctor at hand")
    available_slots: list = OutputField(description="free times")


class FAQSignature(Signature):
    """Answer a question."""

    question: str = InputField(description="what is asked")
    response: str = OutputField(description="the answer")


class ConfirmationSignature(Signature):
    """Confirm the appointment."""

    response: str = OutputField(description="the confirmation")
    confirmation_number: str = OutputField(description="its number")


class Referral(Journey):
    """The shape of ADR-025 section 7.1: nowhere does it say when a pathway is complete."""

    __entry_pathway__ = "intake"

    class IntakePath(Pathway):
        __signature__ = IntakeSignature
        __agents__ = ["document_processor", "eligibility_checker"]
        __pipeline__ = "sequential"
        __accumulate__ = ["patient_info", "eligibility_status"]
        __next__ = "booking"

    class BookingPath(Pathway):
        __signature__ = BookingSignature
        __agents__ = ["slot_finder", "doctor_matcher", "preference_analyzer"]
        __pipeline__ = "parallel"
        __accumulate__ = ["rejected_doctors", "preferences", "selected_doctor"]
        __next__ = "confirmation"

    class FAQPath(Pathway):
        __signature__ = FAQSignature
        __agents__ = ["rag_faq_agent"]
        __return_behavior__ = ReturnToPrevious()

    class PersuasionPath(Pathway):
        __agents__ = ["persuasion_agent"]
        __next__ = "booking"

    class ConfirmationPath(Pathway):
        __signature__ = ConfirmationSignature
        __agents__ = ["confirmation_agent"]
        __accumulate__ = ["confirmation_number"]
        __runs_on_arrival__ = True

    class EscalationPath(Pathway):
        __agents__ = ["persuasion_agent"]

    __transitions__ = [
        Transition(
            trigger=IntentTrigger(patterns=["question", "help", "what is", "how do I", "why"]),
            from_pathway="*",
            to_pathway="faq",
            priority=10,
        ),
        Transition(
            trigger=IntentTrigger(patterns=["different doctor", "another option", "don't want"]),
            from_pathway="booking",
            to_pathway="booking",
            context_update={"rejected_doctors": "append:selected_doctor"},
            priority=5,
        ),
        Transition(
            trigger=IntentTrigger(patterns=["not sure", "maybe later", "let me think", "hesitant"]),
            from_pathway="booking",
            to_pathway="persuasion",
            priority=5,
        ),
        Transition(
            trigger=ConditionTrigger(condition=lambda ctx: ctx.get("escalation_count", 0) >= 3),
            from_pathway="*",
            to_pathway="escalation",
            priority=100,
        ),
    ]


DOCTORS = [{"id": "smith"}, {"id": "johnson"}, {"id": "lee"}]


def match_doctor(payload: Payload) -> Payload:
    turned_down = payload["rejected_doctors"]
    doctor = next(doctor for doctor in DOCTORS if doctor not in turned_down)
    return {"response": f"How about {doctor['id']}?", "selected_doctor": doctor}


AGENTS: dict[str, Any] = {
    "document_processor": lambda p: {"patient_info": {"said": p["patient_message"]}},
    "eligibility_checker": lambda p: {
        "eligibility_status": "eligible" if p["patient_info"] else "pending",
        "response": "Thank you, let us find a doctor.",
    },
    "slot_finder": lambda p: {"available_slots": ["Tue 14:00"]},
    "doctor_matcher": match_doctor,
    "preference_analyzer": lambda p: {"preferences": {"asked": p["message"]}},
    "rag_faq_agent": lambda p: f"About '{p['question']}': 20 dollars.",
    "persuasion_agent": lambda p: "Take the time you need.",
    "confirmation_agent": lambda p: {"response": "Booked.", "confirmation_number": "C-1"},
}


@pytest.fixture
def referral(talk: Any, memory_url: str) -> Any:
    """Open the referral: `await referral(context=...)`."""

    async def begin(**options: Any) -> Any:
        return await talk(Referral, AGENTS, memory_url, **options)

    return begin


# 000, section 7.2: the referral.


@pytest.mark.parametrize(
    ("before", "place"),
    [
        ([], "intake"),
        (["my referral"], "booking"),
        (["my referral", "I am not sure"], "persuasion"),
        (["my referral", "book it"], "confirmation"),
    ],
)
async def test_000_faq_intent_triggers_from_any_pathway(
    referral: Any, before: list[str], place: str
) -> None:
    chat = await referral()
    for words in before:
        await chat.says(words)
    state = await chat.journey.get_session_state()
    assert state.current_pathway_id == place

    assert await chat.says("What is the copay?") == "About 'What is the copay?': 20 dollars."
    assert chat.last.transition_occurred
    assert chat.last.transition_to == "faq"
    assert chat.stack == [place]


async def test_000_rejected_doctors_accumulate(referral: Any) -> None:
    """Row "context_update": applied before booking runs, so it suggests somebody else at once."""
    chat = await referral()
    await chat.says("my referral")
    assert await chat.says("I don't want to wait") == "How about smith?"

    assert await chat.says("I don't want this doctor") == "How about johnson?"
    assert await chat.says("Is there another option") == "How about lee?"

    assert chat.context["rejected_doctors"] == [{"id": "smith"}, {"id": "johnson"}]
    assert chat.path == ["booking"] * 4


async def test_000_a_doctor_from_the_initial_context_can_be_rejected(referral: Any) -> None:
    chat = await referral(context={"selected_doctor": {"id": "dr1"}})
    await chat.says("my referral")

    await chat.says("I don't want this doctor")

    assert {"id": "dr1"} in chat.context["rejected_doctors"]


async def test_000_intake_proceeds_to_booking(referral: Any) -> None:
    """Rows "When is a pathway complete" and "__next__": booking then waits for the user."""
    chat = await referral()

    assert await chat.says("Here's my referral and insurance info") == (
        "Thank you, let us find a doctor."
    )
    assert chat.last.pathway_id == "booking"
    assert chat.last.pathway_changed
    assert chat.last.transition_to is None
    assert chat.context == {
        "patient_info": {"said": "Here's my referral and insurance info"},
        "eligibility_status": "eligible",
    }


# 001, Tests 1 to 5.


class Small(Journey):
    class IntakePath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = {
            "name": None,
            "rejected_doctors": MergeStrategy.APPEND,
            "preferences": MergeStrategy.UNION,
        }
        __complete_when__ = NEVER

    class FAQPath(Pathway):
        __agents__ = ["librarian"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(["faq", "your hours", "help"]), to_pathway="faq"),
    ]


def small_agents(**outputs: Any) -> dict[str, Any]:
    return {
        "clerk": lambda payload: {"response": "Noted.", **outputs},
        "librarian": lambda payload: "From nine to five.",
    }


async def test_001_1_a_message_before_the_start_is_refused(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    manager = PathwayManager(Small, "session-1", config, agents=small_agents())

    with pytest.raises(RuntimeError, match="Session not started") as raised:
        await manager.process_message("Hello")

    assert isinstance(raised.value, SessionNotStartedError)
    assert await manager.get_session_state() is None
    await manager.close()


async def test_001_4_memory_by_its_old_name_outlives_the_handle() -> None:
    """Row "Stores": one in memory for the process, shared by all who open it."""
    config = JourneyConfig(context_persistence="memory")
    name = f"test-{uuid.uuid4()}"

    async with Small(name, config, agents=small_agents()) as first:
        await first.start({"name": "Alice"})
    async with await Small.restore(name, config, agents=small_agents()) as second:
        session = await second.get_session_state()

        assert session is not None
        assert session.current_pathway_id == "intake"
        assert session.accumulated_context == {"name": "Alice"}
        await second.delete()


# 001, errors.


def test_001_errors_carry_what_the_paper_gives_them() -> None:
    lost = PathwayNotFoundError("bookng", ["intake", "booking"])
    large = ContextSizeExceededError(2_000, 1_000)
    deep = MaxPathwayDepthError(11, 10)

    assert (lost.pathway_id, lost.available) == ("bookng", ["intake", "booking"])
    assert "Did you mean 'booking'?" in str(lost)
    assert (large.current_size, large.max_size) == (2_000, 1_000)
    assert (deep.depth, deep.max_depth) == (11, 10)
    assert all(isinstance(error, JourneyError) for error in (lost, large, deep))
    assert isinstance(lost, ValueError)
    assert isinstance(large, ValueError)
    assert isinstance(deep, RuntimeError)
    assert issubclass(SessionNotStartedError, RuntimeError)
