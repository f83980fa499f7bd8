"""The runtime's own words fit what happened."""

from __future__ import annotations

from journeygraph.nodes.commands import Confirm, Correct, Deny, Fill, Go
from tests.traces.conversation import SCRIPTED, Chat, trace
from tests.traces.errands import ABEND, ERRANDS, FITTING, LINE, PARKING, VET


async def back_from_parking(chat: Chat) -> None:
    await chat.says("a visit", Go("visit"))
    await chat.says("Rex", Fill("animal", "Rex"))
    await chat.says("where can I park?", Go("parking"))
    assert PARKING in chat.reply
    assert chat.asked == ("return", "visit")


@trace(VET)
async def test_who_forgets_it_after_a_detour_leaves_what_it_interrupted(chat: Chat) -> None:
    await back_from_parking(chat)
    await chat.says("no", Deny(), calls=0)
    assert chat.reply == "All right, we leave the visit.\n\nIs there anything else?"
    assert chat.value("animal") is None


@trace(ERRANDS)
async def test_nobody_chooses_from_one(chat: Chat) -> None:
    await chat.says("laundry", Go("laundry"))
    await chat.says("3", Fill("shirts", "3"))
    await chat.says("2099-01-01", Fill("fetched", "2099-01-01"))
    assert chat.world.count("fetch_laundry") == 1
    await chat.says("no, 4 shirts", Correct("shirts", "4"))
    assert chat.says_text("stays_done", task="the laundry", field="shirts", value="3")
    assert "1." not in chat.reply
    assert chat.value("shirts") == 3
    assert chat.asked == ("more", "")
    await chat.says("opening hours", Go("hours"))
    assert "1." not in chat.reply


@trace(LINE)
async def test_a_label_in_the_plural_reads_well(chat: Chat) -> None:
    await chat.says("comfort", Fill("plan", "comfort"))
    await chat.says("3", Fill("rooms", "3"))
    await chat.says("make it 5 rooms", Correct("rooms", "5"))
    assert "All right, I have changed the rooms to 5." in chat.reply
    await chat.says("make it 5 rooms", Correct("rooms", "5"))
    assert "All right, no change to the rooms: 5." in chat.reply


@trace(ABEND)
async def test_a_label_in_the_plural_reads_well_in_german(chat: Chat) -> None:
    await chat.says("den Tisch bitte", Go("dinner"))
    await chat.says("vier", Fill("guests", "vier"))
    await chat.says("nein, fünf Personen", Correct("guests", "fünf"))
    assert "In Ordnung, ich habe „Personen“ auf 5 geändert." in chat.reply


@trace(LINE)
async def test_a_wish_to_change_what_is_done_is_no_other_question(chat: Chat) -> None:
    await chat.says("comfort", Fill("plan", "comfort"))
    await chat.says("3", Fill("rooms", "3"))
    await chat.says("2099-01-01", Fill("start", "2099-01-01"))
    await chat.says("Ann Lee", Fill("holder", "Ann Lee"))
    assert chat.world.count("order_line") == 1
    await chat.says("make it basic", Correct("plan", "basic"))
    assert chat.says_text("after_effect", task="the line", field="plan", value="comfort")
    assert chat.value("plan") == "comfort"
    assert chat.world.count("order_line") == 1
    await chat.says("change it", Confirm())
    assert chat.at == "move"


@trace(LINE, SCRIPTED)
async def test_a_wish_to_change_a_value_is_a_correction(chat: Chat) -> None:
    await chat.says("comfort", Fill("plan", "comfort"))
    await chat.says("can I change to basic?", Correct("plan", "basic"))
    assert chat.value("plan") == "basic"
    assert chat.asks("rooms")


@trace(FITTING)
async def test_what_expired_is_said_behind_the_welcome(chat: Chat) -> None:
    await chat.says("wool", Fill("cloth", "wool"))
    await chat.says("2099-01-01", Fill("slot", "2099-01-01"))
    await chat.says("Ann Lee", Fill("wearer", "Ann Lee"))
    welcome, expired, question = chat.reply.split("\n\n")
    assert welcome.startswith("Welcome back.")
    assert expired == chat.text("expired", field="slot")
    assert question == "On which day?"
