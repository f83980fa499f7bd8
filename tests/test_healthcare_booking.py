"""The booking desk of the healthcare example: proposing, turning down, choosing, booking."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeys.examples.healthcare_referral import DEMO_MESSAGES, Clinic
from journeys.examples.healthcare_referral.material import Slot
from tests.healthcare import CARDIOLOGY, Desk, doctor

WORDS = """yes no not don't want book show me the first second one Dr. Smith Johnson Nobody Weber
    Tuesday Friday 2pm 14:00 mornings after 3pm female Spanish station another different more none
    of these dermatologist cardiologist earliest thanks but ? , please any day reschedule available
    slot self-pay NWH-123456"""

# Booking: proposing


def test_the_first_suggestions_come_with_reasons_and_the_first_is_the_one_at_hand() -> None:
    desk = Desk()
    reply = desk.hears(DEMO_MESSAGES[2])

    assert (desk.proposed, desk.shown[1]) == ("dr-smith", "dr-johnson")
    assert "24 years in cardiology" in reply
    assert "Tuesday 14:00" in reply


@pytest.mark.parametrize(
    ("message", "first", "reason"),
    [
        ("a woman if possible", "dr-johnson", "is female"),
        ("somebody who speaks Mandarin", "dr-chen-m", "speaks Mandarin"),
        ("in the Harbour district", "dr-ortega", "practises in Harbour"),
        ("Saturday only", "dr-okafor", "on Saturday"),
        ("after work", "dr-ortega", "in the evening"),
        ("not on Mondays or Wednesdays", "dr-smith", "not on Monday or Wednesday"),
        ("Friday before 9", "dr-lindqvist", "on Friday before 09:00"),
        ("between 2 and 3pm", "dr-johnson", "from 14:00 before 15:00"),
        ("before noon on Friday", "dr-ortega", "on Friday before 12:00"),
        ("not a man please", "dr-johnson", "is female"),
        ("a French speaking woman, in the afternoon", "dr-okafor", "speaks French, is female"),
    ],
)
def test_the_best_match_for_what_was_wished_comes_first(
    message: str, first: str, reason: str
) -> None:
    desk = Desk()
    reply = desk.hears(message)

    assert desk.proposed == first
    assert reason in reply


def test_only_times_that_suit_are_shown() -> None:
    desk = Desk()
    desk.hears("mornings please")

    assert {row["time"] < "12:00" for row in desk.context["available_slots"]} == {True}


def test_the_earliest_time_wins_where_that_matters() -> None:
    desk = Desk({"patient_info": {"specialty": "otolaryngology"}})
    desk.hears("as soon as possible please")

    assert desk.shown == ["dr-oconnor", "dr-keller", "dr-yamamoto"]


def test_the_newest_word_on_a_wish_holds_and_a_wish_can_be_given_up() -> None:
    desk = Desk()
    desk.hears("Tuesday mornings, someone who speaks Spanish")
    desk.hears("actually Friday")
    assert desk.context["preferences"] == {
        "days": ["Friday"],
        "part": "morning",
        "language": "Spanish",
    }

    desk.hears("not Fridays after all")
    assert desk.context["preferences"] == {
        "not_days": ["Friday"],
        "part": "morning",
        "language": "Spanish",
    }

    desk.hears("any day is fine, and the time doesn't matter")
    assert desk.context["preferences"] == {"language": "Spanish"}


def test_if_nobody_meets_all_wishes_it_says_so_and_offers_the_closest() -> None:
    reply = Desk().hears("a Spanish speaking woman on Saturday")

    assert "Nobody free for cardiology meets all your wishes" in reply
    assert "But the doctor has no free time that suits (on Saturday)" in reply


def test_further_doctors_can_be_seen_without_turning_anybody_down() -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    first = set(desk.shown)
    desk.hears("any other doctors?")

    assert not first & set(desk.shown)
    assert desk.context["rejected_doctors"] == []


def test_it_says_so_when_there_are_no_further_doctors() -> None:
    desk = Desk({"patient_info": {"specialty": "rheumatology"}})
    desk.hears("show me the doctors")

    assert desk.hears("more please").startswith("That was everybody")


def test_an_unknown_specialty_is_asked_for_and_then_remembered() -> None:
    desk = Desk({})
    assert desk.hears("show me somebody").startswith("Which kind of specialist")

    desk.hears("an eye doctor")
    assert desk.context["patient_info"]["specialty"] == "ophthalmology"
    assert desk.proposed == "dr-murphy"


def test_a_complaint_in_passing_does_not_change_the_specialty_but_a_title_does() -> None:
    desk = Desk()
    desk.hears("show me the list, my knee hurts too")
    assert desk.context["patient_info"]["specialty"] == "cardiology"

    desk.hears("I need an orthopedist instead")
    assert desk.context["patient_info"]["specialty"] == "orthopedics"


def test_a_specialty_that_the_plan_does_not_cover_is_not_booked() -> None:
    desk = Desk({"insurance_id": "NWH-123456", "patient_info": {"specialty": "cardiology"}})

    assert "does not pay for dermatology" in desk.hears("I want a dermatologist instead")
    assert desk.context["patient_info"]["specialty"] == "cardiology"


def test_how_the_patient_pays_may_change_at_the_desk() -> None:
    desk = Desk({"insurance_id": "NWH-123456", "patient_info": {"specialty": "cardiology"}})
    desk.hears("I want a dermatologist instead")
    assert "For dermatology I suggest" in desk.hears("self-pay, a dermatologist please")

    number = desk.context["patient_info"]["patient_number"]
    desk.hears("book the first slot")
    assert desk.context["booking_details"]["patient"] == number

    assert "noted how you pay" in desk.hears("my number is now MER-555555")
    assert desk.context["patient_info"]["insurance_id"] == "MER-555555"


def test_small_talk_is_met_in_kind() -> None:
    desk = Desk()
    assert "Shall I show you" in desk.hears("blorp")
    desk.hears("show me the doctors")

    assert desk.hears("thank you").startswith("You are welcome")
    assert desk.hears("no").startswith("All right")
    assert desk.hears("tomorrow").startswith("I book by days of the week")
    assert desk.hears("after 30").startswith("I did not quite understand")


# Booking: turning down


def test_a_rejected_doctor_is_never_suggested_again() -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    seen = []
    for _ in range(5):
        seen.append(desk.proposed)
        desk.hears("I'd like a different doctor")
    seen.append(desk.proposed)
    assert len(set(seen)) == 6
    assert desk.hears("another one").startswith("There is nobody left for cardiology")
    assert len(desk.context["rejected_doctors"]) == 6


@pytest.mark.parametrize(
    "message",
    [
        "I don't want Dr. Ortega",
        "Not Ortega please",
        "anyone but doctor Ortega",
        "Ortega is too far away",
        "Dr. Ortega doesn't suit me",
        "I’d rather not see Dr Ortega",
        "somebody other than ortega",
    ],
)
def test_a_doctor_is_turned_down_by_name_also_one_who_is_not_at_hand(message: str) -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    desk.hears(message)

    assert [row["id"] for row in desk.context["rejected_doctors"]] == ["dr-ortega"]
    assert "dr-ortega" not in desk.shown
    assert desk.proposed == "dr-smith"


def test_one_doctor_can_be_turned_down_and_another_taken_in_one_breath() -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    desk.hears("I don't want Dr. Smith, I'd take Dr. Johnson on Thursday")

    assert desk.booked == "dr-johnson Thursday 09:30"
    assert [row["id"] for row in desk.context["rejected_doctors"]] == ["dr-smith"]


def test_a_rejection_can_be_taken_back_by_name_and_made_again() -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    desk.hears("not Dr. Smith")
    desk.hears("well, Dr. Smith after all")
    assert desk.proposed == "dr-smith"
    desk.hears("hm, someone else please")
    assert "dr-smith" not in desk.shown
    desk.hears("ok, Dr. Smith")
    desk.hears("the first slot")
    assert desk.booked == "dr-smith Monday 08:30"


def test_a_rejection_that_only_the_journey_noted_is_said_too() -> None:
    card = doctor("smith").card()
    desk = Desk({**CARDIOLOGY, "selected_doctor": card, "rejected_doctors": [card]})

    assert desk.hears("show me the doctors").startswith("I will not suggest Dr. Alan Smith again")


def test_all_that_was_offered_can_be_turned_down_at_once() -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    first = set(desk.shown)
    desk.hears("none of these")

    assert {row["id"] for row in desk.context["rejected_doctors"]} == first


# Booking: choosing


@pytest.mark.parametrize(
    ("messages", "booked"),
    [
        (["Dr. Johnson looks great. Book the Tuesday 2pm slot."], "dr-johnson Tuesday 14:00"),
        (["dr jonson, 4:30 pm tuesday please"], "dr-johnson Tuesday 16:30"),
        (["the second one", "14:00"], "dr-johnson Tuesday 14:00"),
        (["Johnson please", "the last slot"], "dr-johnson Thursday 09:30"),
        (["option 3", "Friday", "yes"], "dr-ortega Friday 10:30"),
        (["Tuesday at 2"], "dr-johnson Tuesday 14:00"),
        (["tuesday at two"], "dr-johnson Tuesday 14:00"),
        (["Tuesday 14h"], "dr-johnson Tuesday 14:00"),
        (["Tusday 2pm"], "dr-johnson Tuesday 14:00"),
        (["the third doctor, second slot"], "dr-ortega Wednesday 09:00"),
        (["Johnson's last appointment please"], "dr-johnson Thursday 09:30"),
        (["ok, Dr. Johnson on Thursday"], "dr-johnson Thursday 09:30"),
        (
            ["Smith or Johnson on Tuesday?", "at noon", "16:30"],
            "dr-johnson Tuesday 16:30",
        ),
        (["book the first slot"], "dr-smith Monday 08:30"),
        (["I'll take Wednesday 11 am"], "dr-smith Wednesday 11:00"),
        (["Dr. Chen on Friday, book it"], "dr-chen-m Friday 14:30"),
        (["the earliest one, book it"], "dr-smith Monday 08:30"),
        (["Is Dr. Johnson free on Thursday?", "yes please"], "dr-johnson Thursday 09:30"),
        (["Could you book me in with Dr. Smith on Thursday?"], "dr-smith Thursday 15:30"),
    ],
)
def test_a_slot_is_booked_however_it_is_named(messages: list[str], booked: str) -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    for message in messages:
        assert desk.booked is None
        desk.hears(message)

    assert desk.booked == booked


@pytest.mark.parametrize(
    "message",
    [
        "Is Tuesday 2pm free?",
        "What about Dr. Johnson?",
        "yes",
        "book it",
        "Dr. Johnson on Sunday",
        "ok but mornings only",
        "don't book anything yet",
        "Dr. Weber on Monday",
        "Dr. Nobody at 9am",
    ],
)
def test_nothing_is_booked_on_a_question_or_while_the_slot_is_open(message: str) -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    desk.hears(message)

    assert desk.booked is None


def test_a_doctor_of_another_field_and_an_unknown_one_are_named_as_such() -> None:
    desk = Desk()

    assert "Dr. Anna Weber works in dermatology" in desk.hears("I want Dr. Weber")
    assert "I have no Dr. Nobody in the directory" in desk.hears("Dr. Nobody please")
    assert "nothing free at the time you name" in desk.hears("Dr. Johnson on Friday")
    assert "Which kind of specialist" in Desk({}).hears("Dr. Nobody please")


def test_a_taken_slot_is_refused_and_others_are_offered() -> None:
    clinic = Clinic()
    clinic.book("MER-999999", doctor("johnson"), Slot("Tuesday", "14:00"))
    desk = Desk(clinic=clinic)
    desk.hears("show me the doctors")
    reply = desk.hears("Dr. Johnson, Tuesday 2pm")

    assert "already taken" in reply
    assert "Tuesday 16:30 and Thursday 09:30" in reply
    assert desk.booked is None
    desk.hears("16:30 then")
    assert desk.booked == "dr-johnson Tuesday 16:30"


def test_a_doctor_without_a_free_slot_is_replaced_by_others() -> None:
    clinic = Clinic()
    for number, slot in enumerate(doctor("johnson").slots):
        clinic.book(f"MER-{number}", doctor("johnson"), slot)
    desk = Desk(clinic=clinic)

    assert "Instead I suggest" in desk.hears("Book Dr. Johnson on Tuesday at 2pm")
    assert "has no free time at present" in desk.hears("and Dr. Johnson on any other day?")
    assert "dr-johnson" not in desk.shown


def test_saying_it_again_does_not_book_twice() -> None:
    clinic = Clinic()
    desk = Desk(clinic=clinic)
    for _ in range(3):
        desk.hears("Book Dr. Johnson on Tuesday at 2pm")

    assert clinic.appointments("INS-123456") == [("dr-johnson", Slot("Tuesday", "14:00"))]


def test_another_time_frees_the_first_one() -> None:
    clinic = Clinic()
    desk = Desk(clinic=clinic)
    desk.hears("Book Dr. Johnson on Tuesday at 2pm")
    desk.hears("Book Dr. Smith on Monday at 8:30")

    assert clinic.appointments("INS-123456") == [("dr-smith", Slot("Monday", "08:30"))]
    assert clinic.book("MER-1", doctor("johnson"), Slot("Tuesday", "14:00"))


def test_one_slot_goes_to_one_patient_also_when_many_ask_at_once() -> None:
    clinic, slot = Clinic(), Slot("Tuesday", "14:00")
    with ThreadPoolExecutor(16) as pool:
        won = list(pool.map(lambda n: clinic.book(f"MER-{n}", doctor("johnson"), slot), range(200)))

    assert sum(won) == 1
    assert not clinic.book("MER-X", doctor("johnson"), Slot("Sunday", "03:00"))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(
            st.sampled_from(WORDS.split()),
            max_size=9,
        ).map(" ".join),
        max_size=6,
    )
)
def test_exactly_one_of_the_three_speaks_whatever_is_said(messages: list[str]) -> None:
    desk = Desk()
    for message in messages:
        before = desk.shown
        assert desk.hears(message).strip()
        rejected = {row["id"] for row in desk.context["rejected_doctors"]}
        asked_for_again = desk.context.get("selected_doctor", {}).get("again")
        assert desk.shown == before or asked_for_again or not rejected & set(desk.shown)


def test_a_chosen_doctor_without_that_day_makes_room_for_those_who_have_it() -> None:
    desk = Desk()
    desk.hears("show me the doctors")
    desk.hears("Dr. Johnson")

    reply = desk.hears("Do you have anything on Friday?")

    assert reply.startswith("Dr. Rebecca Johnson has nothing on Friday. Instead I suggest:")
    assert desk.shown[:2] == ["dr-ortega", "dr-chen-m"]
    desk.hears("book the first doctor")
    assert desk.booked == "dr-ortega Friday 10:30"


def test_a_chosen_doctor_stays_where_nobody_has_that_day() -> None:
    desk = Desk()
    desk.hears("Dr. Johnson")

    assert "has nothing free at the time you name" in desk.hears("Anything on Sunday?")
    assert desk.shown == ["dr-johnson"]


def test_a_doctor_who_is_asked_for_by_name_stays_in_question() -> None:
    desk = Desk()
    desk.hears("Dr. Johnson")

    assert "Dr. Rebecca Johnson has nothing free" in desk.hears("Dr. Johnson on Friday?")
    assert desk.shown == ["dr-johnson"]
