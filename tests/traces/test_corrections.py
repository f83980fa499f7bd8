"""Values are changed: of earlier fields, without a new value, before a yes, and after an effect."""

from __future__ import annotations

import datetime

from journeygraph.nodes.commands import Cancel, Choose, Clear, Confirm, Correct, Deny, Fill, Go
from tests.traces.conversation import SCRIPTED, Chat, trace
from tests.traces.journeys import BANK, CHECKED, CLAIM, RESTAURANT


def day_before(days: int) -> str:
    return (datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days)).isoformat()


async def at_the_summary_of_a_claim(chat: Chat, *, report: str = "skip") -> None:
    CHECKED.clear()
    await chat.says("hello")
    assert chat.asks("accident_date")
    await chat.says("2026-03-04", Fill("accident_date", "2026-03-04"))
    await chat.says("Main Street", Fill("place", "Main Street"))
    assert chat.asks("photos")
    await chat.says("front.jpg and rear.jpg", Fill("photos", "front.jpg and rear.jpg"))
    assert chat.value("photos") == ["front.jpg", "rear.jpg"]
    assert chat.asks("report")
    await chat.says(report, Fill("report", report))
    await chat.says("12 Elm Road, Springfield", Fill("pickup_address", "12 Elm Road, Springfield"))
    assert chat.asks("birth_date")
    await chat.says("1 May 1980", Fill("birth_date", "1 May 1980"))
    assert chat.asked == ("summary", "claim")


@trace(CLAIM)
async def test_an_earlier_field_is_corrected_at_the_summary(chat: Chat) -> None:
    await at_the_summary_of_a_claim(chat, report="0401")
    before = list(CHECKED)
    await chat.says("not 4 March 2026 but 3 March 2026", Correct("accident_date", "2026-03-03"))
    assert len(chat.attempts("accident_date")) == 2
    assert chat.sources("accident_date") == ["user_provided", "corrected"]
    assert chat.value("accident_date").endswith("-03")
    assert len(CHECKED) == len(before) + 1  # the report depends on the day, and nothing else does
    assert chat.attempts("place") == ["valid"]
    assert chat.attempts("pickup_address") == ["valid"]
    assert chat.value("report") is None
    assert chat.says_text("no_longer_valid", field="report")


@trace(CLAIM, SCRIPTED)
async def test_a_correction_at_the_summary_comes_back_to_it(chat: Chat) -> None:
    await at_the_summary_of_a_claim(chat, report="0401")
    await chat.says("the place was Oak Avenue, not Main Street", Correct("place", "Oak Avenue"))
    assert chat.value("place") == "Oak Avenue"
    assert chat.asked == ("summary", "claim")
    assert "Oak Avenue" in chat.reply
    assert "Main Street" not in chat.reply.split("\n\n")[-1]
    await chat.says("yes", Confirm())
    assert chat.world.count("file_claim") == 1
    assert chat.world.args("file_claim")["place"] == "Oak Avenue"


@trace(CLAIM, SCRIPTED)
async def test_a_correction_without_a_value_empties_and_asks_at_once(chat: Chat) -> None:
    await at_the_summary_of_a_claim(chat, report="0401")
    await chat.says("I want to change the pickup address", Clear("pickup_address"))
    assert chat.value("pickup_address") is None
    assert chat.attempts("pickup_address") == ["valid", "cleared"]
    assert chat.asks("pickup_address")
    assert "pickup_address" not in chat.payload
    await chat.says(
        "7 Oak Avenue, Springfield", Fill("pickup_address", "7 Oak Avenue, Springfield")
    )
    assert chat.asked == ("summary", "claim")
    assert "7 Oak Avenue" in chat.reply
    assert chat.attempts("place") == ["valid"]


@trace(BANK, SCRIPTED)
async def test_not_this_but_that_changes_the_value(chat: Chat) -> None:
    await chat.says("send money to John", Go("transfer"), Fill("recipient", "John"))
    await chat.says("50", Fill("amount", "50"))
    assert chat.asked == ("summary", "transfer")
    await chat.says("not 50, 55", Correct("amount", "55"))
    assert chat.value("amount") == {"amount": "55.00", "currency": "EUR"}
    assert chat.attempts("amount") == ["valid", "valid"]
    assert chat.asked == ("summary", "transfer")
    await chat.says("I didn't mean John", Clear("recipient"))
    assert chat.value("recipient") is None
    assert chat.asks("recipient")
    await chat.says("Alex", Fill("recipient", "Alex"))
    assert chat.asked == ("summary", "transfer")
    assert chat.value("amount") == {"amount": "55.00", "currency": "EUR"}
    await chat.says("yes", Confirm())
    assert chat.world.count("send_money") == 1
    assert chat.world.args("send_money")["to"] == "Alex"


@trace(BANK)
async def test_a_paused_task_is_corrected_from_within_a_detour(chat: Chat) -> None:
    await chat.says("send money to Maya", Go("transfer"), Fill("recipient", "Maya"))
    await chat.says("how much do I have?", Go("balance"))
    await chat.says("Alex, not Maya", Correct("recipient", "Alex"))
    assert chat.value("recipient") == "Alex"
    assert chat.sources("recipient") == ["user_provided", "corrected"]
    assert chat.says_text("corrected", field="recipient", value="Alex")
    if chat.at != "transfer":
        assert chat.asked == ("return", "transfer")
        await chat.says("yes", Confirm())
    assert (chat.at, chat.stack) == ("transfer", [])
    assert chat.asks("amount")


async def booked(chat: Chat) -> None:
    await chat.says("a table for 4 please", Fill("party_size", "4"))
    await chat.says("2099-03-03", Fill("day", "2099-03-03"))
    await chat.says("19:00", Fill("hour", "19:00"))
    await chat.says("Lee", Fill("guest", "Lee"))
    await chat.says("yes", Confirm())
    assert chat.world.count("book_table") == 1
    assert chat.world.args("book_table") == {
        "people": 4,
        "day": "2099-03-03",
        "hour": "19:00",
        "name": "Lee",
    }
    assert "Your table for 4 is booked, Lee." in chat.reply


@trace(RESTAURANT)
async def test_what_was_done_is_changed_only_by_its_change_pathway(chat: Chat) -> None:
    await booked(chat)
    await chat.says("oh, for six", Correct("party_size", "six"))
    assert chat.value("party_size") == 4
    assert chat.asked == ("change", "party_size")
    assert chat.says_text("after_effect", value="4")
    assert chat.texts.change_it in chat.options
    assert chat.world.count("book_table") == 1
    await chat.says("change it", Choose("change"))
    assert chat.at == "change_booking"
    assert chat.asks("new_party_size")
    await chat.says("6", Fill("new_party_size", "6"))
    assert chat.world.count("move_table") == 1
    assert chat.world.args("move_table")["people"] == 6
    assert chat.world.count("book_table") == 1
    assert chat.value("party_size") == 4


@trace(RESTAURANT)
async def test_what_was_done_may_be_left_as_it_is(chat: Chat) -> None:
    await booked(chat)
    await chat.says("oh, for six", Correct("party_size", "six"))
    await chat.says("leave it as it is", Deny())
    assert chat.value("party_size") == 4
    assert chat.asked != ("change", "party_size")
    assert chat.world.count("book_table") == 1
    assert chat.world.count("move_table") == 0


@trace(RESTAURANT)
async def test_what_was_done_is_not_undone_by_cancelling(chat: Chat) -> None:
    await booked(chat)
    await chat.says("cancel", Cancel())
    assert chat.payload["party_size"] == 4
    assert chat.asked is not None
    assert chat.asked[0] == "change"
    assert chat.options == [chat.texts.change_it, chat.texts.ask_person, chat.texts.leave_it]
    assert chat.audited("cancelled") == []
    await chat.says("speak to a person", Choose("person"))
    assert chat.audited("escalated") == ["escalated"]
    assert chat.world.count("book_table") == 1


@trace(BANK)
async def test_what_is_wrong_with_a_summary_is_named_and_asked_again(chat: Chat) -> None:
    await chat.says("send money to Maya", Go("transfer"), Fill("recipient", "Maya"))
    await chat.says("40", Fill("amount", "40"))
    assert chat.asked == ("summary", "transfer")
    await chat.says("no", Deny())
    assert chat.says_text("summary_wrong")
    assert chat.options == ["recipient", "amount"]
    await chat.says("the amount", Choose("amount"))
    assert chat.asks("amount")
    assert chat.attempts("amount") == ["valid", "cleared"]
    await chat.says("55", Fill("amount", "55"))
    assert chat.asked == ("summary", "transfer")
    assert chat.value("recipient") == "Maya"
    await chat.says("yes", Confirm())
    assert chat.world.args("send_money")["amount"] == {"amount": "55.00", "currency": "EUR"}
