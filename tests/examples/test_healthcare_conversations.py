"""The healthcare referral held through the real graph: the script, and talk that leaves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from journeygraph.journeys.examples.healthcare_referral import (
    AGENTS,
    CLINIC,
    DEMO_MESSAGES,
    SAMPLE_CONTEXT,
    HealthcareReferral,
)
from journeygraph.journeys.examples.healthcare_referral.clinic import DOCTORS
from tests.support.talk import Talk

INTAKE, COPAY, SHOW, REJECT, BOOK, YES = DEMO_MESSAGES
ANA = SAMPLE_CONTEXT["insurance_id"]
SHOW_THEM = "Shall I show you the available doctors?"
Opened = Callable[..., Awaitable[Talk]]


@pytest.fixture(autouse=True)
def _empty_book() -> None:
    CLINIC.clear()


@pytest.fixture
def referral(talk: Callable[..., Awaitable[Talk]], memory_url: str) -> Opened:
    """Open a referral: `await referral("said", "said", ..., context=...)`."""

    async def begin(*said: str, **kwargs: Any) -> Talk:
        kwargs = {"context": SAMPLE_CONTEXT, **kwargs}
        opened = await talk(HealthcareReferral, AGENTS, memory_url, **kwargs)
        for message in said:
            await opened.says(message)
        return opened

    return begin


def rejected(patient: Talk) -> list[str]:
    return [row["name"] for row in patient.context.get("rejected_doctors", [])]


def booked(patient: Talk) -> str | None:
    details = patient.context.get("booking_details")
    return f"{details['doctor']} {details['day']} {details['time']}" if details else None


async def test_the_turns_of_the_script_end_with_a_confirmed_appointment(
    talk: Callable[..., Awaitable[Talk]], memory_url: str
) -> None:
    patient = await talk(HealthcareReferral, AGENTS, memory_url, context=SAMPLE_CONTEXT)

    said = await patient.says(INTAKE)
    assert "Your insurance INS-123456 (Meridian Standard) is active and covers cardiology." in said
    assert (patient.last.pathway_id, patient.last.transition_to) == ("booking", None)
    assert patient.context["eligibility_status"] == "eligible"

    said = await patient.says(COPAY)
    assert "With Meridian Standard it is 40 dollars. (Handbook, FIN-01)" in said
    assert said.partition("Back to the booking.")[2].strip().startswith(SHOW_THEM)
    assert (patient.last.pathway_id, patient.last.transition_to) == ("faq", "faq")
    assert patient.stack == ["booking"]

    assert "1. Dr. Alan Smith" in await patient.says(SHOW)
    assert (patient.last.pathway_id, patient.stack) == ("booking", [])

    assert "1. Dr. Rebecca Johnson" in await patient.says(REJECT)
    assert (patient.last.pathway_id, patient.last.transition_to) == ("booking", "booking")
    assert rejected(patient) == ["Dr. Alan Smith"]

    assert "Is that right?" in await patient.says(BOOK)
    assert booked(patient) is None

    reply = await patient.says(YES)
    assert patient.ran == ["booking", "confirmation"]
    assert patient.last.is_journey_complete
    assert booked(patient) == "Dr. Rebecca Johnson Tuesday 14:00"
    assert patient.context["confirmation_number"] in reply
    for part in ("Tuesday at 14:00", "Riverside", "tram 4", "ECG", "another time"):
        assert part in reply
    assert CLINIC.appointments(ANA) == [("Dr. Rebecca Johnson", "Tuesday 14:00")]


# Intake


@pytest.mark.parametrize(
    ("message", "specialty"),
    [
        ("I need a heart doctor", "cardiology"),
        ("My GP sent me, I have a rash", "dermatology"),
        ("looking for an ENT", "otolaryngology"),
        ("Orthopaedist please", "orthopedics"),
        ("I've had migraines for months", "neurology"),
        ("I was referred to a skin doctor", "dermatology"),
        ("Can I see a cardiologist?", "cardiology"),
    ],
)
async def test_a_specialty_is_known_by_the_words_of_lay_people(
    referral: Opened, message: str, specialty: str
) -> None:
    patient = await referral(message)

    assert patient.context["specialty"] == specialty
    assert patient.last.pathway_id == "booking"


async def test_intake_asks_for_one_thing_after_the_other_until_all_is_settled(
    referral: Opened,
) -> None:
    patient = await referral("hi", "a heart specialist", "INS 123456", context={})
    assert [reply.message.partition("?")[0] for reply in patient.replies] == [
        "Which kind of specialist do you need, and do you have a referral",
        "What is your insurance number",
        "Do you have a referral from your primary care doctor",
    ]

    assert "Your plan asks for a referral" in await patient.says("no")
    assert patient.path == ["intake"] * 4
    await patient.says("ok, I do have a referral now")
    assert patient.last.pathway_id == "booking"


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("OAK-123456", "OAK-123456 cannot be used: Oakline closed its plans"),
        ("XYZ-111111", "I cannot place the number XYZ-111111"),
        ("NWH-445566", "your plan Northwind Basic does not pay for dermatology"),
    ],
)
async def test_an_insurance_that_does_not_pay_holds_the_patient_at_intake(
    referral: Opened, number: str, reason: str
) -> None:
    patient = await referral("I need a skin doctor", context={"insurance_id": number})
    assert reason in patient.last.message
    assert "What is your insurance number?" in patient.last.message
    assert patient.last.pathway_id == "intake"

    await patient.says("My new number is MER-445566")
    assert (patient.last.pathway_id, patient.context["eligibility_status"]) == (
        "booking",
        "eligible",
    )


async def test_who_pays_alone_books_under_a_phone_number(referral: Opened) -> None:
    patient = await referral("I need a dermatologist", "what does self-pay cost?", context={})
    assert "FIN-03" in patient.last.message

    await patient.says("self-pay then")
    assert "You pay for the visit yourself." in await patient.says("+1 212 555 0187")
    for message in ("show me", "Dr. Weber", "Thursday 13:30", "yes"):
        await patient.says(message)
    assert booked(patient) == "Dr. Anna Weber Thursday 13:30"
    assert CLINIC.appointments("+12125550187") == [("Dr. Anna Weber", "Thursday 13:30")]


async def test_a_plan_without_referrals_asks_for_none(referral: Opened) -> None:
    patient = await referral("A cardiologist please", context={"insurance_id": "MER-111111"})

    assert patient.last.pathway_id == "booking"
    assert "Meridian Plus" in patient.last.message


# Suggesting


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ("a woman if possible", "Dr. Rebecca Johnson"),
        ("one who speaks Mandarin", "Dr. Mei Chen"),
        ("in the Harbour district", "Dr. Luis Ortega"),
        ("Saturday only", "Dr. Amara Okafor"),
        ("in the evening please", "Dr. Luis Ortega"),
        ("a French speaking woman, in the afternoon", "Dr. Amara Okafor"),
    ],
)
async def test_the_best_match_for_what_was_wished_comes_first(
    referral: Opened, message: str, first: str
) -> None:
    patient = await referral(INTAKE, message)

    assert f"1. {first}" in patient.last.message


async def test_a_day_that_is_ruled_out_is_not_offered(referral: Opened) -> None:
    patient = await referral(INTAKE, "yes, but not on Mondays")
    assert patient.context["not_on"] == "not Monday"
    reply = await patient.says("Dr. Smith please")
    assert "Monday" not in reply
    assert "Wednesday 11:00" in reply


async def test_what_somebody_else_needs_of_a_doctor_is_a_wish(referral: Opened) -> None:
    patient = await referral(INTAKE, "my daughter needs a woman")
    assert patient.context["gender"] == "female"


async def test_a_question_about_a_doctor_does_not_choose_her(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "Is Dr. Chen a woman?")
    assert "selected_doctor" not in patient.context
    await patient.says("Dr. Chen please")
    assert patient.context["selected_doctor"] == "Dr. Mei Chen"


async def test_wishes_that_change_midway_hold_in_their_newest_form(referral: Opened) -> None:
    patient = await referral(
        INTAKE, "a Spanish speaking doctor, on Tuesday", "actually Friday", "near the harbour"
    )
    wished = {name: patient.context.get(name) for name in ("language", "day", "place")}
    assert wished == {"language": "Spanish", "day": "Friday", "place": "Harbour"}

    await patient.says("Dr. Ortega, Friday 10:30")
    await patient.says(YES)
    assert booked(patient) == "Dr. Luis Ortega Friday 10:30"


async def test_another_specialty_midway_brings_other_doctors(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "Dr. Johnson", "actually I need an eye doctor", YES)
    assert "Dr. Rebecca Johnson works in cardiology." in patient.last.message

    await patient.says("Dr. Singh")
    await patient.says("Tuesday")
    assert booked(patient) == "Dr. Arjun Singh Tuesday 08:00"


async def test_a_specialty_that_the_plan_does_not_pay_for_is_not_booked(referral: Opened) -> None:
    context = {"insurance_id": "NWH-123456", "referral_source": "primary_care"}
    patient = await referral(INTAKE, SHOW, "actually I need a dermatologist", YES, context=context)
    assert "Northwind Basic does not pay for dermatology" in patient.last.message

    await patient.says("self-pay then")
    assert "For dermatology I suggest" in await patient.says("+1 212 555 0187")


async def test_rejected_doctors_are_not_suggested_again_until_nobody_is_left(
    referral: Opened,
) -> None:
    patient = await referral(INTAKE, SHOW)
    for turn, said in enumerate(
        ("no, a different doctor", "another one please", "none of these", "someone else"), 1
    ):
        await patient.says(said)
        assert len(rejected(patient)) == turn
    suggested = patient.last.message.partition("For cardiology")[2]
    assert not [name for name in rejected(patient) if name in suggested]

    await patient.says("another option")
    assert "There is nobody left" in await patient.says("somebody else")
    assert patient.last.pathway_id == "booking"
    await patient.says("Dr. Smith")
    assert patient.context["selected_doctor"] == "Dr. Alan Smith"


@pytest.mark.parametrize(
    "said",
    [
        "I don't want Dr. Johnson. Who else is there?",
        "I don't want Dr. Johnson. What is the next option?",
    ],
)
async def test_a_rejection_by_name_spares_the_doctor_at_hand(referral: Opened, said: str) -> None:
    patient = await referral(INTAKE, SHOW, said)

    assert rejected(patient) == ["Dr. Rebecca Johnson"]
    assert "1. Dr. Alan Smith" in patient.last.message


async def test_a_chosen_doctor_can_be_turned_down_too(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "Dr. Johnson", "hm, someone else please")

    assert rejected(patient) == ["Dr. Rebecca Johnson"]
    assert "selected_doctor" not in patient.context
    assert "1. Dr. Alan Smith" in patient.last.message


async def test_turning_down_a_time_turns_down_no_doctor(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "I don't want mornings")

    assert rejected(patient) == []


# Choosing


@pytest.mark.parametrize(
    ("messages", "appointment"),
    [
        (
            ["Dr. Johnson looks great. Book the Tuesday 2pm slot.", "yes"],
            "Rebecca Johnson Tuesday 14:00",
        ),
        (["the second one", "14:00"], "Rebecca Johnson Tuesday 14:00"),
        (["2", "14:00"], "Rebecca Johnson Tuesday 14:00"),
        (["Dr. Johnson", "Tuesday at 2"], "Rebecca Johnson Tuesday 14:00"),
        (["Dr. Johnson", "4:30 pm"], "Rebecca Johnson Tuesday 16:30"),
        (["Dr. Johnson on Thursday please", "yes", "yes"], "Rebecca Johnson Thursday 09:30"),
        (["Monday 8:30", "Dr. Smith", "yes"], "Alan Smith Monday 08:30"),
        (["I'll take Wednesday 11 am", "Dr. Smith", "yes"], "Alan Smith Wednesday 11:00"),
    ],
)
async def test_a_slot_is_booked_however_it_is_named(
    referral: Opened, messages: list[str], appointment: str
) -> None:
    patient = await referral(INTAKE, SHOW)
    for message in messages:
        assert booked(patient) is None
        await patient.says(message)

    assert booked(patient) == f"Dr. {appointment}"


@pytest.mark.parametrize(
    "said", ["What about Dr. Johnson?", "yes", "Dr. Weber on Monday", "Dr. Nobody at 9am", "blorp"]
)
async def test_nothing_is_booked_while_the_slot_is_open(referral: Opened, said: str) -> None:
    patient = await referral(INTAKE, SHOW, said)

    assert (booked(patient), patient.last.pathway_id) == (None, "booking")
    assert patient.last.message


async def test_a_taken_slot_is_not_offered_and_another_one_is_booked(referral: Opened) -> None:
    CLINIC.book("MER-999999", DOCTORS["Dr. Rebecca Johnson"], "Tuesday 14:00")
    patient = await referral(INTAKE, SHOW, REJECT, BOOK)
    assert booked(patient) is None
    assert "Tuesday 14:00" not in patient.last.message

    await patient.says("16:30 then")
    await patient.says(YES)
    assert booked(patient) == "Dr. Rebecca Johnson Tuesday 16:30"


async def test_a_slot_that_somebody_takes_meanwhile_is_refused(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "I'll take Tuesday 2pm")
    assert patient.context["slot"] == "Tuesday 14:00"
    CLINIC.book("MER-999999", DOCTORS["Dr. Rebecca Johnson"], "Tuesday 14:00")

    await patient.says("Dr. Johnson")
    assert booked(patient) is None
    assert CLINIC.appointments(ANA) == []


async def test_of_many_patients_who_want_one_slot_one_gets_it(referral: Opened) -> None:
    patients = [
        await referral(INTAKE, SHOW, session_id=f"s-{n}", context={**SAMPLE_CONTEXT, **context})
        for n in range(5)
        for context in [{"insurance_id": f"INS-10000{n}"}]
    ]
    for patient in patients:
        await patient.says("Dr. Johnson, Tuesday 2pm")
    await asyncio.gather(*(patient.says(YES) for patient in patients))

    assert sum(booked(patient) is not None for patient in patients) == 1


# Questions, doubts, people


async def test_a_question_before_anything_was_said_leads_back_to_intake(referral: Opened) -> None:
    patient = await referral("What documents do I need?")
    assert patient.stack == ["intake"]
    assert "VIS-01" in patient.last.message

    await patient.says("Thanks. I need a skin doctor, my GP sent me")
    assert patient.path == ["faq", "booking"]
    assert patient.context["specialty"] == "dermatology"


async def test_a_question_inside_a_question_leads_back_to_the_booking(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "what is a deductible?", "and how long is it valid?")
    assert patient.stack == ["booking"]

    await patient.says("ok, Dr. Johnson, Tuesday 2pm please")
    await patient.says(YES)
    assert booked(patient) == "Dr. Rebecca Johnson Tuesday 14:00"


@pytest.mark.parametrize(
    "question",
    ["What is available on Friday?", "Is there a female doctor?", "Which doctors speak German?"],
)
async def test_questions_about_doctors_and_times_are_answered_by_the_booking(
    referral: Opened, question: str
) -> None:
    patient = await referral(INTAKE, SHOW, question)

    assert patient.last.pathway_id == "booking"
    assert "Free" in patient.last.message
    await patient.says(COPAY)
    await patient.says(question)
    assert (patient.last.pathway_id, patient.stack) == ("booking", [])


async def test_a_hesitating_patient_is_taken_up_and_then_goes_on(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "I'm not sure about this")
    assert (patient.last.pathway_id, patient.last.transition_to) == ("persuasion", "persuasion")

    assert "billing desk" in await patient.says("it is the cost")
    assert patient.last.pathway_id == "persuasion"
    assert "Dr. Alan Smith" in await patient.says("ok, let's go on")
    assert patient.last.pathway_id == "booking"


async def test_an_authors_own_words_for_a_doubt_come_before_the_usual_ones(
    referral: Opened,
) -> None:
    patient = await referral(INTAKE, SHOW, "let me think")
    assert patient.last.pathway_id == "persuasion"

    await patient.says("I'd like a different doctor")
    assert patient.last.pathway_id == "booking"
    assert rejected(patient) == ["Dr. Alan Smith"]


async def test_a_no_is_an_answer_and_counts_as_no_open_concern(referral: Opened) -> None:
    patient = await referral(INTAKE, SHOW, "I'm not sure", "no, I don't")

    assert "nothing is booked" in patient.last.message
    assert patient.context["escalation_count"] == 1


async def test_three_open_concerns_bring_in_a_person_and_the_booking_can_go_on(
    referral: Opened,
) -> None:
    patient = await referral(INTAKE, SHOW, "I'm not sure", "it is far away", "and I'm scared")
    assert "care coordination (555-0142)" in patient.last.message
    case = await patient.journey.manager.escalation()
    assert case is not None
    assert case.payload["fields"]
    assert await patient.says("hm") == ""

    await patient.journey.manager.release(by="robin")
    assert "1. Dr. Alan Smith" in await patient.says("show me the doctors again")
    await patient.says("Dr. Smith, Monday 8:30")
    await patient.says(YES)
    assert patient.path[-2:] == ["booking", "confirmation"]


@pytest.mark.parametrize("said", [(), (INTAKE,), (INTAKE, SHOW, "I'm not sure")])
@pytest.mark.parametrize("wish", ["Can I talk to a person?", "I have chest pain!"])
async def test_a_person_is_called_from_anywhere(
    referral: Opened, said: tuple[str, ...], wish: str
) -> None:
    patient = await referral(*said, wish)

    assert "call 911 now" in patient.last.message
    assert await patient.journey.manager.escalation() is not None


async def test_gibberish_moves_nothing_and_is_never_met_with_silence(referral: Opened) -> None:
    patient = await referral("asdkj qwe", "???", INTAKE, "blorp", "🤷", SHOW, "fnord", "...")

    assert patient.path == ["intake", "intake", *["booking"] * 6]
    assert all(reply.message for reply in patient.replies)
    assert booked(patient) is None


# After the end


async def test_after_the_end_questions_are_answered_and_the_time_can_be_changed(
    referral: Opened,
) -> None:
    patient = await referral(*DEMO_MESSAGES)
    assert "Dr. Rebecca Johnson" in await patient.says("When is my appointment?")
    assert patient.last.is_journey_complete

    await patient.says("I need to reschedule")
    assert (patient.last.pathway_id, patient.context["selected_doctor"]) == (
        "booking",
        "Dr. Rebecca Johnson",
    )
    await patient.says("Thursday")
    assert patient.last.is_journey_complete
    assert CLINIC.appointments(ANA) == [("Dr. Rebecca Johnson", "Thursday 09:30")]


async def test_who_cancels_makes_room_and_may_book_and_cancel_again(referral: Opened) -> None:
    patient = await referral(*DEMO_MESSAGES, "I have to cancel")
    assert CLINIC.appointments(ANA) == []
    assert not {"booking_details", "confirmation_number"} & patient.context.keys()

    await patient.says("another appointment please")
    await patient.says("Dr. Ortega, Friday 10:30")
    await patient.says(YES)
    assert CLINIC.appointments(ANA) == [("Dr. Luis Ortega", "Friday 10:30")]
    await patient.says("cancel it")
    assert CLINIC.appointments(ANA) == []


@pytest.mark.parametrize(
    "said",
    ["no", "ok great", "no thanks", "See you on Tuesday, thanks!", "Is there parking on Saturday?",
     "What if I need to cancel?", "What should I bring for Dr. Johnson?"],
)  # fmt: skip
async def test_small_talk_after_the_end_keeps_the_appointment(referral: Opened, said: str) -> None:
    patient = await referral(*DEMO_MESSAGES, said)

    assert booked(patient) == "Dr. Rebecca Johnson Tuesday 14:00"
    assert patient.last.is_journey_complete
    assert patient.last.message


async def test_a_conversation_goes_on_after_a_restart(
    talk: Callable[..., Awaitable[Talk]], tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    patient = await talk(HealthcareReferral, AGENTS, url, context=SAMPLE_CONTEXT)
    for message in DEMO_MESSAGES:
        await patient.says(message)
        await patient.restored()

    assert patient.path == ["booking", "faq", "booking", "booking", "booking", "confirmation"]
    assert booked(patient) == "Dr. Rebecca Johnson Tuesday 14:00"


async def test_a_booking_that_was_rolled_back_is_made_anew_and_held_once(
    referral: Opened,
) -> None:
    patient = await referral(INTAKE, SHOW, "Dr. Smith, Monday 8:30", YES)
    await patient.journey.rollback(2)
    assert "booking_details" not in (await patient.journey.snapshot())
    await patient.says("Dr. Johnson, Tuesday 2pm")
    await patient.says(YES)

    assert booked(patient) == "Dr. Rebecca Johnson Tuesday 14:00"
    assert CLINIC.appointments(ANA) == [("Dr. Rebecca Johnson", "Tuesday 14:00")]
