"""The same behaviour in other places: parcels, telephones, rooms, schools, cars, and in German."""

from __future__ import annotations

from journeygraph.nodes.commands import (
    Cancel,
    Clear,
    Confirm,
    Correct,
    Deny,
    Explain,
    Fill,
    Go,
    OffTopic,
    Skip,
    Wait,
)
from tests.traces.conversation import IN_MEMORY, Chat, trace
from tests.traces.elsewhere import (
    ABROAD,
    CARS,
    FOUND,
    FUEL,
    GEBUEHREN,
    HOLIDAYS,
    HOTEL,
    LIBRARY,
    PARCELS,
    POOL,
    POSTAGE,
    SCHOOL,
    SIGNAL,
    SPA,
    TELECOM,
)


@trace(PARCELS)
async def test_a_parcel_is_sent_across_two_detours(chat: Chat) -> None:
    await chat.says("I want to send a parcel to Ida", Go("send"), Fill("receiver", "Ida"))
    assert chat.value("receiver") == "Ida"
    assert chat.asks("destination")
    await chat.says("where is my parcel?", Go("track"))
    assert (chat.at, chat.stack) == ("track", ["send"])
    assert chat.asks("number")
    await chat.says("P-17", Fill("number", "P-17"))
    assert FOUND in chat.reply
    assert chat.asked == ("return", "send")
    await chat.says("yes", Confirm())
    await chat.says("3 Harbour Lane, Bremen", Fill("destination", "3 Harbour Lane, Bremen"))
    assert (chat.at, chat.stack) == ("send", [])
    assert chat.value("destination") == "3 Harbour Lane, Bremen"
    assert chat.asks("weight")
    await chat.says("what are the prices?", Go("prices"))
    assert POSTAGE in chat.reply
    await chat.says("2.5", Fill("weight", "2.5"))
    assert chat.value("weight") == 2.5
    assert chat.asks("insured")
    await chat.says("no", Fill("insured", "no"))
    assert chat.value("insured") is False
    assert chat.asked == ("summary", "send")
    assert "2.5" in chat.reply
    await chat.says("yes", Confirm())
    assert chat.world.count("print_label") == 1
    assert "The label is printed." in chat.reply


@trace(PARCELS, IN_MEMORY)
async def test_a_branch_that_is_dropped_leaves_what_is_collected(chat: Chat) -> None:
    await chat.says("I want to send a parcel to Ida", Go("send"), Fill("receiver", "Ida"))
    await chat.says("3 Harbour Lane, Bremen", Fill("destination", "3 Harbour Lane, Bremen"))
    await chat.says("2", Fill("weight", "2"))
    await chat.says("yes", Fill("insured", "yes"))
    assert chat.asks("worth")
    await chat.says("80 euros", Fill("worth", "80 euros"))
    assert chat.payload["worth"] == {"amount": "80.00", "currency": "EUR"}
    assert chat.asked == ("summary", "send")
    await chat.says("insured: no", Correct("insured", "no"))
    assert chat.value("insured") is False
    assert "worth" not in chat.payload
    assert "valid" in chat.attempts("worth")
    assert chat.asked == ("summary", "send")
    await chat.says("yes", Confirm())
    assert chat.world.count("print_label") == 1


@trace(PARCELS, IN_MEMORY)
async def test_a_declined_return_to_a_parcel_keeps_the_account(chat: Chat) -> None:
    await chat.says("I want to send a parcel to Ida", Go("send"), Fill("receiver", "Ida"))
    await chat.says("where is my parcel?", Go("track"))
    await chat.says("P-17", Fill("number", "P-17"))
    await chat.says("no thanks", Deny())
    assert chat.stack == []
    assert chat.value("receiver") is None
    assert chat.context["account"] == "A-9"
    assert chat.audited("cancelled") == ["cancelled"]
    await chat.says("send a parcel", Go("send"))
    assert chat.asks("receiver")


@trace(TELECOM, IN_MEMORY)
async def test_a_plan_is_changed_and_a_question_waits_for_the_pin(chat: Chat) -> None:
    await chat.says("hello")
    assert chat.asks("plan")
    await chat.says("the big one please", Fill("plan", "large"))
    assert chat.value("plan") == "large"
    assert chat.asks("contact")
    await chat.says("is there reception in town?", Go("coverage"))
    assert SIGNAL in chat.reply
    assert chat.asked == ("return", "plan")
    await chat.says("yes", Confirm())
    assert chat.asks("contact")
    await chat.says("ada@example.org", Fill("contact", "ada@example.org"))
    assert chat.asks("pin")
    await chat.says("what about roaming?", Go("roaming"))
    assert chat.says_text("blocked")
    assert ABROAD not in chat.reply
    await chat.says("why?", Explain())
    assert "So that nobody else changes your plan." in chat.reply
    assert chat.attempts("pin") == []
    await chat.says("4711", Fill("pin", "4711"))
    assert chat.world.count("change_plan") == 1
    assert "You are on large now." in chat.reply
    assert ABROAD in chat.reply
    assert "4711" not in chat.reply


@trace(TELECOM)
async def test_an_address_that_is_none_is_refused_with_reason_and_example(chat: Chat) -> None:
    await chat.says("medium", Fill("plan", "medium"))
    assert chat.value("plan") == "medium"
    await chat.says("ada@home", Fill("contact", "ada@home"))
    assert chat.says_text("not_email")
    assert chat.asks("contact")
    await chat.says("ada@home", Fill("contact", "ada@home"))
    assert chat.texts.hint.split("{")[0] in chat.reply
    await chat.says("ada@example.org", Fill("contact", "ada@example.org"))
    assert chat.attempts("contact") == ["invalid", "invalid", "valid"]
    assert chat.asks("pin")


@trace(HOTEL, IN_MEMORY)
async def test_a_room_is_booked_from_one_message_and_the_rest(chat: Chat) -> None:
    await chat.says(
        "a double room for 3 nights from 2099-07-01",
        Fill("room", "double"),
        Fill("nights", "3"),
        Fill("check_in", "2099-07-01"),
    )
    assert chat.payload == {"room": "double", "nights": 3, "check_in": "2099-07-01"}
    assert chat.asks("breakfast")
    await chat.says("skip", Skip())
    assert chat.asks("traveller")
    await chat.says("my name is Grace Hopper", Fill("traveller", "Grace Hopper"))
    assert chat.value("traveller") == "Grace Hopper"
    assert chat.world.count("reserve") == 0
    await chat.says("yes", Confirm())
    assert chat.world.count("reserve") == 1
    assert chat.world.args("reserve") == {"day": "2099-07-01", "nights": 3, "room": "double"}


@trace(HOTEL, IN_MEMORY)
async def test_in_a_hotel_an_answer_is_a_yes_to_the_return(chat: Chat) -> None:
    await chat.says("2099-07-01", Fill("check_in", "2099-07-01"))
    assert chat.asks("nights")
    await chat.says("can we swim at night?", Go("pool"))
    assert POOL in chat.reply
    assert chat.asked == ("return", "stay")
    await chat.says("ok, 4 nights then", Confirm(), Fill("nights", "4"))
    assert chat.value("nights") == 4
    assert (chat.at, chat.stack) == ("stay", [])
    assert chat.asks("room")


@trace(HOTEL, IN_MEMORY)
async def test_of_several_paused_tasks_one_is_chosen(chat: Chat) -> None:
    await chat.says("2099-07-01", Fill("check_in", "2099-07-01"))
    await chat.says("tell me about the spa", Go("spa"))
    assert (chat.at, chat.stack) == ("spa", ["stay"])
    await chat.says("can we swim at night?", Go("pool"))
    assert POOL in chat.reply
    assert chat.stack == ["stay", "spa"]
    assert chat.asked == ("return", "spa")
    await chat.says("yes", Confirm())
    assert (chat.at, chat.stack) == ("spa", ["stay"])
    await chat.says("long", Fill("massage", "long"))
    assert SPA in chat.reply
    if chat.asked != ("field", "nights"):
        await chat.says("yes", Confirm())
    assert (chat.at, chat.stack) == ("stay", [])
    assert chat.asks("nights")


async def enrolling(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("Noor", Fill("child", "Noor"))
    await chat.says("2019-05-06", Fill("birth_date", "2019-05-06"))
    assert chat.asks("grade")
    await chat.says("first", Fill("grade", "first"))
    assert chat.asks("bus")


@trace(SCHOOL, IN_MEMORY)
async def test_only_the_grade_is_checked_again_with_the_date_of_birth(chat: Chat) -> None:
    await enrolling(chat)
    await chat.says("sorry, the date of birth is 2022-05-06", Correct("birth_date", "2022-05-06"))
    assert chat.value("birth_date") == "2022-05-06"
    assert "That child is too young for the first grade." in chat.reply
    assert chat.value("grade") is None
    assert chat.asks("grade")
    await chat.says("kindergarten", Fill("grade", "kindergarten"))
    assert chat.asks("bus")
    assert chat.attempts("child") == ["valid"]
    assert chat.attempts("grade") == ["valid", "cleared", "valid"]


@trace(SCHOOL)
async def test_all_collected_is_handed_to_a_person(chat: Chat) -> None:
    await enrolling(chat)
    await chat.says("when are the holidays?", Go("holidays"))
    assert HOLIDAYS in chat.reply
    await chat.says("yes", Fill("bus", "yes"))
    assert chat.value("bus") is True
    assert chat.asks("stop")
    await chat.says("Town Hall", Fill("stop", "Town Hall"))
    assert chat.asks("allergies")
    await chat.says("none", Skip())
    assert chat.asked == ("summary", "enrol")
    await chat.says("no, the name is Nour", Deny(), Correct("child", "Nour"))
    assert chat.value("child") == "Nour"
    assert chat.asked == ("summary", "enrol")
    assert chat.audited("escalated") == []
    await chat.says("yes", Confirm())
    assert chat.audited("escalated") == ["escalated"]
    assert chat.talk["takeover"] is not None


async def renting(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("2099-03-01", Fill("pickup", "2099-03-01"))
    await chat.says("2099-03-05", Fill("back", "2099-03-05"))
    await chat.says("van", Fill("size", "van"))
    await chat.says("John", Fill("driver", "John"))
    assert chat.asks("driver_age")


@trace(CARS, IN_MEMORY)
async def test_of_two_corrections_the_last_waits_for_a_yes(chat: Chat) -> None:
    await renting(chat)
    await chat.says("I meant Anna, not John", Correct("driver", "Anna"))
    assert chat.asked == ("correction", "driver")
    assert chat.says_text("confirm_correction", field="driver", value="Anna")
    assert chat.value("driver") == "John"
    await chat.says("Alex, not John", Correct("driver", "Alex"))
    assert chat.asked == ("correction", "driver")
    assert [item["value"] for item in chat.talk["corrections"].values()] == ["Alex"]
    assert chat.value("driver") == "John"
    await chat.says("no, leave it", Deny())
    assert chat.value("driver") == "John"
    assert chat.says_text("kept", field="driver", value="John")
    assert chat.reply.count("John") == 1
    assert not chat.talk.get("corrections")
    assert chat.asks("driver_age")


@trace(CARS, IN_MEMORY)
async def test_a_correction_that_is_confirmed_counts(chat: Chat) -> None:
    await renting(chat)
    await chat.says("the driver is Alex, not John", Correct("driver", "Alex"))
    assert chat.asked == ("correction", "driver")
    await chat.says("yes", Confirm())
    assert chat.value("driver") == "Alex"
    assert chat.asks("driver_age")
    assert chat.attempts("driver") == ["valid", "pending", "valid"]
    await chat.says("who pays for fuel?", Go("fuel"))
    assert FUEL in chat.reply
    await chat.says("44", Fill("driver_age", "44"))
    assert chat.world.count("rent") == 1


@trace(CARS, IN_MEMORY)
async def test_cancelling_while_a_correction_waits_leaves_the_value(chat: Chat) -> None:
    await renting(chat)
    await chat.says("the driver is Alex, not John", Correct("driver", "Alex"))
    assert chat.asked == ("correction", "driver")
    await chat.says("cancel", calls=0)
    assert chat.says_text("kept", field="driver", value="John")
    assert not chat.talk.get("corrections")
    await chat.says("cancel", calls=0)
    assert chat.audited("cancelled") == ["cancelled"]
    assert chat.payload == {}
    assert chat.world.calls == []


@trace(CARS)
async def test_a_day_before_the_other_is_refused(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("2099-03-04", Fill("pickup", "2099-03-04"))
    await chat.says("2099-03-01", Fill("back", "2099-03-01"))
    assert "That is before you take it." in chat.reply
    assert chat.asks("back")
    await chat.says("one moment", Wait())
    assert chat.says_text("wait")
    await chat.says("2099-03-05", Fill("back", "2099-03-05"))
    assert chat.asks("size")
    await chat.says("the pickup day is 2099-03-02", calls=0)
    await chat.says("yes", Confirm())
    assert chat.value("back") == "2099-03-05"
    assert chat.asks("size")


@trace(LIBRARY, IN_MEMORY)
async def test_a_book_is_lent_in_german(chat: Chat) -> None:
    await chat.says("Guten Tag")
    assert chat.asks("book")
    await chat.says("Momo", Fill("book", "Momo"))
    assert chat.value("book") == "Momo"
    assert chat.asks("until")
    await chat.says("was kostet das?", Go("fees"))
    assert GEBUEHREN in chat.reply
    assert chat.asked == ("return", "loan")
    await chat.says("ja", Confirm())
    assert chat.asks("until")
    await chat.says("24.12.2098", Fill("until", "24.12.2098"))
    assert chat.value("until") == "2098-12-24"
    assert chat.asks("reader")
    await chat.says("warum?", Explain())
    assert "Der Name steht auf dem Ausweis." in chat.reply
    assert chat.asks("reader")
    await chat.says("ich heiße Michael Ende", Fill("reader", "Michael Ende"))
    assert chat.value("reader") == "Michael Ende"
    await chat.says("möchte ich nicht sagen", Skip())
    assert chat.says_text("skipped")
    assert chat.asked == ("summary", "loan")
    await chat.says("nein", Deny())
    await chat.says("das Buch", Clear("book"))
    await chat.says("Jim Knopf", Fill("book", "Jim Knopf"))
    assert chat.value("book") == "Jim Knopf"
    await chat.says("ja", Confirm())
    assert chat.world.count("lend") == 1
    assert "Jim Knopf liegt für Sie bereit." in chat.reply


@trace(LIBRARY, IN_MEMORY)
async def test_beside_the_point_and_noise_in_german(chat: Chat) -> None:
    await chat.says("Guten Tag")
    await chat.says("Momo", Fill("book", "Momo"))
    await chat.says("??", calls=0)
    assert chat.says_text("noise")
    assert chat.asks("until")
    await chat.says("einen Moment bitte", Wait())
    assert chat.says_text("wait")
    await chat.says("meine Katze ist 12, haha", OffTopic())
    assert chat.value("until") is None
    assert chat.asks("until")
    await chat.says("abbrechen", Cancel())
    assert chat.audited("cancelled") == ["cancelled"]
    assert chat.payload == {}
