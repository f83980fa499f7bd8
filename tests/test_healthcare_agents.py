"""The agents of the healthcare example, on the clinic's real papers."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from journeys.examples.healthcare_referral import (
    AGENTS,
    SAMPLE_CONTEXT,
    HealthcareReferral,
    build_agents,
)
from journeys.examples.healthcare_referral.appointment import confirmation_number
from journeys.examples.healthcare_referral.material import (
    Slot,
    doctors,
    handbook,
    plans,
    specialties,
)
from journeys.examples.healthcare_referral.phrases import QUESTIONS
from journeys.examples.healthcare_referral.triggers import DeskTalk
from tests.healthcare import CARDIOLOGY, DESK, Desk, doctor


def intake(message: str, context: dict[str, Any] | None = None, **inputs: Any) -> dict[str, Any]:
    """Run the two intake agents in their order, as the sequential pathway does."""
    payload: dict[str, Any] = {
        "message": message,
        "context": context or {},
        "history": [],
        **inputs,
    }
    noted = {k: v for k, v in AGENTS["document_processor"](payload).items() if v is not None}
    judged = AGENTS["eligibility_checker"]({**payload, **noted})
    return {**noted, **{name: value for name, value in judged.items() if value is not None}}


def ask(question: str, context: dict[str, Any] | None = None) -> str:
    payload = {"message": question, "question": question, "context": context or {}}
    return AGENTS["rag_faq_agent"](payload)["response"]


# The papers


def test_the_directory_has_forty_doctors_in_ten_specialties_with_real_slots() -> None:
    assert len(doctors()) == 40
    assert len({entry.id for entry in doctors()}) == 40
    assert min(Counter(entry.specialty for entry in doctors()).values()) >= 3
    assert {entry.specialty for entry in doctors()} == set(specialties())
    assert Slot("Tuesday", "14:00") in doctor("johnson").slots
    assert all(entry.slots and len(set(entry.slots)) == len(entry.slots) for entry in doctors())


def test_the_handbook_has_sixty_entries_each_with_its_own_policy_and_topic_words() -> None:
    assert len({entry.policy for entry in handbook()}) == len(handbook()) == 60
    assert all(entry.question and entry.answer and entry.keywords for entry in handbook())


def test_rules_name_only_specialties_that_exist() -> None:
    covered = {name for plan in plans().values() for name in plan.covers or ()}
    assert covered <= set(specialties())


def test_there_are_the_eight_agents_and_each_build_has_its_own_clinic() -> None:
    assert list(AGENTS) == [
        "document_processor",
        "eligibility_checker",
        *DESK,
        "rag_faq_agent",
        "persuasion_agent",
        "confirmation_agent",
    ]
    for _ in range(2):
        assert "is yours" in Desk().hears("Book Dr. Johnson on Tuesday at 2pm")
    named = {
        name for pathway in HealthcareReferral.spec.pathways.values() for name in pathway.agents
    }
    assert named == set(AGENTS)
    assert HealthcareReferral.spec.warnings == ()


# Intake


@pytest.mark.parametrize(
    ("message", "specialty"),
    [
        ("I need a heart doctor", "cardiology"),
        ("My GP sent me, I have a rash", "dermatology"),
        ("looking for an ENT", "otolaryngology"),
        ("Orthopaedist please", "orthopedics"),
        ("not a cardiologist, I need a neurologist", "neurology"),
        ("I've had migraines for months", "neurology"),
    ],
)
def test_intake_knows_specialties_by_the_words_of_lay_people(message: str, specialty: str) -> None:
    assert intake(message)["patient_info"]["specialty"] == specialty


def test_intake_notes_all_that_one_message_tells() -> None:
    heard = intake(
        "Hello, my name is ana lopez, number MER-204060. I was referred to a skin doctor, in"
        " Spanish if possible, near the station, Tuesdays after 3pm."
    )

    assert heard["patient_info"] == {
        "name": "Ana Lopez",
        "specialty": "dermatology",
        "insurance_id": "MER-204060",
        "self_pay": False,
        "referral": True,
        "asked_for": "",
    }
    assert heard["preferences"] == {
        "days": ["Tuesday"],
        "after": "15:00",
        "language": "Spanish",
        "place": "Station Quarter",
    }
    assert heard["eligibility_status"] == "eligible"
    assert "Ana Lopez" in heard["response"]
    assert "dermatology" in heard["response"]


def test_intake_reads_uploaded_documents() -> None:
    heard = intake("see attached", documents=["Referral letter", "to: a cardiologist"])

    assert heard["patient_info"]["referral"] is True
    assert heard["patient_info"]["specialty"] == "cardiology"


@pytest.mark.parametrize(
    ("message", "context", "status", "reason"),
    [
        ("A cardiologist. Here is my referral.", SAMPLE_CONTEXT, "eligible", "Meridian Standard"),
        ("A cardiologist please", {"insurance_id": "MER-111111"}, "eligible", "Meridian Plus"),
        ("A cardiologist please", {"insurance_id": "INS-111111"}, "pending", "asks for a referral"),
        ("A cardiologist, I have no referral", SAMPLE_CONTEXT, "pending", "asks for a referral"),
        ("A cardiologist please", {}, "pending", "What is your insurance number"),
        ("A cardiologist please", {"insurance_id": "XYZ-111111"}, "pending", "XYZ-111111"),
        ("A cardiologist please", {"insurance_id": "OAK-111111"}, "ineligible", "Oakline closed"),
        (
            "A skin doctor, referred",
            {"insurance_id": "NWH-1"},
            "ineligible",
            "does not pay for derm",
        ),
        (
            "A skin doctor, self-pay",
            {"insurance_id": "NWH-1"},
            "eligible",
            "pay for the visit yours",
        ),
        ("hello there", SAMPLE_CONTEXT, "pending", "Which kind of specialist"),
        (
            "Here's my referral and insurance info",
            SAMPLE_CONTEXT,
            "eligible",
            "specialist does your",
        ),
    ],
)
def test_eligibility_follows_the_rules_and_gives_the_reason(
    message: str, context: dict[str, Any], status: str, reason: str
) -> None:
    judged = intake(message, context)

    assert judged["eligibility_status"] == status
    assert reason in judged["response"]


def test_an_insurance_number_in_the_text_holds_against_the_one_on_file() -> None:
    judged = intake(
        "a heart doctor; my new number is civ 987654, I have a referral", {"insurance_id": "OAK-1"}
    )

    assert judged["patient_info"]["insurance_id"] == "CIV-987654"
    assert judged["eligibility_status"] == "eligible"


def test_a_bare_yes_answers_the_question_that_was_asked() -> None:
    first = intake("I need a cardiologist", {"insurance_id": "INS-111111"})
    context = {"insurance_id": "INS-111111", "patient_info": first["patient_info"]}

    assert intake("yes, I do", context)["eligibility_status"] == "eligible"
    assert intake("no", context)["eligibility_status"] == "pending"


def test_two_patients_who_pay_for_themselves_are_told_apart() -> None:
    numbers = {intake("heart doctor, self-pay")["patient_info"]["patient_number"] for _ in range(2)}

    assert len(numbers) == 2


# Handbook, concerns, confirmation


@pytest.mark.parametrize(
    ("question", "policy"),
    [
        ("Wait, what is the copay for specialist visits?", "FIN-01"),
        ("How much does it cost without insurance?", "FIN-03"),
        ("How long is my referral valid?", "REF-03"),
        ("What documents should I bring?", "VIS-01"),
        ("What is your cancellation policy?", "APP-01"),
        ("Can I reschedule?", "APP-02"),
        ("Is telehealth possible?", "TEL-01"),
        ("do you have interpreters", "ACC-01"),
        ("Where do I park my car?", "VIS-05"),
        ("Do you see children?", "MIN-01"),
        ("Can I get a second opinion?", "APP-10"),
        ("I'm wondering about the process", "REF-09"),
        ("why do you need my insurance number", "PRI-02"),
    ],
)
def test_the_handbook_is_found_and_cited(question: str, policy: str) -> None:
    assert f"(Handbook, {policy})" in ask(question)


def test_every_question_of_the_handbook_finds_its_own_answer() -> None:
    missed = [entry.policy for entry in handbook() if entry.policy not in ask(entry.question)]

    assert missed == []


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Why is the sky blue?",
        "Who won the match?",
        "What is 2+2?",
    ],
)
def test_it_says_so_when_the_handbook_has_no_answer(question: str) -> None:
    answer = ask(question)

    assert "no answer" in answer
    assert "555-0140" in answer


def test_answers_name_the_terms_of_the_patients_own_plan_and_lead_back() -> None:
    answer = ask("What is the copay?", {**CARDIOLOGY, "insurance_id": "NWH-123456"})

    assert "With Northwind Basic it is 60 dollars" in answer
    assert "Shall we go on with the booking?" in answer
    assert "what would you like to know?" in ask("I have a question")


def test_concerns_are_answered_and_the_third_open_one_goes_to_a_person() -> None:
    agent = AGENTS["persuasion_agent"]

    first = agent({"message": "I'm not sure", "context": {}})
    second = agent({"message": "it is so expensive", "context": {"escalation_count": 1}})
    third = agent({"message": "I don't know", "context": {"escalation_count": 2}})

    assert [turn["resolution"] for turn in (first, second, third)] == [
        "needs_alternatives",
        "needs_alternatives",
        "escalate",
    ]
    assert [turn["escalation_count"] for turn in (first, second, third)] == [1, 1, 1]
    assert "billing desk" in second["response"]
    assert "555-0142" in third["response"]


def test_a_no_is_an_answer_and_counts_as_no_open_concern() -> None:
    said = AGENTS["persuasion_agent"]({"message": "no, forget it", "context": {}})

    assert "nothing is booked" in said["response"]
    assert "escalation_count" not in said


def test_agreeing_resolves_a_concern_and_shows_what_still_stands() -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    settled = AGENTS["persuasion_agent"]({"message": "ok, let's go on", "context": desk.context})

    assert settled["resolution"] == "resolved"
    assert "Dr. Alan Smith" in settled["response"]


def test_the_handover_tells_who_takes_over_and_what_they_know() -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    desk.hears("not Dr. Smith")
    payload = {"message": "chest pain, help", "context": desk.context, "desk": "night desk"}
    said = AGENTS["persuasion_agent"](payload)

    assert "night desk" in said["response"]
    assert said["response"].startswith("If this is an emergency, call 911 now.")
    assert said["handover"]["rejected"] == ["Dr. Alan Smith"]
    assert said["handover"]["proposed"] == "Dr. Rebecca Johnson"


def test_a_confirmation_has_a_stable_number_the_date_preparation_and_a_way_to_change() -> None:
    desk = Desk()
    desk.hears("Book Dr. Johnson on Tuesday at 2pm")
    details = desk.context["booking_details"]
    said = [AGENTS["confirmation_agent"]({"booking_details": details}) for _ in range(2)]

    assert said[0] == said[1]
    assert said[0]["confirmation_number"] == confirmation_number(details) == "R-1C13968E"
    for part in ("R-1C13968E", "Tuesday at 14:00", "Riverside", "ECG", "another time"):
        assert part in said[0]["response"]
    assert "no appointment" in AGENTS["confirmation_agent"]({"context": {}})["response"]


# Talk that is for the desk, though it sounds like a question


@pytest.mark.parametrize(
    ("message", "for_the_desk"),
    [
        ("What is available on Friday?", True),
        ("Is there a female doctor?", True),
        ("Can I see someone on Tuesday?", True),
        ("When is Dr. Johnson free?", True),
        ("What are my options?", True),
        ("Why Dr. Smith?", True),
        ("I don't want Dr. Smith. What is the next option?", True),
        ("I don't want Dr. Johnson", True),
        ("I don't want Dr. Smith. Can you show me another option?", False),
        ("Thanks! Now show me the available doctors.", False),
        ("What is the copay for a cardiologist?", False),
        ("Do I need a referral to see a cardiologist?", False),
        ("Is there parking on Saturday?", False),
        ("What are your opening hours on Monday?", False),
        ("How much does Dr. Johnson cost?", False),
        ("Can I get a second opinion?", False),
    ],
)
def test_questions_about_doctors_and_times_stay_at_the_desk(
    message: str, for_the_desk: bool
) -> None:
    context = {**CARDIOLOGY, "selected_doctor": doctor("smith").card()}

    assert DeskTalk(unlike=QUESTIONS).evaluate(message, context) is for_the_desk


# Odd input


@pytest.mark.parametrize(
    "message", [None, 7, "", "???", "🤷", "x" * 16000, "Dr. ", "a\x00b", "２pm"]
)
@pytest.mark.parametrize(
    "context",
    [
        {},
        None,
        {"patient_info": None, "preferences": [], "rejected_doctors": "dr-smith"},
        {
            "preferences": {"days": "Tuesday", "part": "night", "after": 3},
            "available_slots": [1, {}],
        },
        {"selected_doctor": "Dr. Smith", "rejected_doctors": [{"name": "x"}, "dr-johnson", None]},
        {"insurance_id": 12345, "escalation_count": "many", "booking_details": "yes"},
    ],
)
def test_agents_bear_odd_messages_and_contexts(message: Any, context: Any) -> None:
    for agent in build_agents().values():
        json.dumps(agent({"message": message, "context": context, "history": []}))
