"""Begin again, go back, and hear what is known so far."""

from __future__ import annotations

from journeygraph.nodes.commands import (
    Back,
    Confirm,
    Correct,
    Deny,
    Fill,
    Go,
    Restart,
    Status,
)
from tests.traces.conversation import Chat, trace
from tests.traces.errands import ABEND, ERRANDS, EVENING, VET, WALLET


async def at_the_hour(chat: Chat) -> None:
    await chat.says("a table", Go("dinner"))
    await chat.says("four", Fill("guests", "four"))
    await chat.says("2099-03-04", Fill("day", "2099-03-04"))
    assert chat.asks("hour")


@trace(EVENING)
async def test_starting_over_takes_all_values_back_and_keeps_their_history(chat: Chat) -> None:
    await at_the_hour(chat)
    await chat.says("start over", Restart())
    assert chat.says_text("restarted")
    assert chat.asks("guests")
    assert chat.payload == {}
    assert chat.attempts("guests") == ["valid", "cleared"]
    assert chat.sources("guests") == ["user_provided"] * 2
    assert (await chat.journey.attempts("guests"))[-1].reason == "started over by the user"
    await chat.says("two", Fill("guests", "two"))
    assert chat.asks("day")


@trace(ERRANDS)
async def test_starting_over_keeps_what_is_paused(chat: Chat) -> None:
    await chat.says("laundry please", Go("laundry"))
    await chat.says("3", Fill("shirts", "3"))
    await chat.says("cleaning", Go("cleaning"))
    await chat.says("4", Fill("rooms", "4"))
    await chat.says("start again", Restart())
    assert (chat.at, chat.stack) == ("cleaning", ["hall", "laundry"])
    assert (chat.value("shirts"), chat.value("rooms")) == (3, None)
    assert chat.asks("rooms")


@trace(WALLET)
async def test_starting_over_asks_first_where_something_was_done(chat: Chat) -> None:
    await chat.says("send", Go("send"))
    await chat.says("Leo", Fill("receiver", "Leo"))
    await chat.says("20", Fill("sum", "20"))
    assert chat.world.count("send") == 1
    await chat.says("start over", Restart())
    assert chat.asked == ("start_over", "send")
    assert chat.says_text("ask_restart", task="sending money")
    assert chat.value("receiver") == "Leo"
    await chat.says("no", Deny())
    assert chat.value("receiver") == "Leo"
    assert chat.says_text("more")
    await chat.says("start over", Restart())
    await chat.says("yes", Confirm())
    assert chat.asks("receiver")
    assert chat.payload == {}
    assert chat.world.count("send") == 1
    assert not chat.last.is_journey_complete
    await chat.says("Ann", Fill("receiver", "Ann"))
    await chat.says("30", Fill("sum", "30"))
    assert chat.world.count("send") == 2


@trace(EVENING)
async def test_going_back_asks_the_last_question_again_and_shows_its_value(chat: Chat) -> None:
    await at_the_hour(chat)
    await chat.says("go back", Back())
    assert chat.says_text("back", field="day", value="Wednesday, 4 March 2099")
    assert chat.asks("day")
    assert chat.value("day") == "2099-03-04"
    await chat.says("2099-03-05", Fill("day", "2099-03-05"))
    assert chat.attempts("day") == ["valid", "valid"]
    assert chat.value("day") == "2099-03-05"
    assert chat.asks("hour")


@trace(EVENING)
async def test_going_back_twice_reaches_the_question_before(chat: Chat) -> None:
    await at_the_hour(chat)
    await chat.says("back", Back())
    await chat.says("back", Back())
    assert chat.asks("guests")
    await chat.says("back", Back())
    assert chat.says_text("back_first")
    assert chat.asks("guests")
    await chat.says("keep it", Deny())
    assert chat.says_text("kept", field="people", value="4")
    assert chat.value("guests") == 4
    assert chat.asks("hour")


@trace(EVENING)
async def test_the_same_value_said_again_goes_on(chat: Chat) -> None:
    await at_the_hour(chat)
    await chat.says("previous question", Back())
    assert chat.asks("day")
    await chat.says("2099-03-04", Fill("day", "2099-03-04"))
    assert chat.asks("hour")


@trace(ERRANDS)
async def test_what_is_known_and_what_waits_is_listed(chat: Chat) -> None:
    await chat.says("laundry please", Go("laundry"))
    await chat.says("what do you have so far?", Status())
    assert chat.says_text("status_empty")
    assert chat.asks("shirts")
    await chat.says("3", Fill("shirts", "3"))
    await chat.says("cleaning", Go("cleaning"))
    await chat.says("4", Fill("rooms", "4"))
    await chat.says("where are we?", Status())
    assert "- rooms: 4" in chat.reply
    assert "shirts" not in chat.reply
    assert chat.says_text("status_waiting", tasks="the laundry")
    assert chat.asks("cleaned")
    assert chat.attempts("cleaned") == []
    assert not chat.talk.get("failures")


@trace(WALLET)
async def test_a_sensitive_value_is_not_shown(chat: Chat) -> None:
    await chat.says("top up", Go("top_up"))
    await chat.says("+49 171 2345678", Fill("number", "+49 171 2345678"))
    await chat.says("go back", Back())
    await chat.says("keep it as it is", Deny())
    assert chat.asks("credit")
    await chat.says("recap", Status())
    assert chat.asks("credit")


@trace(ABEND)
async def test_looking_back_in_german(chat: Chat) -> None:
    await chat.says("ein Tisch", Go("dinner"))
    if chat.value("guests") is None:
        await chat.says("vier", Fill("guests", "vier"))
    await chat.says("4.3.2099", Fill("day", "4.3.2099"))
    await chat.says("Was haben Sie bisher?", Status())
    assert "Tag" in chat.reply
    assert chat.asks("hour")
    await chat.says("einen Schritt zurück", Back())
    assert chat.says_text("back", field="Tag")
    assert chat.asks("day")
    await chat.says("lass es so", Deny())
    assert chat.asks("hour")
    await chat.says("von vorn bitte", Restart())
    assert chat.says_text("restarted")
    assert chat.asks("guests")


@trace(VET)
async def test_going_back_to_a_branch_closes_it(chat: Chat) -> None:
    await chat.says("a visit", Go("visit"))
    await chat.says("Rex", Fill("animal", "Rex"))
    await chat.says("2099-03-04", Fill("visit_day", "2099-03-04"))
    await chat.says("yes", Fill("other_animal", "yes"))
    assert chat.asks("other_name")
    await chat.says("go back", Back())
    assert chat.asks("other_animal")
    await chat.says("no", Fill("other_animal", "no"), Correct("other_animal", "no"))
    assert chat.asks("reason")


@trace(EVENING)
async def test_a_no_to_a_question_that_was_gone_back_to_leaves_its_value(chat: Chat) -> None:
    await at_the_hour(chat)
    await chat.says("go back", Back())
    assert chat.asks("day")
    await chat.says("no", Deny())
    assert chat.says_text("kept")
    assert chat.value("day") == "2099-03-04"
    assert chat.asks("hour")


@trace(EVENING)
async def test_a_yes_to_a_question_that_was_gone_back_to_leaves_its_value(chat: Chat) -> None:
    await at_the_hour(chat)
    await chat.says("go back", Back())
    await chat.says("yes", Confirm())
    assert chat.says_text("kept")
    assert chat.value("day") == "2099-03-04"
    assert chat.asks("hour")
