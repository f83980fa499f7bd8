"""The clinic's functions as tools for models: the same facts and rules as the function agents."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from journeys.examples.healthcare_referral import AGENTS, Clinic
from journeys.examples.healthcare_referral.booking_tools import BookingTools
from journeys.examples.healthcare_referral.material import (
    doctor_by_id,
    doctors,
    handbook,
    plans,
    specialties,
)
from journeys.examples.healthcare_referral.naming import payment_named
from journeys.examples.healthcare_referral.tools import (
    check_insurance,
    open_handover_case,
    open_self_pay_account,
    search_handbook,
)
from journeys.examples.healthcare_referral.wishes import Wishes
from nodes.llm.chat import Call as ToolCall
from nodes.llm.tools import Occasion, toolbox_of
from tests.healthcare import CARDIOLOGY, Desk

ANA, BEN = "INS-123456", "MER-777777"
TUESDAY = {"doctor": "dr-johnson", "day": "Tuesday", "time": "14:00"}


@pytest.fixture
def clinic() -> Clinic:
    return Clinic()


@pytest.fixture
def desk(clinic: Clinic) -> BookingTools:
    return BookingTools(clinic)


def ids(found: dict[str, Any]) -> list[str]:
    return [row["id"] for row in found["doctors"]]


# What a model sees of them


@pytest.mark.parametrize(
    "tool",
    [
        search_handbook,
        check_insurance,
        open_self_pay_account,
        open_handover_case,
        BookingTools.find_doctors,
        BookingTools.find_slots,
        BookingTools.book_appointment,
        BookingTools.cancel_appointment,
        BookingTools.confirm_appointment,
    ],
)
def test_every_tool_says_what_it_is_for_what_comes_back_and_what_it_takes(
    tool: Callable[..., Any], desk: BookingTools
) -> None:
    bound = getattr(desk, tool.__name__, tool)
    seen = convert_to_openai_tool(bound)["function"]

    assert seen["name"] == tool.__name__
    assert "Use it" in seen["description"]
    assert "`" in seen["description"]  # what comes back is named
    parameters = seen["parameters"]["properties"]
    assert all(parameter.get("description") for parameter in parameters.values())


# Handbook


def test_the_handbook_says_the_same_to_a_model_as_to_the_function_agent() -> None:
    for entry in handbook():
        found = search_handbook(entry.question, ANA)
        context = {"insurance_id": ANA}
        payload = {"message": entry.question, "question": entry.question, "context": context}
        said = AGENTS["rag_faq_agent"](payload)["response"]
        assert found["policy"] in said
        assert found["answer"] in said
        assert found.get("on_your_plan", "") in said


def test_the_copay_is_that_of_the_patients_own_plan() -> None:
    copay = "What is the copay for specialist visits?"

    assert search_handbook(copay, ANA)["on_your_plan"] == "40 dollars"
    assert search_handbook(copay, BEN)["on_your_plan"] == "25 dollars"
    assert "on_your_plan" not in search_handbook(copay)


def test_a_question_that_the_handbook_does_not_answer_leads_to_the_front_desk() -> None:
    assert search_handbook("Who won the match?") == {"found": False, "front_desk": "555-0140"}


# Insurance


@pytest.mark.parametrize("prefix", [*plans(), "XYZ"])
@pytest.mark.parametrize("specialty", specialties())
@pytest.mark.parametrize("referral", [True, False, None])
def test_insurance_is_judged_by_the_rules_of_the_function_agent(
    prefix: str, specialty: str, referral: bool | None
) -> None:
    number = f"{prefix}-123456"
    info = {"insurance_id": number, "specialty": specialty, "referral": referral}
    judged = AGENTS["eligibility_checker"]({"message": "", "context": {"patient_info": info}})

    verdict = check_insurance(number, specialty, referral)
    assert verdict["status"] == judged["eligibility_status"]
    assert verdict["reason"] in judged["response"]
    assert verdict["missing"] == judged["patient_info"]["asked_for"]


def test_a_specialty_may_be_said_in_the_words_of_patients() -> None:
    assert check_insurance(ANA, "heart doctor", True)["status"] == "eligible"


def test_an_unknown_specialty_is_refused_with_those_that_there_are() -> None:
    verdict = check_insurance(ANA, "astrology", True)

    assert (verdict["status"], verdict["missing"]) == ("pending", "specialty")
    assert all(name in verdict["reason"] for name in specialties())


def test_who_pays_alone_gets_a_number_that_everything_else_accepts(desk: BookingTools) -> None:
    number = open_self_pay_account()["patient_number"]
    again = open_self_pay_account()["patient_number"]

    assert number != again
    assert check_insurance(number, "cardiology")["status"] == "eligible"
    assert desk.book_appointment(**TUESDAY, patient_number=number)["booked"]
    assert payment_named("self-pay", number)["patient_number"] == number


def test_a_case_that_is_handed_over_keeps_the_reference_of_the_function_agent() -> None:
    context = {**CARDIOLOGY, "patient_info": {"specialty": "cardiology"}}
    payload = {"message": "a person please", "context": context, "desk": "care coordination desk"}
    given = AGENTS["persuasion_agent"](payload)["handover"]

    assert open_handover_case(ANA, "cardiology")["reference"] == given["reference"]
    assert open_handover_case("", "")["phone"] == "555-0142"


# Doctors and times


@pytest.mark.parametrize(
    ("message", "wishes"),
    [
        ("show me the doctors", {}),
        ("a woman please, in the Old Town", {"gender": "female", "place": "Old Town"}),
        ("somebody who speaks Spanish, on Friday", {"language": "Spanish", "days": ["Friday"]}),
        ("not in the morning, as soon as possible", {"not_parts": ["morning"], "soonest": True}),
        ("show me doctors after 3pm, not on Thursday", {"after": "3pm", "not_days": ["Thursday"]}),
    ],
)
def test_a_model_is_offered_the_doctors_and_times_of_the_function_agents(
    message: str, wishes: Any, desk: BookingTools
) -> None:
    functions = Desk()
    functions.hears(message)

    found = desk.find_doctors("cardiology", wishes, (), ANA)
    assert ids(found) == functions.shown
    slots = desk.find_slots(specialty="cardiology", wishes=wishes, patient_number=ANA)["slots"]
    assert slots == functions.context["available_slots"]


def test_doctors_who_were_turned_down_are_left_out(desk: BookingTools) -> None:
    assert ids(desk.find_doctors("cardiology", exclude=["dr-smith"]))[0] == "dr-johnson"
    everybody = [row.id for row in doctors() if row.specialty == "cardiology"]
    assert desk.find_doctors("cardiology", exclude=everybody) == {"doctors": [], "more": 0}


def test_wishes_that_the_clinic_cannot_read_are_refused_with_the_choice(desk: BookingTools) -> None:
    unknown: Any = {"colour": "blue"}
    klingon: Any = {"language": "Klingon"}
    late: Any = {"after": "late"}

    assert "known are days" in desk.find_doctors("cardiology", unknown)["reason"]
    assert "Mandarin" in desk.find_slots(specialty="cardiology", wishes=klingon)["reason"]
    assert "14:00" in desk.find_doctors("cardiology", late)["reason"]
    assert "cardiology" in desk.find_slots()["reason"]


@pytest.mark.parametrize("said", ["dr-johnson", "Dr. Rebecca Johnson", "Dr. Johnson", "Johnson"])
def test_a_doctor_is_known_by_id_and_by_name(said: str, desk: BookingTools) -> None:
    slots = desk.find_slots(doctor=said)["slots"]

    assert {row["doctor_id"] for row in slots} == {"dr-johnson"}
    assert slots[0] == {
        "doctor_id": "dr-johnson",
        "doctor": "Dr. Rebecca Johnson",
        "day": "Tuesday",
        "time": "14:00",
    }


@pytest.mark.parametrize("said", ["Dr. House", "Dr. Robert Johnson", "Dr.", "dr-johnsson", ""])
def test_an_invented_doctor_has_no_times_and_cannot_be_booked(
    said: str, desk: BookingTools, clinic: Clinic
) -> None:
    refusal = desk.book_appointment(said, "Tuesday", "14:00", ANA)

    assert refusal["booked"] is False
    assert "no doctor" in refusal["reason"]
    assert desk.find_slots(doctor=said)["slots"] == []
    assert clinic.appointments(ANA) == []


def test_namesakes_are_told_apart_by_their_ids(desk: BookingTools) -> None:
    refusal = desk.find_slots(doctor="Dr. Chen")["reason"]

    assert "dr-chen-m (Dr. Mei Chen)" in refusal
    assert "dr-chen-w (Dr. Wei Chen)" in refusal
    assert desk.find_slots(doctor="Dr. Mei Chen")["slots"]


# Booking


def test_a_free_time_is_booked_as_the_function_agents_book_it(
    desk: BookingTools, clinic: Clinic
) -> None:
    functions = Desk()
    functions.hears("Dr. Johnson on Tuesday at 2pm please")

    booked = desk.book_appointment("Dr. Johnson", "tuesday", "2pm", ANA)
    assert booked == {"booked": True, "booking": functions.context["booking_details"]}
    assert clinic.booked(ANA) == [booked["booking"]]


def test_a_time_is_never_given_to_two_patients(desk: BookingTools, clinic: Clinic) -> None:
    assert desk.book_appointment(**TUESDAY, patient_number=ANA)["booked"]

    refusal = desk.book_appointment(**TUESDAY, patient_number=BEN)
    assert refusal["booked"] is False
    assert "is taken" in refusal["reason"]
    assert {(row["day"], row["time"]) for row in refusal["free"]} == {
        ("Tuesday", "16:30"),
        ("Thursday", "09:30"),
    }
    assert clinic.appointments(BEN) == []
    free = desk.find_slots(doctor="dr-johnson", patient_number=BEN)["slots"]
    assert free == refusal["free"]


def test_an_invented_time_is_refused_with_the_real_ones(desk: BookingTools, clinic: Clinic) -> None:
    refusal = desk.book_appointment("dr-johnson", "Sunday", "03:00", ANA)

    assert "no time at which this doctor works" in refusal["reason"]
    assert len(refusal["free"]) == 3
    assert clinic.appointments(ANA) == []


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("", "ask the patient"),
        ("guest", "ask the patient"),
        ("SELF-please", "ask the patient"),
        ("XYZ-123456", "ask the patient"),
        ("OAK-123456", "closed its plans"),
    ],
)
def test_nobody_books_without_somebody_who_pays(
    number: str, why: str, desk: BookingTools, clinic: Clinic
) -> None:
    refusal = desk.book_appointment(**TUESDAY, patient_number=number)

    assert refusal["booked"] is False
    assert why in refusal["reason"]
    johnson = doctor_by_id("dr-johnson")
    assert johnson is not None
    assert clinic.free_slots(johnson) == list(johnson.slots)


def test_a_plan_that_does_not_pay_for_the_specialty_books_nothing(desk: BookingTools) -> None:
    refusal = desk.book_appointment("dr-weber", "Monday", "09:00", "NWH-123456")

    assert refusal == {
        "booked": False,
        "reason": "the plan Northwind Basic does not pay for dermatology",
    }


def test_another_time_frees_the_first_and_cancelling_frees_it_too(
    desk: BookingTools, clinic: Clinic
) -> None:
    desk.book_appointment(**TUESDAY, patient_number=ANA)
    second = desk.book_appointment("dr-smith", "Monday", "08:30", ANA)["booking"]
    assert clinic.booked(ANA) == [second]

    assert desk.cancel_appointment("heart", ANA) == {"cancelled": [second]}
    assert desk.cancel_appointment("cardiology", ANA) == {"cancelled": []}
    assert clinic.booked(ANA) == []


def test_only_what_the_book_holds_is_confirmed(desk: BookingTools) -> None:
    assert desk.confirm_appointment("cardiology", ANA)["confirmed"] is False
    booking = desk.book_appointment(**TUESDAY, patient_number=ANA)["booking"]

    confirmed = desk.confirm_appointment("cardiology", ANA)
    said = AGENTS["confirmation_agent"]({"message": "", "booking_details": booking})
    assert confirmed["booking"] == booking
    assert confirmed["confirmation_number"] == said["confirmation_number"]
    for name in ("directions", "preparation", "to_bring", "to_change"):
        assert confirmed[name] in said["response"]
    assert desk.confirm_appointment("dermatology", ANA)["confirmed"] is False
    assert desk.confirm_appointment("cardiology", BEN)["confirmed"] is False


async def test_a_model_may_say_null_for_what_it_may_leave_out(desk: BookingTools) -> None:
    tools = toolbox_of(
        "doctor_matcher", [desk.find_doctors, desk.find_slots], lambda _: lambda: None
    )
    nothing = dict.fromkeys(Wishes.__annotations__)
    given = {"specialty": "cardiology", "wishes": nothing, "exclude": None}

    for name, found in (
        ("find_doctors", desk.find_doctors("cardiology")),
        ("find_slots", desk.find_slots(specialty="cardiology")),
    ):
        said = await tools.use(ToolCall("1", name, given), Occasion({}), (), set())
        assert json.loads(said) == found


def test_all_that_a_tool_returns_is_json(desk: BookingTools) -> None:
    returned = [
        search_handbook("What is a deductible?", ANA),
        check_insurance(ANA),
        open_handover_case(ANA),
        desk.find_doctors("cardiology"),
        desk.find_slots("dr-johnson"),
        desk.book_appointment(**TUESDAY, patient_number=ANA),
        desk.confirm_appointment("cardiology", ANA),
        desk.cancel_appointment("cardiology", ANA),
    ]
    assert json.loads(json.dumps(returned)) == returned
