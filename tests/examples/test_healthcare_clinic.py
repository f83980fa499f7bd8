"""The clinic of the healthcare referral: its papers, its handbook, its appointment book."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from journeygraph.journeys.examples.healthcare_referral import (
    AGENTS,
    MODEL_AGENTS,
    HealthcareReferral,
)
from journeygraph.journeys.examples.healthcare_referral.clinic import (
    DOCTORS,
    SPECIALTIES,
    Clinic,
    plan_of,
    ways_to_say,
)
from journeygraph.journeys.examples.healthcare_referral.handbook import (
    HANDBOOK,
    answering,
    search_handbook,
)

ANA, BEN = "INS-123456", "MER-777777"
JOHNSON = DOCTORS["Dr. Rebecca Johnson"]


# The papers


def test_the_directory_has_forty_doctors_in_ten_specialties_with_times() -> None:
    assert len(DOCTORS) == 40
    in_specialty = Counter(doctor.specialty for doctor in DOCTORS.values())
    assert in_specialty.keys() == SPECIALTIES.keys()
    assert min(in_specialty.values()) >= 3
    assert all(len(set(doctor.times)) == len(doctor.times) > 0 for doctor in DOCTORS.values())


def test_the_handbook_has_sixty_entries_each_with_its_own_policy_and_topic_words() -> None:
    assert len({entry["policy"] for entry in HANDBOOK}) == len(HANDBOOK) == 60
    assert all(entry["question"] and entry["answer"] and entry["keywords"] for entry in HANDBOOK)


def test_plans_pay_only_for_specialties_that_exist() -> None:
    for prefix in ("INS", "MER", "NWH", "CIV", "HRB", "OAK", "TRV"):
        plan = plan_of(f"{prefix}-123456")
        assert plan is not None
        covers = plan.get("covers", "all")
        assert covers == "all" or set(covers) <= set(SPECIALTIES)
    assert plan_of("XYZ-123456") is plan_of("") is None


def test_functions_and_models_serve_the_same_names_and_the_definition_has_no_smell() -> None:
    assert AGENTS.keys() == MODEL_AGENTS.keys() == HealthcareReferral.spec.agents.keys()
    assert HealthcareReferral.spec.warnings == ()


def test_a_time_is_said_in_many_ways() -> None:
    said = ways_to_say("Tuesday 14:00")

    assert {"Tuesday 2pm", "Tuesday at 2", "Tuesday at 2pm", "2 pm", "14:00"} <= {*said}
    assert "8:30am" in ways_to_say("Monday 08:30")


# The handbook


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
def test_the_handbook_is_found(question: str, policy: str) -> None:
    assert search_handbook(question)["policy"] == policy


def test_every_question_of_the_handbook_finds_its_own_answer() -> None:
    assert [entry["policy"] for entry in HANDBOOK if answering(entry["question"]) != entry] == []


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
    assert search_handbook(question) == {"front_desk": "555-0140"}
    said: Any = AGENTS["rag_faq_agent"]({"message": question, "context": {}})
    assert "no answer" in said["response"]
    assert "555-0140" in said["response"]


def test_answers_name_the_terms_of_the_patients_own_plan() -> None:
    copay = "What is the copay for specialist visits?"

    assert search_handbook(copay, ANA)["on_your_plan"] == "With Meridian Standard it is 40 dollars."
    assert search_handbook(copay, BEN)["on_your_plan"] == "With Meridian Plus it is 25 dollars."
    assert "on_your_plan" not in search_handbook(copay)


# The appointment book


def test_another_time_frees_the_first_one_and_saying_it_again_does_not_book_twice() -> None:
    clinic = Clinic()
    for _ in range(2):
        clinic.book(ANA, JOHNSON, "Tuesday 14:00")
    assert clinic.appointments(ANA) == [(JOHNSON.name, "Tuesday 14:00")]

    clinic.book(ANA, DOCTORS["Dr. Alan Smith"], "Monday 08:30")
    assert clinic.appointments(ANA) == [("Dr. Alan Smith", "Monday 08:30")]
    clinic.book(BEN, JOHNSON, "Tuesday 14:00")


def test_what_a_patient_holds_counts_as_free_for_them_alone() -> None:
    clinic = Clinic()
    clinic.book(ANA, JOHNSON, "Tuesday 14:00")

    assert clinic.free(JOHNSON, ANA) == list(JOHNSON.times)
    assert clinic.free(JOHNSON, BEN) == ["Tuesday 16:30", "Thursday 09:30"]
    clinic.cancel(BEN, "cardiology")
    assert clinic.appointments(ANA)


@pytest.mark.parametrize("time", ["Tuesday 14:00", "Sunday 03:00"])
def test_a_time_that_is_taken_or_that_nobody_works_at_is_refused(time: str) -> None:
    clinic = Clinic()
    clinic.book(ANA, JOHNSON, "Tuesday 14:00")

    with pytest.raises(LookupError, match="already taken"):
        clinic.book(BEN, JOHNSON, time)


def test_one_slot_goes_to_one_patient_also_when_many_ask_at_once() -> None:
    clinic = Clinic()

    def books(number: int) -> bool:
        try:
            clinic.book(f"MER-{number}", JOHNSON, "Tuesday 14:00")
        except LookupError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(books, range(200))) == 1
