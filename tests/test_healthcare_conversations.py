"""The healthcare referral held through the real graph: the script, and talk that leaves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from journeys.examples.healthcare_referral import (
    DEMO_MESSAGES,
    SAMPLE_CONTEXT,
    Clinic,
    HealthcareReferral,
    build_agents,
)
from journeys.examples.healthcare_referral.material import Slot
from tests.healthcare import doctor
from tests.talk import Talk

INTAKE, COPAY, SHOW, REJECT, BOOK = DEMO_MESSAGES
Opened = Callable[..., Awaitable[Talk]]


@pytest.fixture
def referral(talk: Callable[..., Awaitable[Talk]], memory_url: str) -> Opened:
    """Open a referral: `await referral("said", "said", ..., context=..., clinic=...)`."""

    async def begin(*said: str, clinic: Clinic | None = None, **kwargs: Any) -> Talk:
        kwargs = {"context": SAMPLE_CONTEXT, **kwargs}
        opened = await talk(HealthcareReferral, build_agents(clinic), memory_url, **kwargs)
        for message in said:
            await opened.says(message)
        return opened

    return begin


def at_hand(patient: Talk) -> str:
    return patient.context["selected_doctor"]["id"]


def rejected(patient: Talk) -> list[str]:
    return [row["id"] for row in patient.context.get("rejected_doctors", [])]


def booked(patient: Talk) -> str | None:
    details = patient.context.get("booking_details")
    return f"{details['doctor_id']} {details['day']} {details['time']}" if details else None


async def test_the_five_turns_of_the_script_end_with_a_confirmed_appointment(
    talk: Callable[..., Awaitable[Talk]], store_url: str
) -> None:
    patient = await talk(HealthcareReferral, build_agents(), store_url, context=SAMPLE_CONTEXT)

    assert "covers cardiology" in await patient.says(INTAKE)
    assert (patient.last.pathway_id, patient.last.transition_to) == ("booking", None)

    assert "40 dollars" in await patient.says(COPAY)
    assert (patient.last.pathway_id, patient.last.transition_to) == ("faq", "faq")
    assert patient.stack == ["booking"]

    assert "1. Dr. Alan Smith" in await patient.says(SHOW)
    assert (patient.last.pathway_id, patient.last.transition_to) == ("booking", None)

    assert "1. Dr. Rebecca Johnson" in await patient.says(REJECT)
    assert (patient.last.pathway_id, patient.last.transition_to) == ("booking", "booking")
    assert rejected(patient) == ["dr-smith"]
    assert at_hand(patient) == "dr-johnson"

    reply = await patient.says(BOOK)
    assert patient.ran == ["booking", "confirmation"]
    assert patient.last.is_journey_complete
    assert booked(patient) == "dr-johnson Tuesday 14:00"
    assert patient.context["confirmation_number"] in reply
    assert await patient.audited()


async def test_two_rejections_lead_to_two_other_doctors(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "no, a different doctor", "another one please")

    assert rejected(patient) == ["dr-smith", "dr-johnson"]
    assert at_hand(patient) == "dr-ortega"
    await patient.says("none of these")
    await patient.says("someone else")
    assert "There is nobody left for cardiology" in patient.last.message
    assert patient.last.pathway_id == "booking"


async def test_a_rejection_by_name_spares_the_doctor_at_hand(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "I don't want Dr. Johnson. Who else is there?")

    assert rejected(patient) == ["dr-johnson"]
    assert at_hand(patient) == "dr-smith"


async def test_a_rejection_that_ends_in_a_question_is_still_a_rejection(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "I don't want Dr. Smith. What is the next option?")

    assert patient.last.pathway_id == "booking"
    assert rejected(patient) == ["dr-smith"]


async def test_turning_down_a_time_turns_down_no_doctor(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "I don't want mornings")

    assert rejected(patient) == []
    assert patient.context["preferences"] == {"not_parts": ["morning"]}


async def test_a_question_before_anything_was_said_leads_back_to_intake(referral: Opened) -> None:
    patient = await referral("What documents do I need?")
    assert patient.stack == ["intake"]
    assert "VIS-01" in patient.last.message

    await patient.says("Thanks. I need a skin doctor, my GP sent me")
    assert patient.path == ["faq", "booking"]
    assert patient.context["patient_info"]["specialty"] == "dermatology"


async def test_a_question_inside_a_question_leads_back_to_the_booking(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "what is a deductible?", "and how long is it valid?")
    assert patient.stack == ["booking"]

    await patient.says("ok, Dr. Johnson on Thursday please")
    assert patient.last.is_journey_complete
    assert booked(patient) == "dr-johnson Thursday 09:30"


@pytest.mark.parametrize(
    "question",
    ["What is available on Friday?", "Is there a female doctor?", "When is Dr. Johnson free?"],
)
async def test_questions_about_doctors_and_times_are_answered_by_the_desk(
    referral: Opened, question: str
) -> None:
    patient = await referral(INTAKE, SHOW, question)

    assert patient.last.pathway_id == "booking"
    assert "Free" in patient.last.message
    await patient.says(COPAY)
    await patient.says(question)
    assert (patient.last.pathway_id, patient.stack) == ("booking", [])


async def test_a_question_for_a_specialist_counts_as_intake(referral: Opened) -> None:
    patient = await referral("Can I see a cardiologist on Tuesday?")

    assert patient.last.pathway_id == "booking"
    assert patient.context["preferences"] == {"days": ["Tuesday"]}


async def test_a_hesitating_patient_is_heard_and_then_goes_on(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "I'm not sure about this")
    assert (patient.last.pathway_id, patient.last.transition_to) == ("persuasion", "persuasion")

    assert "billing desk" in await patient.says("it is the cost")
    assert patient.last.pathway_id == "persuasion"
    assert "Dr. Alan Smith" in await patient.says("ok, let's go on")
    assert patient.last.pathway_id == "booking"
    await patient.says("book the first slot")
    assert booked(patient) == "dr-smith Monday 08:30"


async def test_a_hesitating_patient_may_ask_for_another_doctor_at_once(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "let me think", "I'd like a different doctor")

    assert patient.last.pathway_id == "booking"
    assert rejected(patient) == ["dr-smith"]
    assert at_hand(patient) == "dr-johnson"


async def test_three_open_concerns_bring_in_a_person_and_the_booking_can_go_on(
    referral: Opened,
) -> None:
    patient = await referral(INTAKE, SHOW, "I'm not sure", "it is far away", "and I'm scared")
    assert patient.context["resolution"] == "escalate"
    assert patient.context["escalation_count"] == 3

    assert "care coordination desk" in await patient.says("hm")
    assert (patient.last.pathway_id, patient.last.transition_to) == ("escalation", "escalation")
    assert "escalation_count" not in patient.context
    assert patient.context["handover"]["proposed"] == "Dr. Alan Smith"

    await patient.says("ok thanks")
    await patient.says("book Wednesday at 11")
    assert patient.path[-2:] == ["booking", "confirmation"]


@pytest.mark.parametrize("said", [(), (INTAKE,), (INTAKE, SHOW, "I'm not sure")])
async def test_a_person_can_be_asked_for_anywhere(referral: Opened, said: tuple[str, ...]) -> None:
    patient = await referral(*said)
    before = patient.path[-1:] or ["intake"]
    await patient.says("Can I talk to a person?")

    assert patient.last.pathway_id == "escalation"
    assert "555-0142" in patient.last.message
    assert patient.stack == before


async def test_a_taken_slot_is_refused_and_another_one_is_booked(referral: Opened) -> None:
    clinic = Clinic()
    clinic.book("MER-999999", doctor("johnson"), Slot("Tuesday", "14:00"))
    patient = await referral(INTAKE, SHOW, REJECT, BOOK, clinic=clinic)
    assert "already taken" in patient.last.message
    assert (patient.last.pathway_id, booked(patient)) == ("booking", None)

    await patient.says("16:30 then")
    assert patient.last.is_journey_complete
    assert booked(patient) == "dr-johnson Tuesday 16:30"


async def test_of_many_patients_who_want_one_slot_one_gets_it(
    referral: Opened,
) -> None:
    clinic = Clinic()
    patients = [
        await referral(INTAKE, SHOW, clinic=clinic, session_id=f"s-{n}", context=context)
        for n in range(5)
        for context in [{"insurance_id": f"INS-10000{n}"}]
    ]
    await asyncio.gather(*(patient.says("Dr. Johnson, Tuesday 2pm") for patient in patients))

    assert sum(booked(patient) is not None for patient in patients) == 1


async def test_wishes_that_change_midway_hold_in_their_newest_form(referral: Opened) -> None:
    patient = await referral(
        INTAKE,
        "I'd prefer a Spanish speaking doctor",
        "actually in the morning, on Thursday",
        "any day is fine",
        "near the harbour",
    )
    assert patient.context["preferences"] == {
        "language": "Spanish",
        "part": "morning",
        "place": "Harbour",
    }

    await patient.says("book Friday 10:30")
    assert booked(patient) == "dr-ortega Friday 10:30"


async def test_another_specialty_midway_brings_other_doctors(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "actually I need an eye doctor", "Dr. Singh", "Tuesday")
    assert "Shall I book it?" in patient.last.message

    await patient.says("yes")
    assert booked(patient) == "dr-singh Tuesday 08:00"


async def test_an_insurance_that_does_not_pay_holds_the_patient_at_intake(
    referral: Opened,
) -> None:
    patient = await referral(INTAKE, context={"insurance_id": "OAK-123456"})
    assert patient.last.pathway_id == "intake"
    assert patient.context["eligibility_status"] == "ineligible"

    await patient.says("My new number is NWH-445566")
    assert patient.last.pathway_id == "booking"
    assert "does not pay for dermatology" in await patient.says("I need a dermatologist")


async def test_who_pays_alone_needs_no_insurance(referral: Opened) -> None:
    patient = await referral("I need a dermatologist", "what does self-pay cost?", context={})
    assert "FIN-03" in patient.last.message

    await patient.says("self-pay then")
    await patient.says("show me")
    await patient.says("the first one")
    await patient.says("the last slot please")
    assert booked(patient) == "dr-weber Thursday 13:30"


async def test_intake_asks_for_one_thing_after_the_other_until_all_is_settled(
    referral: Opened,
) -> None:
    patient = await referral("hi", "a heart specialist", "INS 123456", "no", context={})
    assert patient.path == ["intake"] * 4

    await patient.says("ok, I do have a referral now")
    assert patient.last.pathway_id == "booking"


async def test_gibberish_moves_nothing_and_is_never_met_with_silence(referral: Opened) -> None:
    patient = await referral("asdkj qwe", "???", INTAKE, "blorp", "🤷", SHOW, "fnord", "no", "...")

    assert patient.path == ["intake", "intake", *["booking"] * 7]
    assert all(reply.message for reply in patient.replies)
    assert booked(patient) is None


async def test_after_the_end_questions_are_answered_and_the_time_can_be_changed(
    referral: Opened,
) -> None:
    patient = await referral(INTAKE, SHOW, "book the first slot")
    assert "Dr. Alan Smith" in await patient.says("When is my appointment?")
    assert patient.last.is_journey_complete

    await patient.says("I need to reschedule")
    assert (patient.last.pathway_id, booked(patient)) == ("booking", None)
    await patient.says("Thursday 3:30pm please")
    assert patient.last.is_journey_complete
    assert booked(patient) == "dr-smith Thursday 15:30"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Friday 10am", "1. Dr. Luis Ortega"),
        ("Actually no, Friday afternoon", "1. Dr. Mei Chen"),
        ("Do you have anything on Friday?", "1. Dr. Luis Ortega"),
        ("Could I come Thursday instead?", "1. Dr. Rebecca Johnson"),
        ("I'd rather see Dr. Smith", "Dr. Alan Smith"),
        ("that is too late for me", "Free are"),
        ("actually no", "nothing is booked any more"),
        ("please cancel", "nothing is booked any more"),
    ],
)
async def test_a_confirmed_patient_may_change_their_mind(
    referral: Opened, said: str, answer: str
) -> None:
    patient = await referral(*DEMO_MESSAGES)

    assert answer in await patient.says(said)
    assert (patient.last.pathway_id, booked(patient)) == ("booking", None)
    assert "confirmation_number" not in patient.context
    await patient.says("Dr. Ortega, Friday 10:30 please")
    assert patient.last.is_journey_complete
    assert booked(patient) == "dr-ortega Friday 10:30"


@pytest.mark.parametrize(
    "said",
    [
        "no", "ok great", "no thanks", "See you on Tuesday, thanks!", "Tuesday 2pm, perfect",
        "Thanks, have a nice weekend", "What if I need to cancel?", "Is there parking on Saturday?",
        "What should I bring for Dr. Johnson?",
    ],
)  # fmt: skip
async def test_small_talk_after_the_end_keeps_the_appointment(referral: Opened, said: str) -> None:
    patient = await referral(*DEMO_MESSAGES, said)

    assert booked(patient) == "dr-johnson Tuesday 14:00"
    assert patient.last.is_journey_complete


async def test_who_cancels_makes_room_for_others(referral: Opened) -> None:
    clinic = Clinic()
    patient = await referral(*DEMO_MESSAGES, "I have to cancel", clinic=clinic)

    assert patient.last.pathway_id == "booking"
    assert clinic.appointments("INS-123456") == []


async def test_a_conversation_goes_on_after_a_restart(
    talk: Callable[..., Awaitable[Talk]], store_url: str
) -> None:
    patient = await talk(HealthcareReferral, build_agents(), store_url, context=SAMPLE_CONTEXT)
    for message in DEMO_MESSAGES:
        await patient.says(message)
        if store_url.startswith("sqlite"):
            await patient.restored()

    assert patient.path == ["booking", "faq", "booking", "booking", "confirmation"]
    assert booked(patient) == "dr-johnson Tuesday 14:00"


async def test_a_booking_that_was_rolled_back_is_made_anew_and_held_once(
    referral: Opened,
) -> None:
    clinic = Clinic()
    patient = await referral(INTAKE, SHOW, "book the first slot", clinic=clinic)
    await patient.journey.rollback(2)
    await patient.says("Dr. Johnson, Tuesday 2pm")

    assert booked(patient) == "dr-johnson Tuesday 14:00"
    assert clinic.appointments("INS-123456") == [("dr-johnson", Slot("Tuesday", "14:00"))]
