"""Several tasks: one after the other, each with its values, and none forgotten while it waits."""

from __future__ import annotations

from journeygraph.nodes.commands import Cancel, Choose, Confirm, Correct, Deny, Fill, Go
from tests.traces.conversation import OFFLINE, SCRIPTED, Chat, trace
from tests.traces.errands import ABEND, ERRANDS, EVENING, HOURS, LIMITED, USED, VET, WALLET


async def three_tasks_open(chat: Chat) -> None:
    """Begin three tasks, ask something, and be offered the three."""
    await chat.says("laundry please", Go("laundry"))
    await chat.says("3", Fill("shirts", "3"))
    await chat.says("the cleaning too", Go("cleaning"))
    await chat.says("also the garden", Go("garden"))
    await chat.says("opening hours?", Go("hours"))
    assert HOURS in chat.reply
    assert chat.asked == ("paused", "")
    assert chat.options == ["the garden", "the cleaning", "the laundry"]


@trace(ERRANDS)
async def test_what_waits_is_offered_whenever_a_task_ends(chat: Chat) -> None:
    await three_tasks_open(chat)
    await chat.says("the laundry", Choose("laundry"))
    assert chat.asks("fetched")
    await chat.says("2099-03-04", Fill("fetched", "2099-03-04"))
    assert "We fetch the shirts." in chat.reply
    assert chat.asked == ("paused", "")
    assert chat.options == ["the garden", "the cleaning"]
    assert not chat.last.is_journey_complete
    await chat.says("the first", Choose("garden"))
    assert chat.asks("size")
    await chat.says("300", Fill("size", "300"))
    assert chat.asked == ("return", "cleaning")
    await chat.says("yes", Confirm())
    assert chat.asks("rooms")
    assert chat.value("shirts") == 3


@trace(ERRANDS)
async def test_what_waits_is_offered_when_a_task_is_given_up(chat: Chat) -> None:
    await three_tasks_open(chat)
    await chat.says("the laundry", Choose("laundry"))
    await chat.says("cancel", Cancel())
    assert chat.says_text("left", task="the laundry")
    assert chat.value("shirts") is None
    assert chat.asked == ("return", "garden")
    await chat.says("no", Deny())
    assert chat.says_text("left", task="the garden")
    assert chat.asked == ("return", "cleaning")
    await chat.says("no", Deny())
    assert chat.says_text("more")
    assert chat.stack == []


@trace(ERRANDS)
async def test_what_waits_is_offered_when_an_effect_is_not_tried_again(chat: Chat) -> None:
    chat.world.fails["fetch_laundry"] = [ValueError("The van is broken")] * 2
    await three_tasks_open(chat)
    await chat.says("the laundry", Choose("laundry"))
    await chat.says("2099-03-04", Fill("fetched", "2099-03-04"))
    assert chat.asked == ("retry", "laundry")
    await chat.says("no", Deny())
    assert chat.asked == ("return", "garden")
    assert chat.stack == ["hall", "cleaning", "garden"]


@trace(VET)
async def test_the_end_is_one_only_where_nothing_waits(chat: Chat) -> None:
    await chat.says("a visit", Go("visit"))
    await chat.says("Rex", Fill("animal", "Rex"))
    await chat.says("what does it cost?", Go("rates"))
    assert chat.asks("insurer")
    await chat.says("Acme", Fill("insurer", "Acme"))
    assert chat.asked == ("return", "visit")
    assert not chat.last.is_journey_complete


@trace(EVENING, SCRIPTED)
async def test_a_named_task_is_given_up_for_another(chat: Chat) -> None:
    await chat.says("a taxi", Go("taxi"))
    await chat.says("2099-03-04", Fill("day", "2099-03-04"))
    assert chat.asks("street")
    await chat.says(
        "no, forget the taxi, a table for the same day", Cancel(task="taxi"), Go("dinner")
    )
    assert chat.at == "dinner"
    assert chat.audited("cancelled") == ["cancelled"]
    assert chat.asks("guests")
    await chat.says("four", Fill("guests", "four"))
    assert chat.asks("day")


@trace(EVENING)
async def test_values_behind_a_task_that_is_given_up_are_those_of_the_next(chat: Chat) -> None:
    await chat.says("a taxi", Go("taxi"))
    await chat.says(
        "forget the taxi, a table for four at 7 pm",
        Cancel(task="taxi"),
        Go("dinner"),
        Fill("guests", "four"),
        Fill("hour", "7 pm"),
    )
    assert (chat.at, chat.value("guests"), chat.value("hour")) == ("dinner", 4, "19:00")
    assert chat.asks("day")


@trace(ABEND)
async def test_a_named_task_is_given_up_in_german(chat: Chat) -> None:
    await chat.says("ein Taxi", Go("taxi"))
    await chat.says("4.3.2099", Fill("day", "4.3.2099"))
    await chat.says(
        "nein, vergiss das Taxi, lieber der Tisch am selben Tag", Cancel(task="taxi"), Go("dinner")
    )
    assert chat.at == "dinner"
    assert chat.asks("guests")


@trace(ERRANDS)
async def test_a_paused_task_is_given_up_by_its_name_and_the_one_at_hand_goes_on(
    chat: Chat,
) -> None:
    await chat.says("laundry please", Go("laundry"))
    await chat.says("3", Fill("shirts", "3"))
    await chat.says("cleaning", Go("cleaning"))
    await chat.says("forget the laundry", Cancel(task="laundry"))
    assert chat.says_text("left", task="the laundry")
    assert (chat.at, chat.stack, chat.value("shirts")) == ("cleaning", ["hall"], None)
    assert chat.asks("rooms")


@trace(WALLET)
async def test_two_wishes_come_one_after_the_other(chat: Chat) -> None:
    await chat.says(
        "send 20 to Leo and show my usage",
        Go("send"),
        Fill("receiver", "Leo"),
        Fill("sum", "20"),
        Go("usage"),
    )
    await chat.says("yes", Confirm())
    assert chat.world.count("send") == 1
    assert chat.world.args("send")["to"] == "Leo"
    assert chat.reply.index("went to Leo") < chat.reply.index(USED)
    assert not chat.talk.get("queued")
    assert not chat.talk.get("held")


@trace(WALLET)
async def test_the_second_wish_waits_until_the_first_has_all_it_needs(chat: Chat) -> None:
    await chat.says("send 20, then show my usage", Go("send"), Fill("sum", "20"), Go("usage"))
    assert chat.asks("receiver")
    assert USED not in chat.reply
    await chat.says("Leo", Fill("receiver", "Leo"))
    await chat.says("yes", Confirm())
    assert chat.reply.index("went to Leo") < chat.reply.index(USED)


@trace(WALLET)
async def test_an_answer_comes_first_if_it_was_asked_for_first(chat: Chat) -> None:
    await chat.says(
        "show my usage, then send 20 to Leo",
        Go("usage"),
        Go("send"),
        Fill("receiver", "Leo"),
        Fill("sum", "20"),
    )
    assert chat.reply.index(USED) < chat.reply.index("- receiver: Leo")
    await chat.says("yes", Confirm())
    assert chat.world.count("send") == 1


@trace(WALLET)
async def test_two_wishes_that_are_blocked_both_follow(chat: Chat) -> None:
    await chat.says("top up", Go("top_up"))
    await chat.says("+49 171 2345678", Fill("number", "+49 171 2345678"))
    await chat.says("20 euros", Fill("credit", "20 euros"))
    assert chat.asks("pin")
    await chat.says("my usage and my limit please", Go("usage"), Go("limit"))
    assert chat.says_text("blocked")
    assert chat.asks("pin")
    assert chat.attempts("pin") == []
    await chat.says("1234", Fill("pin", "1234"))
    assert chat.reply.index(USED) < chat.reply.index(LIMITED)


@trace(WALLET)
async def test_values_of_a_blocked_wish_are_there_when_it_begins(chat: Chat) -> None:
    await chat.says("top up", Go("top_up"))
    await chat.says("+49 171 2345678", Fill("number", "+49 171 2345678"))
    await chat.says("20 euros", Fill("credit", "20 euros"))
    await chat.says(
        "send 35 euros to Leo", Go("send"), Fill("receiver", "Leo"), Fill("sum", "35 euros")
    )
    assert chat.says_text("blocked")
    assert chat.value("receiver") is None
    await chat.says("1234", Fill("pin", "1234"))
    await chat.says("yes", Confirm())
    assert chat.world.args("send")["to"] == "Leo"
    assert chat.value("sum") == {"amount": "35.00", "currency": "EUR"}
    assert not chat.talk.get("held")


@trace(EVENING)
async def test_values_of_the_second_wish_stay_with_it(chat: Chat) -> None:
    await chat.says(
        "a taxi and a table for four tomorrow",
        Go("taxi"),
        Go("dinner"),
        Fill("guests", "four"),
        Fill("day", "tomorrow"),
    )
    assert chat.asks("street")
    assert chat.value("day") is not None
    await chat.says("5 Main Street, London", Fill("street", "5 Main Street, London"))
    assert (chat.at, chat.value("guests")) == ("dinner", 4)


@trace(ABEND, SCRIPTED)
async def test_values_of_the_second_wish_stay_with_it_in_german(chat: Chat) -> None:
    await chat.says(
        "ein Taxi und einen Tisch für vier morgen",
        Go("taxi"),
        Go("dinner"),
        Fill("guests", "vier"),
        Fill("day", "morgen"),
    )
    assert chat.asks("street")
    assert chat.talk["held"] == {"guests": "vier"}


@trace(EVENING)
async def test_values_of_a_wish_go_when_it_is_given_up(chat: Chat) -> None:
    await chat.says("a taxi and a table for four", Go("taxi"), Go("dinner"), Fill("guests", "four"))
    assert chat.talk["held"]
    await chat.says("forget the table", Cancel(task="dinner"))
    assert chat.at == "taxi"
    assert not chat.talk.get("held")
    assert not chat.talk.get("queued")


@trace(EVENING, SCRIPTED)
async def test_a_wish_that_waits_begins_when_the_one_before_it_is_given_up(chat: Chat) -> None:
    await chat.says("a table for four and a taxi", Go("dinner"), Fill("guests", "four"), Go("taxi"))
    assert chat.asks("day")
    assert chat.talk["queued"]
    await chat.says("cancel", Cancel())
    assert chat.says_text("left", task="the table")
    assert chat.at == "taxi"
    assert chat.asks("day")


@trace(VET)
async def test_a_question_beyond_the_depth_limit_has_to_wait(chat: Chat) -> None:
    await chat.says("a visit", Go("visit"))
    await chat.says("Rex", Fill("animal", "Rex"))
    await chat.says("what does it cost?", Go("rates"))
    assert chat.asks("insurer")
    for _ in range(3):
        await chat.says("where can I park?", Go("parking"))
        assert chat.says_text("too_deep")
        assert not chat.says_text("noise")
        assert "depth_refused" in chat.last.metadata["flags"]
        assert (chat.at, chat.stack) == ("rates", ["visit"])
        assert chat.asks("insurer")
        assert not chat.talk.get("failures")
    assert chat.audited("depth_refused", "escalated") == ["depth_refused"] * 3
    assert chat.attempts("insurer") == []
    await chat.says("Acme", Fill("insurer", "Acme"))
    assert chat.asked == ("return", "visit")


@trace(VET)
async def test_a_branch_that_is_denied_is_dropped(chat: Chat) -> None:
    await chat.says("a visit", Go("visit"))
    await chat.says("Rex", Fill("animal", "Rex"))
    await chat.says("2099-03-04", Fill("visit_day", "2099-03-04"))
    await chat.says("yes", Fill("other_animal", "yes"))
    assert chat.asks("other_name")
    await chat.says("no, the other animal is no", Correct("other_animal", "no"))
    assert chat.value("other_animal") is False
    assert chat.attempts("other_name") == []
    assert chat.asks("reason")


@trace(WALLET, SCRIPTED)
async def test_a_model_finds_two_wishes_in_words_of_its_own(chat: Chat) -> None:
    await chat.says(
        "Leo is to get 20 from me, and how much have I spent?",
        Go("send"),
        Fill("receiver", "Leo"),
        Fill("sum", "20"),
        Go("usage"),
    )
    await chat.says("yes", Confirm())
    assert chat.reply.index("went to Leo") < chat.reply.index(USED)
    assert chat.world.count("send") == 1


@trace(ERRANDS, SCRIPTED)
async def test_a_model_gives_up_a_paused_task_by_its_id(chat: Chat) -> None:
    await chat.says("laundry please", Go("laundry"))
    await chat.says("3", Fill("shirts", "3"))
    await chat.says("cleaning", Go("cleaning"))
    await chat.says("my neighbour has washed everything by now", Cancel(task="laundry"))
    assert chat.says_text("left", task="the laundry")
    assert (chat.at, chat.stack, chat.value("shirts")) == ("cleaning", ["hall"], None)
    await chat.says("my neighbour is great, you know", Cancel(task="windows"))
    assert chat.asks("rooms")
    assert chat.at == "cleaning"


@trace(EVENING)
async def test_one_of_two_that_are_said_with_or_is_no_wish_for_both(chat: Chat) -> None:
    await chat.says("a taxi or a table for four", Go("taxi"), Go("dinner"), Fill("guests", "four"))
    assert chat.says_text("clarify")
    await chat.says("the table", Choose("IntentTrigger:*->dinner"))
    assert (chat.at, chat.value("guests")) == ("dinner", 4)
    assert not chat.talk.get("queued")
    assert not chat.talk.get("held")


@trace(WALLET)
async def test_a_wish_that_waits_is_given_up_by_its_name(chat: Chat) -> None:
    await chat.says("send 20, then show my usage", Go("send"), Fill("sum", "20"), Go("usage"))
    await chat.says("forget the usage", Cancel(task="usage"))
    assert chat.says_text("left", task="the usage")
    assert chat.asks("receiver")
    await chat.says("Leo", Fill("receiver", "Leo"))
    await chat.says("yes", Confirm())
    assert chat.world.count("send") == 1
    assert USED not in chat.reply


@trace(EVENING)
async def test_three_wishes_follow_in_the_order_in_which_they_were_said(chat: Chat) -> None:
    await chat.says(
        "a taxi, then a table for two and then the theatre",
        Go("taxi"),
        Go("dinner"),
        Fill("guests", "two"),
        Go("theatre"),
    )
    assert chat.at == "taxi"
    await chat.says("2099-03-04", Fill("day", "2099-03-04"))
    await chat.says("5 Main Street, London", Fill("street", "5 Main Street, London"))
    assert chat.at == "dinner"
    await chat.says("cancel", Cancel())
    assert chat.at == "theatre"
    assert chat.asks("seats")


async def one_of_two_begun(chat: Chat) -> None:
    """Ask for two things, begin the first, and ask something in between."""
    await chat.says("the windows and the laundry", Go("windows"), Go("laundry"))
    assert chat.asks("panes")
    await chat.says("opening hours?", Go("hours"))
    assert HOURS in chat.reply
    assert (chat.asked, chat.stack) == (("return", "windows"), ["windows"])


@trace(ERRANDS, OFFLINE)
async def test_what_follows_a_task_waits_while_that_is_interrupted(chat: Chat) -> None:
    await one_of_two_begun(chat)
    await chat.says("yes", Confirm())
    assert chat.asks("panes")
    await chat.says("9", Fill("panes", "9"))
    assert chat.asks("shirts")


@trace(ERRANDS, OFFLINE)
async def test_what_follows_a_task_begins_when_that_is_given_up(chat: Chat) -> None:
    await one_of_two_begun(chat)
    await chat.says("no", Deny())
    assert chat.says_text("left", task="the windows")
    assert not chat.says_text("more")
    assert chat.asks("shirts")


@trace(ERRANDS, OFFLINE)
async def test_the_end_is_none_while_a_wish_that_followed_is_asked_about(chat: Chat) -> None:
    await chat.says("the windows and the laundry", Go("windows"), Go("laundry"))
    await chat.says("9", Fill("panes", "9"))
    assert chat.asks("shirts")
    assert not chat.last.is_journey_complete
    await chat.says("3", Fill("shirts", "3"))
    await chat.says("2099-03-04", Fill("fetched", "2099-03-04"))
    assert "We fetch the shirts." in chat.reply
    assert chat.last.is_journey_complete


@trace(ERRANDS)
async def test_the_only_task_that_is_given_up_leads_back_to_the_beginning(chat: Chat) -> None:
    await chat.says("laundry please", Go("laundry"))
    await chat.says("cancel", Cancel())
    assert (chat.at, chat.stack, chat.asked) == ("hall", [], ("more", ""))


@trace(EVENING)
async def test_a_task_that_is_not_open_is_no_value(chat: Chat) -> None:
    await chat.says("a taxi", Go("taxi"))
    await chat.says("2099-03-04", Fill("day", "2099-03-04"))
    await chat.says("cancel the theatre", Cancel(task="theatre"))
    assert chat.attempts("street") == []
    assert chat.asks("street")
    assert chat.value("day") == "2099-03-04"
